"""Finds the steppers of a notebook, and runs only the statements that they need.

A stepper is the value of a cell's last line, or follows the answer of its question, as in
`ask(..., then=[lambda: replay("a scenario")])`. It needs the statements before it that bind the
names it reads, or change the objects of these names, and what those statements need in turn. So a
page has the same walk as the notebook, but the notebook's explorations and checks are not run.
"""

import ast
import io
import linecache
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from symtable import symtable
from typing import Any

from protocol_lab import notebook
from protocol_lab.errors import LabError
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model, Spec
from protocol_lab.stepper import Stepper
from protocol_lab.stepper.starting_point import Session, origin_of
from protocol_lab.teaching.questions import STEPPER

ROOT = Path(__file__).parents[2]

_STEPPERS = ("challenge", "lesson", "replay", "step")

STATIC = "lab-static"
"""The class of the drawing that a stepper leaves in a notebook's outputs."""


@dataclass(frozen=True)
class StepperCell:
    """A cell whose output is a stepper: its number, and the session, or the reason why there is
    none. If the notebook has written or changed the session's spec, `needed` are the statements
    that make it, and last its model."""

    number: int
    session: Session | str
    needed: tuple[str, ...] = ()


@dataclass
class _Statement:
    """A statement of a cell: the names that it reads, and those that it binds or changes."""

    node: ast.stmt
    file: str
    text: str
    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)


def stepper_cells(name: str, cells: list[dict[str, Any]]) -> Iterator[StepperCell]:
    """The cells whose output is a stepper; name: the notebook's path from the kit's folder."""
    before: list[_Statement] = []
    done: set[int] = set()
    scope: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        statements = _statements(cell["source"], f"<{name}, cell {number}>", name)
        if statements and has_stepper(cell):
            *own, _ = statements
            for last in _shown_by(statements):
                found = _evaluated(last, _needed(last.reads, before + own), done, scope)
                if not isinstance(found, Stepper | str):
                    found = ""  # a drawing, such as show(...)
                if isinstance(found, Stepper):
                    needed = _written_here(found.session, scope, before + own)
                    yield StepperCell(number, found.session, needed)
                elif found:
                    yield StepperCell(number, found)
        before += statements


def _shown_by(statements: list[_Statement]) -> list[_Statement]:
    """What a cell shows that may be a stepper: its last line; or, of a question, each function
    among what follows that only makes a stepper."""
    last = statements[-1]
    match last.node:
        case ast.Expr(ast.Call(ast.Name("ask")) as call):
            then = [each.value for each in call.keywords if each.arg == "then"]
            made = [
                ast.copy_location(ast.Expr(each.body), each)
                for each in ast.walk(ast.List(then))
                if isinstance(each, ast.Lambda) and _name(each.body) in _STEPPERS
            ]
            return [_statement(each, last.file, ast.unparse(each)) for each in made]
        case ast.Expr():
            return [last]
    return []


def _name(node: ast.expr) -> str:
    """The name of the function that an expression calls."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _written_here(
    session: Session, scope: dict[str, Any], before: list[_Statement]
) -> tuple[str, ...]:
    """What makes the session's model, if the catalog does not have its spec, and a name has it here
    or in a module of a protocol."""
    model = session.walk.model
    if session.challenge is not None or origin_of(session)["in_catalog"]:
        return ()
    constants = {name: as_text(value) for name, value in show(model.constants).items()}
    for name, value in scope.items():
        if isinstance(value, Spec | Model) and getattr(value, "spec", value) is model.spec:
            path = f"{name}.spec" if isinstance(value, Model) else name
            needed = _needed({name}, before)
            return (*(each.text for each in needed), f"{path}.bind(**{constants!r})")
    for place, module in sys.modules.copy().items():
        if not place.partition(".")[0].endswith("_spec"):
            continue
        for name, value in vars(module).items():
            if value is model.spec:
                return f"from {place} import {name}", f"{name}.bind(**{constants!r})"
    return ()


def statements_before(name: str, cells: list[dict[str, Any]], number: int) -> list[str] | None:
    """The statements of earlier cells that a cell needs, in their order, without those that only
    show something; None if it is not plain Python."""
    own = _statements(cells[number]["source"], f"<cell {number}>", name)
    if not own:
        return None
    before = [
        each
        for k, cell in enumerate(cells[:number])
        if cell["cell_type"] == "code"
        for each in _statements(cell["source"], f"<cell {k}>", name)
    ]
    imports = [each for each in before if isinstance(each.node, ast.Import | ast.ImportFrom)]
    modules = set().union(*(each.changes for each in imports))
    # A method that is called for its effect on an object of the notebook declares something, as
    # `spec.messages(...)` does; `exercises.one.check(...)` shows something.
    before = [
        each for each in before if not isinstance(each.node, ast.Expr) or each.changes - modules
    ]
    needed = _needed(_global_names(cells[number]["source"]), before)
    return [each.text for each in needed]


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


def has_stepper(cell: dict[str, Any]) -> bool:
    """Do a cell's outputs contain the drawing of a stepper or a walk?"""
    outputs = cell.get("outputs", [])
    return any(STATIC in text_of(each) or STEPPER in text_of(each, "markdown") for each in outputs)


def text_of(output: dict[str, Any], kind: str = "html") -> str:
    """The HTML of an output, or its text of another kind; empty if it has none."""
    return "".join(output.get("data", {}).get(f"text/{kind}", ""))


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


def _statements(source: str, file: str, name: str) -> list[_Statement]:
    """The statements of a cell of the notebook of this name; none of one that is not plain Python,
    as with a magic."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    folder, found = Path(name).parent, []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports = [_imported(node, alias, folder) for alias in node.names]
            found += [_statement(each, file, ast.unparse(each)) for each in imports]
        else:
            found.append(_statement(node, file, _text_of(source, node)))
    return found


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, folder: Path) -> ast.stmt:
    """The import of one name, from where a page has it.

    A module beside the notebook is in the notebook's folder; and what the module for notebooks only
    passes on is imported from its own one, since a page has no IPython.
    """
    if isinstance(node, ast.ImportFrom):
        module = node.module
        if module == notebook.__name__:
            module = getattr(getattr(notebook, alias.name, None), "__module__", module)
        made: ast.stmt = ast.ImportFrom(module, [alias], node.level)
    elif (ROOT / folder / f"{alias.name}.py").is_file():
        made = ast.ImportFrom(".".join(folder.parts), [alias], 0)
    else:
        made = ast.Import([alias])
    return ast.copy_location(made, node)


def _statement(node: ast.stmt, file: str, text: str) -> _Statement:
    code = ast.unparse(node)
    found = _Statement(node, file, text, _global_names(code))
    for each in symtable(code, file, "exec").get_symbols():  # not inside functions
        if each.is_assigned() or each.is_imported():
            found.changes.add(each.get_name())
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            found.changes |= {*map(_root, each.decorator_list)} - {""}
        elif isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store):
            found.changes.add(_root(each))
        match each:
            case ast.Expr(ast.Call(ast.Attribute() as method)):
                # Called for its effect, such as walk.take(...): it changes its object.
                found.changes.add(_root(method))
    return found


def _text_of(source: str, node: ast.stmt) -> str:
    """A statement as it stands in its cell, with its decorators."""
    decorators = getattr(node, "decorator_list", [])
    if not decorators:
        return ast.get_source_segment(source, node)
    return "\n".join(source.splitlines()[decorators[0].lineno - 1 : node.end_lineno])


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
