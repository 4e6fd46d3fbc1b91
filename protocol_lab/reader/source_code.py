"""The source of a plain function: its syntax tree, and the names that it reads.

Used by everything that analyses a spec's functions: the compiler, and the explainer of refusals.
"""

import ast
import dis
import inspect
import textwrap
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError, place, shortened
from protocol_lab.model import containers, node_sets
from protocol_lab.model.transitions import enabled, writable


def source_lines(function: Callable) -> tuple[list[str], int]:
    """The lines that a function was read from, decorators included, and the first one's number.

    A function made from a text carries it as `lab_source`. Raises LabError if there is no source.
    """
    if hasattr(function, "lab_source"):
        return function.lab_source.splitlines(keepends=True), 1
    try:
        return inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise LabError(
            f"The source of {function.__qualname__} can't be read;"
            " define it in a file or a notebook cell."
        ) from None


def error_at(function: Callable, node: ast.AST, told: str) -> LabError:
    """The error that names a function, the first line of a piece of its code, and its place, and
    says what is wrong there."""
    where = place(function.__code__.co_filename, node.lineno)
    code = shortened(code_text(node).partition("\n")[0], 80)
    return LabError(f"{function.__name__}: {code} ({where}): {told}.")


APART = "\u02d1"
"""A letter that nobody types, which tells two variables of one name apart (see `reading`)."""


def code_text(code: ast.AST | str) -> str:
    """A piece of code, or a name, as a person has written it."""
    return (code if isinstance(code, str) else ast.unparse(code)).replace(APART, "")


def parse(function: Callable) -> ast.FunctionDef:
    """The syntax tree of a function as it is loaded. Raises LabError if its file has changed."""
    lines, first_line = source_lines(function)
    text = textwrap.dedent("".join(lines))
    if function.__name__ == "<lambda>":
        tree = _lambda_as_function(function, text)
    else:
        tree = ast.parse(text).body[0]
    compared = function.__code__, text
    if compared not in _known_as_loaded:
        if not isinstance(tree, ast.FunctionDef) or not _same_code(function, tree):
            raise LabError(
                f"The file of {function.__qualname__} was edited after it was loaded: load the"
                " spec again (restart the kernel, or call protocol_lab.catalog.load)."
            )
        _known_as_loaded.add(compared)
    return ast.increment_lineno(tree, first_line - 1)


COMPILED_APART = (
    *containers.COMPILED_APART,
    *node_sets.COMPILED_APART,
    *(enabled, writable),
)
"""The plain functions for which compiled code has others."""

HELPERS = (containers.__name__, node_sets.__name__)
"""The modules whose functions the language of specs has."""


def is_plain(value: Any) -> bool:
    """Is it a plain Python function, to be compiled as the actions are?"""
    return isinstance(value, types.FunctionType) and value not in COMPILED_APART


def is_of_protocol(function: Any) -> bool:
    """Is it a plain function of a spec or a notebook, rather than a helper of the kit?"""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and not module.startswith("protocol_lab.")


_known_as_loaded: set[tuple[types.CodeType, str]] = set()
"""Code and its source that were compared: both are asked for again and again."""


def _lambda_as_function(function: Callable, text: str) -> ast.FunctionDef | None:
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        try:
            tree = ast.parse(f"({text[start:end]})", mode="eval")
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Lambda):
                body = [ast.copy_location(ast.Return(node.body), node.body)]
                found = ast.FunctionDef("predicate", node.args, body, [], type_params=[])
                found = ast.fix_missing_locations(ast.copy_location(found, node))
                if _same_code(function, found):
                    return found
    return None


def _same_code(function: Callable, tree: ast.FunctionDef) -> bool:
    bare = without_annotations(tree)
    body: list[ast.stmt] = [bare]
    free = function.__code__.co_freevars
    if free:  # inside a function that has these names, so that they are free here as well
        outer = ast.parse(f"def outer({', '.join(free)}): pass").body[0]
        outer.body = [bare]
        body = [outer]
    # Python compiles a call of a module's function differently where it sees the import.
    modules = [name for name, value in names_read(function).items() if inspect.ismodule(value)]
    imports = [ast.Import([ast.alias(name)]) for name in modules]
    return any(
        shape_of(_function_code([*before, *body], nested=bool(free))) == shape_of(function.__code__)
        for before in ([], imports)
    )


def _function_code(body: list[ast.stmt], nested: bool) -> types.CodeType:
    module = ast.fix_missing_locations(ast.Module(body, []))
    code = compile(module, "<check>", "exec")
    for _ in range(2 if nested else 1):
        code = next(each for each in code.co_consts if isinstance(each, types.CodeType))
    return code


@cache
def shape_of(code: types.CodeType) -> tuple:
    """A function's code as a value that does not depend on its line numbers and docstring."""
    nested = tuple(
        shape_of(each) if isinstance(each, types.CodeType) else _constant(each)
        for each in code.co_consts[1 if _has_docstring(code) else 0 :]
    )
    return code.co_code, code.co_names, code.co_varnames, nested


def _constant(value: Any) -> str:
    """A constant as text; of a set, which has another order in each process, sorted."""
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _has_docstring(code: types.CodeType) -> bool:
    """Is the function's first constant a docstring: a text that is never loaded?"""
    if not (code.co_consts and isinstance(code.co_consts[0], str)):
        return False
    loaded = (each.arg for each in dis.get_instructions(code) if each.opcode in dis.hasconst)
    return 0 not in loaded


def code_of_file(path: str | Path) -> str:
    """What a Python file says, without docstrings and line numbers: the same text after an edit of
    comments only."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    for each in ast.walk(tree):
        body = getattr(each, "body", None)
        if isinstance(body, list):
            body[:] = [line for line in body if not _is_text(line)] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    """Is it a statement that is only a text, as a docstring is?"""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def without_annotations(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The same function without decorators and annotations."""
    arguments = [ast.copy_location(ast.arg(each.arg), each) for each in tree.args.args]
    bare = ast.FunctionDef(
        tree.name,
        ast.arguments([], arguments, None, [], [], None, tree.args.defaults),
        tree.body,
        [],
        type_params=[],
    )
    return ast.copy_location(bare, tree)


def names_read(function: Callable) -> dict[str, Any]:
    """The global and enclosing names that a function reads, with their present values."""
    outer = function.__globals__
    names = _names_in(function.__code__) & outer.keys()
    return {name: outer[name] for name in names} | enclosed(function)


def enclosed(function: Callable) -> dict[str, Any]:
    """The names of enclosing functions that a function reads, with their present values."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


@cache
def _names_in(code: types.CodeType) -> frozenset[str]:
    loads = (each for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL")
    names = {*(each.argval for each in loads), *code.co_freevars}  # co_names has attributes, too
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            names |= _names_in(each)
    return frozenset(names)
