"""`new NAME [FOLDER]`: starts a protocol of one's own, as a copy of an example.

The example is an ordinary folder, `examples/my_protocol`: a module, its drawing, a notebook, a test
and a README. The copy has the new name wherever the example says `my_protocol`.
"""

import keyword
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path

from protocol_lab.errors import LabError, quoted, shortened, writing

TEMPLATE = Path(__file__).parent.parent / "examples" / "my_protocol"
_INSTALLED = Path(sysconfig.get_path("data"), "share", "protocol_lab", "my_protocol")
"""The folders of the example in a checkout of the kit, and where `pip install` puts it."""

_PLACEHOLDER = TEMPLATE.name


def new_protocol(name: str, folder: str | Path | None = None) -> list[Path]:
    """Write the files of a new protocol into a folder, by default one of its name, and return their
    paths.

    Raises LabError for a name that no module can have, for that of a module which Python finds
    already, and if one of the files exists.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or not name.islower():
        raise LabError(
            f"{quoted(name)} can't be the name of a module: use small letters, digits and _, as in"
            " `new my_protocol`."
        )
    if _is_a_module(name):
        raise LabError(
            f"{quoted(name)} is the name of a module that Python has already: choose another one,"
            f" as in `new my_{name}`."
        )
    place = Path(name if folder is None else folder)
    texts = {
        place / each.name.replace(_PLACEHOLDER, name): each.read_text(encoding="utf-8")
        for each in _template_files()
    }
    with writing(place, "folder"):
        for path in texts:
            if path.exists():
                raise LabError(f"{shortened(path)} exists already: choose another name or folder.")
        place.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text.replace(_PLACEHOLDER, name), encoding="utf-8")
    return list(texts)


def _is_a_module(name: str) -> bool:
    """Is it a module of Python, of the kit, or of an installed package?"""
    if name in sys.stdlib_module_names or name == "__main__":  # also those of other systems
        return True
    found = PathFinder.find_spec(
        name, [each for each in sys.path if Path(each).resolve() != Path.cwd()]
    )
    return found is not None and found.origin is not None  # a mere folder has none


def _template_files() -> list[Path]:
    for place in (TEMPLATE, _INSTALLED):
        if found := sorted(path for path in place.glob("*") if path.is_file()):
            return found
    raise LabError("The example files are missing from this installation: install the kit again.")
