"""Loads the spec, or the story, in a Python file, in any folder and under any file name; and runs
the cells of a notebook for their value.

A file in a package (a folder with an `__init__.py`) is imported as a part of that package, so that
its relative imports work. Any other file finds the modules beside it: its folder is put at the end
of the path, so that a file called queue.py takes the place of no other module. Files that were
edited are read again.
"""

import ast
import importlib
import importlib.util
import keyword
import linecache
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from protocol_lab.errors import LabError, SpecError, quoted, shortened
from protocol_lab.model.spec import Spec
from protocol_lab.reader.dependencies import short_hash

Found = TypeVar("Found")

_added: list[str] = []
"""The folders of files that were loaded by their paths, which are on Python's path."""

_read: dict[tuple[Path, str], dict[Path, float]] = {}
"""The files that were loaded and the times of their last edits, for each package or folder of
single modules."""


def is_path(name: str) -> bool:
    """Is this the path of a file, rather than the name of a spec or module?"""
    return name.endswith(".py") or "/" in name or "\\" in name


def load_file(path: str | Path) -> Spec:
    """The spec in this file, which is loaded again if it was edited since.

    Raises LabError if there is no such file or no spec in it, and SpecError if the module fails.
    """
    spec = load_from_file(path, Spec, "spec")
    if spec.file is None:
        spec.file = _existing(path, "spec")
    return spec


def load_from_file(path: str | Path, kind: type[Found], name: str) -> Found:
    """The object of this kind in a file: the one that has this name, or the only one.

    Raises as `load_file` does.
    """
    file = _existing(path, name)
    _expect_no_second_definitions(file, shortened(path))
    root, module_name = _place_of(file)
    _look_into(str(root))
    with read_again(root, module_name):
        module = _imported(module_name, file, shortened(path))
    return _only_one_of(module, kind, name, shortened(path))


def _look_into(folder: str) -> None:
    """Put a folder on Python's path: after what is installed, before folders that were added."""
    sys.path[:] = [each for each in sys.path if each not in _added]
    if folder not in sys.path:
        _added[:] = [folder, *(each for each in _added if each != folder)]
    sys.path += _added


def value_of_cells(sources: Iterable[str]) -> Any:
    """The value of the last line of cells that are run one after the other in one scope."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    value = None
    for source in sources:
        file = f"<cell {short_hash(source)}>"  # a function's source is read from there later
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        statements = ast.parse(source, file).body
        last = statements.pop() if statements and isinstance(statements[-1], ast.Expr) else None
        exec(compile(ast.Module(statements, []), file, "exec"), scope)
        value = last and eval(compile(ast.Expression(last.value), file, "eval"), scope)
    return value


def load_module(name: str) -> Spec | None:
    """The spec of a module that Python finds under this name; None if it finds none.

    Raises LabError as `load_file` does.
    """
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name):
        return None
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if found is None or not str(found.origin).endswith(".py"):
        return None
    return load_file(found.origin)


@contextmanager
def read_again(root: Path, name: str) -> Iterator[None]:
    """A context for importing a module, from a folder under a dotted name. If a file that belongs
    to it was edited since it was loaded, or is gone, all of them are imported again."""
    which = root, name.partition(".")[0] if "." in name else ""
    known = _read.get(which, {})
    if any(not file.is_file() or file.stat().st_mtime != time for file, time in known.items()):
        for each in _loaded(root, name):
            del sys.modules[each]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        files = _loaded(root, name).values()
        _read[which] = {each: each.stat().st_mtime for each in files if each.is_file()}


def failure(error: BaseException, file: str, top: str) -> SpecError:
    """The error for a module that can't be loaded: one sentence with the file and the line.

    top: the folder of its package, or the file itself; the line is one below it.
    """
    said = " ".join(str(getattr(error, "msg", error)).split()).rstrip(".")
    kind = "" if isinstance(error, LabError) else f"{type(error).__name__}: "
    return SpecError(f"{file} can't be loaded: {kind}{said} ({_line_of(error, file, top)}).")


def _line_of(error: BaseException, file: str, top: str) -> str:
    """The file and line, below `top`, where importing a module failed."""
    places = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for name, line in reversed(places):
        parts = Path(name).parts
        if top in parts:
            return f"{'/'.join(parts[parts.index(top) :])}, line {line}"
    return file


def _existing(path: str | Path, what: str) -> Path:
    """The absolute path of a Python file; the ending may be left out. Raises LabError.

    what: is wanted from it.
    """
    shown = shortened(path)
    try:
        given = Path(path).expanduser()
        is_folder, is_file = given.is_dir(), given.is_file()
        file = given if given.suffix == ".py" or is_folder else Path(f"{given}.py")
        if file.is_file():
            return file.resolve()
    except (OSError, ValueError, RuntimeError):
        is_folder = is_file = False  # no file can have this name, or there is no home folder
    if is_folder:
        raise LabError(f"{shown} is a folder: give the file in it that has the {what}.")
    if is_file:
        raise LabError(f"{shown} is not a Python file: a {what} is in a file that ends in .py.")
    raise LabError(f"There is no file {quoted(shown)}; check its path.")


def _expect_no_second_definitions(file: Path, shown: str) -> None:
    """Raise SpecError if a function or class of a file is defined twice: Python would silently
    leave out the first one, or what a decorator has registered of it would stay."""
    try:
        statements = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # its import fails, and says why
    lines: dict[str, int] = {}
    for each in statements:
        if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name != "_":
            if each.name in lines:
                raise SpecError(
                    f"{shown} defines {each.name} twice, in lines {lines[each.name]} and"
                    f" {each.lineno}, and the second one takes the place of the first: give one of"
                    " them another name, or take it out."
                )
            lines[each.name] = each.lineno


def _place_of(file: Path) -> tuple[Path, str]:
    """The folder from which a file is imported, and the dotted name of its module there."""
    names, folder = [file.stem], file.parent
    if "." in file.stem:  # as in raft.v2.py, which no package can have as a part
        return folder, _own_name(file)
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if len(names) > 1 and file.stem == "__init__":
        del names[-1]
    return folder, ".".join(names)


def _imported(name: str, file: Path, shown: str) -> ModuleType:
    """The module of a file. Raises LabError and SpecError."""
    top = name.partition(".")[0] if "." in name else file.name
    try:
        if _is_found(name, file):
            return importlib.import_module(name)
        if "." not in name:
            return imported_as(_own_name(file), file)
    except (Exception, SystemExit) as error:
        raise failure(error, shown, top) from error
    raise LabError(
        f"{shown} is part of the package {top}, but Python has another package of that name: rename"
        " the folder."
    )


def _is_found(name: str, file: Path) -> bool:
    """Does Python find this very file under this name?"""
    if not all(each.isidentifier() and not keyword.iskeyword(each) for each in name.split(".")):
        return False
    try:
        found = importlib.util.find_spec(name)
    except ValueError:  # a module without a spec, such as __main__
        return False
    return found is not None and Path(str(found.origin)).resolve() == file


def _own_name(file: Path) -> str:
    """A module name for a file whose own name can't be one, or is another module's."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', file.stem)}_{short_hash(str(file))[:8]}"


def imported_as(name: str, file: Path) -> ModuleType:
    """The module in a file, under this name, which no other has. Raises what it raises."""
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _only_one_of(module: ModuleType, kind: type[Found], name: str, shown: str) -> Found:
    """The module's object of this name and kind, or the only one of the kind. Raises LabError."""
    named = vars(module).get(name)
    if isinstance(named, kind):
        return named
    found = {id(each): known for known, each in vars(module).items() if isinstance(each, kind)}
    if len(found) == 1:
        return getattr(module, *found.values())
    if found:
        names = ", ".join(found.values())
        raise LabError(
            f"{shown} has more than one {name} ({names}): name the one to load `{name}`."
        )
    raise LabError(f"{shown} has no {name}: write {name} = {kind.__name__}(...) in it.")


def _loaded(root: Path, name: str) -> dict[str, Path]:
    """The loaded modules, with their files, that are loaded again together with this one.

    These are all modules of its package, or the single modules in its folder.
    """
    package, dot, _ = name.partition(".")
    found = {}
    for each, module in sys.modules.copy().items():  # another thread may be importing
        top, inner, _ = each.partition(".")
        if each == "__main__" or (top != package if dot else inner):
            continue  # most are left out by their names alone, which is quick
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and (dot or Path(file).resolve().parent == root):
            found[each] = Path(file)
    return found
