"""The notebooks as they came: `reset NOTEBOOK` restores one, and keeps the learner's copy.

Git has them; where the kit came as an archive, `lab.py` runs this module when it has set up the
environment, and the notebooks are copied into that.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from protocol_lab.errors import LabError
from protocol_lab.teaching.record import FILE

KIT = Path(__file__).parents[1]
PRISTINE = Path(sys.prefix, "pristine-notebooks")
"""Where the copies are; `lab.py` keeps this folder when it makes a new environment."""


def reset(wanted: str) -> str:
    """Restore the original of a notebook, or with "progress" start a new record of what was done.

    What was there is kept beside it. Returns a sentence that says what was done. Raises LabError
    for a name that is not that of one notebook, and where the folder can't be written.
    """
    try:
        return _reset_progress() if wanted == "progress" else _reset_notebook(wanted)
    except OSError as error:
        raise LabError(
            f"Can't write in {KIT / 'notebooks'} ({error.strerror}): free some space, or copy the"
            " kit to where you can write."
        ) from None


def keep() -> None:
    """Unless git has the original notebooks, copy them once, before anybody changes them."""
    if _git("ls-tree", "HEAD", "notebooks"):
        return
    for notebook in sorted((KIT / "notebooks").rglob("*.ipynb")):
        name = notebook.relative_to(KIT)
        hidden = any(part.startswith(".") for part in name.parts)
        if not ((PRISTINE / name).exists() or hidden or ".my-copy-" in notebook.name):
            (PRISTINE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(notebook, PRISTINE / name)


def _reset_notebook(wanted: str) -> str:
    names = _names()
    matches = [name for name in names if _is_meant(wanted.replace("\\", "/"), name)]
    if len(matches) != 1:
        there = "are " + ", ".join(names) if names else "are no originals here"
        example = "python3 lab.py reset notebooks/00_start_here.ipynb"
        raise LabError(f"Name one notebook, as in `{example}`; there {there}.")
    (name,) = matches
    original, notebook = _original(name), KIT / name
    if notebook.exists() and notebook.read_bytes() == original:
        return f"{name} is the original already."
    said = f"{name} is restored."
    if notebook.exists():
        said = f"{name} is restored; your copy is {_set_aside(notebook)}."
    notebook.parent.mkdir(parents=True, exist_ok=True)
    notebook.write_bytes(original)
    return said


def _reset_progress() -> str:
    record = KIT / "notebooks" / FILE
    if not record.exists():
        return "There is no record of your progress yet."
    return f"Your progress starts from zero; the old record is {_set_aside(record)}."


def _is_meant(wanted: str, name: str) -> bool:
    """Does `wanted`, which may be a shortened path, name this notebook?"""
    if not wanted.endswith(".ipynb"):
        wanted += ".ipynb"
    return f"/{name}".endswith(f"/{wanted}") or Path(wanted).resolve() == KIT / name


def _set_aside(file: Path) -> str:
    """Rename a file to one that says it is the learner's copy; returns its path in the kit."""
    moment = time.strftime("%Y%m%d-%H%M%S")
    copy = file.with_name(f"{file.stem}.my-copy-{moment}{file.suffix}")
    while copy.exists():
        copy = copy.with_name(copy.stem + "-1" + copy.suffix)
    return file.rename(copy).relative_to(KIT).as_posix()


def _names() -> list[str]:
    """The notebooks that came with the kit, as paths from its folder."""
    listing = _git("ls-tree", "-r", "-z", "--name-only", "HEAD", "notebooks")
    names = listing.decode().split("\0") if listing else []
    if not names:
        names = [path.relative_to(PRISTINE).as_posix() for path in PRISTINE.rglob("*.ipynb")]
    return sorted(name for name in names if name.endswith(".ipynb"))


def _original(name: str) -> bytes:
    """The notebook's original content: from git, else from the copy made at set-up."""
    committed = _git("show", f"HEAD:./{name}")
    return committed if committed is not None else (PRISTINE / name).read_bytes()


def _git(*words: str) -> bytes | None:
    """What git prints; None if the kit is not in git, or there is no git."""
    try:
        return subprocess.check_output(("git", *words), cwd=KIT, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None


if __name__ == "__main__":
    keep()
