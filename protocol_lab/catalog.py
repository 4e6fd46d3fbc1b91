"""Finds specs by name: "kafka.kip_320" is the `spec` of the module kafka_spec.kip_320.

Every top-level package called *_spec belongs to the catalog; there is no list to maintain. A module
that can't be loaded does not affect the others: `broken_modules` says what is wrong with it. A
learner's own `my_spec/` in the current folder belongs to it, too, in notebooks and for the commands
that run specs. A spec outside the catalog is loaded by the path of its file, or by its module's
name.
"""

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from protocol_lab.errors import LabError, SpecError, quoted, shortened, unknown
from protocol_lab.model.spec import Model, Spec
from protocol_lab.spec_files import failure, is_path, load_file, load_module, read_again


def spec_names() -> list[str]:
    """The names of all specs that can be loaded, by package and in alphabetical order."""
    return _looked_through()[0]


def broken_modules() -> list[SpecError]:
    """One sentence for every module of the catalog that can't be loaded, with file and line."""
    return _looked_through()[1]


def _looked_through() -> tuple[list[str], list[SpecError]]:
    names, broken = [], []
    for package in packages():
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


def load(name: str | Path) -> Spec:
    """The spec with this name, in the file at this path, or in the module with this name.

    It is loaded again if a file of its package, or beside it, was edited since. Raises LabError
    with the known names if there is none, and SpecError if its module fails.
    """
    if isinstance(name, Path) or is_path(name):
        return load_file(name)
    return _in_catalog(name) or load_module(name) or load_from_catalog(name)


def load_from_catalog(name: str) -> Spec:
    """The spec of this name in the packages of the catalog. Raises LabError and SpecError."""
    found = _in_catalog(name)
    if found is None:
        raise unknown("spec", name, spec_names())
    return found


def known_as(spec: Spec) -> str:
    """The name by which `load` finds a spec again. For one that was loaded by its path that is the
    path, relative to the current folder if it is below it. A spec of a notebook's cell has only its
    own name."""
    if spec.file is None or _file_in_catalog(spec.name) == spec.file:
        return spec.name
    here = Path.cwd()
    below = spec.file.is_relative_to(here)
    return (spec.file.relative_to(here) if below else spec.file).as_posix()


def named_beside(name: str, folder: Path) -> str:
    """The name by which `load` finds a spec that is named in a file of this folder.

    A path is resolved in this folder, in its parent, and in the current folder; a module's name
    stands for a file in the first two.
    """
    if _belongs_to_catalog(name):
        return name
    file = name if is_path(name) else f"{name}.py"
    for place in (folder, folder.parent):
        if os.path.isfile(place / file):  # no file can have this name
            return str(place / file)
    return name


def load_beside(name: str, folder: Path) -> Spec:
    """The spec that a file of this folder names: one of the catalog, or that of a file below this
    folder, directly above it, or below the current one. Others could be anybody's files.

    Raises LabError and SpecError as `load` does.
    """
    found = named_beside(name, folder)
    if not is_path(found):
        return load_from_catalog(found)
    file, folder = Path(os.path.abspath(found)), folder.absolute()
    below = any(file.is_relative_to(each) for each in (folder, Path.cwd()))
    if file.is_file() and not below and file.parent != folder.parent:
        raise LabError(
            f"{quoted(name)} is a file elsewhere, and a scenario may only run files beside it: give"
            f" it yourself, as in `--spec {shortened(name)}`, or play(scenario, model)."
        )
    return load_file(found)


def bound_model(
    spec_name: str,
    constants: Mapping[str, Any],
    given: Model | None = None,
    folder: Path | None = None,
) -> Model:
    """The spec with this name and these constants; it is that of `given` if that has the name.

    So a spec is found that was written in a notebook's cell. A spec outside the catalog is loaded
    only if a file in this folder names it. Raises LabError.
    """
    if given is not None and spec_name in (given.spec.name, known_as(given.spec)):
        return given.spec.bind(**constants)
    if folder is None and is_path(spec_name):
        raise LabError(
            f"{quoted(spec_name)} is a file, and a pasted text may not run files: load it and give"
            f" its model, as in load({quoted(spec_name)}).bind(), or --spec FILE on the command"
            " line."
        )
    if folder is None:
        return load_from_catalog(spec_name).bind(**constants)
    return load_beside(spec_name, folder).bind(**constants)


def _in_catalog(name: str) -> Spec | None:
    """The spec of this name in the packages of the catalog. Raises SpecError."""
    if not _belongs_to_catalog(name):
        return None
    full = _module_of(name)
    root = Path(next(iter(_imported(_package_of(name)).__path__))).parent
    with read_again(root, full):
        return None if importlib.util.find_spec(full) is None else _spec_in(name)


def _belongs_to_catalog(name: str) -> bool:
    if re.fullmatch(r"\w+\.\w+", name) is None:
        return False
    # Quicker than `packages`, which looks through all folders.
    found = PathFinder.find_spec(_package_of(name))
    return found is not None and found.submodule_search_locations is not None


def _file_in_catalog(name: str) -> Path | None:
    """The file of the spec of this name, if it is in the catalog."""
    module = sys.modules.get(_module_of(name)) if _belongs_to_catalog(name) else None
    return Path(module.__file__).resolve() if module and module.__file__ else None


def _package_of(name: str) -> str:
    return f"{name.partition('.')[0]}_spec"


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
        raise failure(error, _path_of(full), full.partition(".")[0]) from error


def _path_of(full: str) -> str:
    """The file of a module, or of a package, from the folder of the catalog's package on."""
    package, *inner = full.split(".")
    found = PathFinder.find_spec(package)
    folder = Path(found.origin).parent if found and found.origin else Path(package)
    is_package = folder.joinpath(*inner).is_dir()
    return f"{full.replace('.', '/')}{'/__init__.py' if is_package else '.py'}"


def scenario_files(name: str) -> list[Path]:
    """The scenario files of a spec's package, or in the folder `scenarios` beside its file, in
    alphabetical order."""
    folder = load(name).file.parent if is_path(name) else package_folder(name)
    return sorted((folder / "scenarios").glob("*.txt"))


def package_folder(name: str) -> Path:
    """The folder of a spec's package, which has its scenarios and texts."""
    package: ModuleType = importlib.import_module(_package_of(name))
    return Path(next(iter(package.__path__)))


def package_title(name: str) -> str:
    """How a package's protocol is spelled: its TITLE, or its name with a capital."""
    try:
        package = importlib.import_module(f"{name}_spec")
    except Exception:  # the package is missing or broken, which `load` reports
        return name.capitalize()
    return getattr(package, "TITLE", name.capitalize())


def packages() -> list[str]:
    """The packages of the catalog, in alphabetical order."""
    folders = [Path(each or os.curdir) for each in sys.path]
    found = [each.parent.name for folder in folders for each in folder.glob("*_spec/__init__.py")]
    return sorted({each for each in found if each.isidentifier()})
