"""Finds specs by name: "kafka.kip_320" is the `spec` of the module kafka_spec.kip_320.

Every top-level package called *_spec belongs to the catalog; nothing is listed by hand.
"""

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from protocol_lab.errors import LabError, unknown
from protocol_lab.spec.spec import Spec

_versions: dict[str, dict[Path, float]] = {}


def spec_names() -> list[str]:
    """The names of all specs, by package and in alphabetical order."""
    names = []
    for package in _packages():
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            loaded = importlib.import_module(f"{package}.{module.name}")
            found = vars(loaded).get("spec")
            if isinstance(found, Spec):
                names.append(found.name)
    return sorted(names)


def load(name: str) -> Spec:
    """The spec of this name, read again if a file of its package was edited since.

    Raises LabError with the known names if there is none.
    """
    package, _, module = name.partition(".")
    full = f"{package}_spec.{module}"
    if f"{package}_spec" not in _packages() or not _module_exists(full):
        raise unknown("spec", name, spec_names())
    _forget_if_edited(f"{package}_spec")
    try:
        found = vars(importlib.import_module(full)).get("spec")
    except Exception as error:
        raise LabError(
            f"{full.replace('.', '/')}.py can't be loaded: {type(error).__name__}: {error}."
        ) from error
    if not isinstance(found, Spec):
        raise unknown("spec", name, spec_names())
    return found


def package_folder(name: str) -> Path:
    """The folder of a spec's package, where its scenarios and texts are."""
    package: ModuleType = importlib.import_module(name.partition(".")[0] + "_spec")
    return Path(next(iter(package.__path__)))


def package_title(name: str) -> str:
    """How a package's protocol is spelled: its TITLE, or its name with a capital."""
    try:
        package = importlib.import_module(f"{name}_spec")
    except ModuleNotFoundError:
        return name.capitalize()
    return getattr(package, "TITLE", name.capitalize())


def _packages() -> list[str]:
    return sorted(
        each.name for each in pkgutil.iter_modules() if each.ispkg and each.name.endswith("_spec")
    )


def _module_exists(full: str) -> bool:
    return importlib.util.find_spec(full) is not None


def _forget_if_edited(package: str) -> None:
    folder = Path(next(iter(importlib.import_module(package).__path__)))
    present = {path: path.stat().st_mtime for path in folder.rglob("*.py")}
    if _versions.setdefault(package, present) != present:
        _versions[package] = present
        importlib.invalidate_caches()
        for module in [each for each in sys.modules if each.split(".")[0] == package]:
            del sys.modules[module]
