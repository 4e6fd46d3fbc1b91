"""Finds the steppers of a notebook, and runs only the statements that they need.

A stepper is the value of a cell's last line. It needs the statements before it that bind the names
it reads, or change the objects of these names, and what those statements need in turn. So a page
has the same walk as the notebook, but the notebook's explorations and checks are not run.
"""

import ast
import io
import linecache
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from symtable import symtable
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.stepper import Stepper
from protocol_lab.stepper.starting_point import Session

STATIC = "lab-static"
"""The class of the drawing that a stepper leaves in a notebook's outputs."""


@dataclass
class _Statement:
    """A statement of a cell: the names that it reads, and those that it binds or changes."""

    node: ast.stmt
    file: str
    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)


def stepper_sessions(name: str, cells: list[dict[str, Any]]) -> Iterator[tuple[int, Session | str]]:
    """For each cell whose output is a stepper its number, and the session or the reason why there
    is none."""
    before: list[_Statement] = []
    done: set[int] = set()
    scope: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        statements = _statements(cell["source"], f"<{name}, cell {number}>")
        if statements and has_stepper(cell):
            *own, last = statements
            if isinstance(last.node, ast.Expr):
                found = _evaluated(last, _needed(last.reads, before + own), done, scope)
                if not isinstance(found, Stepper | str):
                    found = ""  # a drawing, such as show(...)
                if found != "":
                    yield number, found if isinstance(found, str) else found.session
        before += statements


def statements_before(cells: list[dict[str, Any]], number: int) -> list[ast.stmt] | None:
    """The statements of earlier cells that a cell needs, in their order, without those that only
    show something; None if it is not plain Python."""
    own = _statements(cells[number]["source"], f"<cell {number}>")
    if not own:
        return None
    before = [
        each
        for k, cell in enumerate(cells[:number])
        if cell["cell_type"] == "code"
        for each in _statements(cell["source"], f"<cell {k}>")
        if not isinstance(each.node, ast.Expr)
    ]
    for each in before:
        each.reads = _global_names(ast.unparse(each.node))
    wanted = _global_names(cells[number]["source"])
    needed = _needed(wanted, before)
    wanted = wanted.union(*(each.reads for each in needed))
    return [_only(each.node, wanted) for each in needed]


def _global_names(source: str) -> set[str]:
    """The names that code reads from outside its functions."""
    names, tables = set(), [symtable(source, "<cell>", "exec")]
    for table in tables:
        tables += table.get_children()
        is_top = table is tables[0]
        names |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_referenced() and (is_top or each.is_global())
        }
    return names


def _only(node: ast.stmt, wanted: set[str]) -> ast.stmt:
    """An import without the names that nobody wants; any other statement as it is."""
    if not isinstance(node, ast.ImportFrom):
        return node
    kept = [each for each in node.names if (each.asname or each.name) in wanted]
    return ast.ImportFrom(node.module, kept, node.level)


def has_stepper(cell: dict[str, Any]) -> bool:
    """Do a cell's outputs contain the drawing of a stepper or a walk?"""
    return any(STATIC in html_of(each) for each in cell.get("outputs", []))


def html_of(output: dict[str, Any]) -> str:
    """The HTML of an output; empty if it has none."""
    html = output.get("data", {}).get("text/html", "")
    return html if isinstance(html, str) else "".join(html)


def _evaluated(
    last: _Statement, needed: list[_Statement], done: set[int], scope: dict[str, Any]
) -> Any:
    """The value of a cell's last line, or the sentence that says why it has none."""
    try:
        with redirect_stdout(io.StringIO()):
            for each in needed:
                if id(each) not in done:
                    done.add(id(each))
                    exec(compile(ast.Module([each.node], []), each.file, "exec"), scope)
            return eval(compile(ast.Expression(last.node.value), last.file, "eval"), scope)
    except LabError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _statements(source: str, file: str) -> list[_Statement]:
    """The statements of a cell; none of one that is not plain Python, as with a magic."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return [_statement(node, file) for node in tree.body]


def _statement(node: ast.stmt, file: str) -> _Statement:
    found = _Statement(node, file)
    for each in symtable(ast.unparse(node), file, "exec").get_symbols():  # not inside functions
        if each.is_assigned() or each.is_imported():
            found.changes.add(each.get_name())
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.reads.add(each.id)
        elif isinstance(each, ast.FunctionDef | ast.ClassDef):
            found.changes |= {*map(_root, each.decorator_list)} - {""}
        elif isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store):
            found.changes.add(_root(each))
        match each:
            case ast.Expr(ast.Call(ast.Attribute() as method)):
                # Called for its effect, such as walk.take(...): it changes its object.
                found.changes.add(_root(method))
    return found


def _root(node: ast.expr) -> str:
    """The name that an expression such as `a.b[c](d)` begins with."""
    while not isinstance(node, ast.Name):
        inner = getattr(node, "value", None) or getattr(node, "func", None)
        if inner is None:
            return ""
        node = inner
    return node.id


def _needed(reads: set[str], before: list[_Statement]) -> list[_Statement]:
    """The statements that are needed for these names, in their order."""
    wanted, needed = set(reads), []
    for each in reversed(before):
        if each.changes & wanted:
            needed.append(each)
            wanted |= each.reads
    return needed[::-1]
