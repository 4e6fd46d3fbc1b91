"""Finds specs by name: "kafka.kip_320" is the `spec` of the module kafka_spec.kip_320.

Every top-level package called *_spec belongs to the catalog; nothing is listed by hand. A module
that can't be loaded leaves the others as they are: `broken_modules` says what is wrong with it.
"""

import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from protocol_lab.errors import LabError, SpecError, unknown
from protocol_lab.spec.spec import Spec

_versions: dict[str, dict[Path, float]] = {}


def spec_names() -> list[str]:
    """The names of all specs that can be loaded, by package and in alphabetical order."""
    return _looked_through()[0]


def broken_modules() -> list[SpecError]:
    """One sentence for every module of the catalog that can't be loaded, with file and line."""
    return _looked_through()[1]


def _looked_through() -> tuple[list[str], list[SpecError]]:
    names, broken = [], []
    for package in _packages():
        try:
            folders = _imported(package).__path__
        except SpecError as error:
            broken.append(error)
            continue
        for module in pkgutil.iter_modules(folders):
            name = f"{package.removesuffix('_spec')}.{module.name}"
            try:
                if _spec_in(name) is not None:
                    names.append(name)
            except SpecError as error:
                broken.append(error)
    return sorted(names), broken


def load(name: str) -> Spec:
    """The spec of this name, read again if a file of its package was edited since.

    Raises LabError with the known names if there is none, and SpecError if its module fails.
    """
    package = f"{name.partition('.')[0]}_spec"
    if not re.fullmatch(r"\w+\.\w+", name) or package not in _packages():
        raise unknown("spec", name, spec_names())
    _forget_if_edited(package)
    found = _spec_in(name) if _module_exists(_module_of(name)) else None
    if found is None:
        raise unknown("spec", name, spec_names())
    return found


def _module_of(name: str) -> str:
    package, _, module = name.partition(".")
    return f"{package}_spec.{module}"


def _spec_in(name: str) -> Spec | None:
    """The spec of a module of the catalog, if it has one. Raises SpecError."""
    full = _module_of(name)
    found = vars(_imported(full)).get("spec")
    if not isinstance(found, Spec):
        return None
    if found.name != name:
        raise SpecError(
            f"{_path_of(full)} calls its spec {found.name!r}: write Spec({name!r}, ...), so that it"
            " is found by its name."
        )
    return found


def _imported(full: str) -> ModuleType:
    """A module or package of the catalog. Raises SpecError, with file and line, if it fails."""
    try:
        return importlib.import_module(full)
    except (Exception, SystemExit) as error:
        said = " ".join(str(getattr(error, "msg", error)).split()).rstrip(".")
        kind = "" if isinstance(error, LabError) else f"{type(error).__name__}: "
        raise SpecError(
            f"{_path_of(full)} can't be loaded: {kind}{said} ({_place(error, full)})."
        ) from error


def _path_of(full: str) -> str:
    """The file of a module, or of a package, from the folder of the catalog's package on."""
    package, *inner = full.split(".")
    found = PathFinder.find_spec(package)
    folder = Path(found.origin).parent if found and found.origin else Path(package)
    is_package = folder.joinpath(*inner).is_dir()
    return f"{full.replace('.', '/')}{'/__init__.py' if is_package else '.py'}"


def _place(error: BaseException, full: str) -> str:
    """The file and line of a package where importing one of its modules failed."""
    package = full.partition(".")[0]
    places = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for file, line in reversed(places):
        parts = Path(file).parts
        if package in parts:
            return f"{'/'.join(parts[parts.index(package) :])}, line {line}"
    return _path_of(full)


def package_folder(name: str) -> Path:
    """The folder of a spec's package, where its scenarios and texts are."""
    package: ModuleType = importlib.import_module(name.partition(".")[0] + "_spec")
    return Path(next(iter(package.__path__)))


def package_title(name: str) -> str:
    """How a package's protocol is spelled: its TITLE, or its name with a capital."""
    try:
        package = importlib.import_module(f"{name}_spec")
    except Exception:  # there is none, or it is broken, which `load` says
        return name.capitalize()
    return getattr(package, "TITLE", name.capitalize())


def _packages() -> list[str]:
    return sorted(
        each.name for each in pkgutil.iter_modules() if each.ispkg and each.name.endswith("_spec")
    )


def _module_exists(full: str) -> bool:
    return importlib.util.find_spec(full) is not None


def _forget_if_edited(package: str) -> None:
    folder = Path(next(iter(_imported(package).__path__)))
    present = {path: path.stat().st_mtime for path in folder.rglob("*.py")}
    if _versions.setdefault(package, present) != present:
        _versions[package] = present
        importlib.invalidate_caches()
        for module in [each for each in sys.modules if each.split(".")[0] == package]:
            del sys.modules[module]
