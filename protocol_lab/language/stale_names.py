"""Rejects names for parts of the state that are read after that part was assigned.

    old = s.box[p]                  no copy: another name for s.box[p]
    s.box[p] = Parcel(weight=1)
    if old.weight == 0: ...         reads the new parcel

Numbers are copied; a struct, sequence or bag that is read is a place in the state. So in TLA+ terms
`old` would be `box'[p]`. The same goes for two fields that are swapped in one line or with a third
name, and for an item of a bag or sequence whose items have moved since.

Also rejects a field that is assigned otherwise than by a statement of its own, as in
`for s.turn in range(3)`: compiled code would store it without checking that the number fits.
"""

import ast
from collections.abc import Callable, Iterator

from protocol_lab.language import containers
from protocol_lab.language.source_code import error_at, names_read

_MOVE_ITEMS = (
    *(containers.add, containers.add_once, containers.take),
    *(containers.remove_at, containers.pop_first),
)
"""The functions (container, ...) after which an item may be at another place."""


def refuse_stale(
    function: Callable, tree: ast.FunctionDef, is_place: Callable[[ast.expr], bool]
) -> None:
    """Raise LabError if the function, given with its syntax tree, uses such a name.

    is_place: is the expression's value known to be a struct, sequence, bag or array of the state?
    """
    _refuse_other_assignments(function, tree)
    names, values = _names_of_places(tree), names_read(function)
    for block in _blocks(tree):
        for k, statement in enumerate(block):
            changed = _changed(statement, values)
            for name, (bound, of) in names.items():
                if changed is None or bound.lineno >= statement.lineno:
                    continue
                used = next(_uses(name, block[k + 1 :], is_place), None)
                if used is not None and _is_part(of, changed):
                    told = (
                        f"{name} is another name for {of}, no copy of it, and line"
                        f" {statement.lineno} has changed {changed}: read what you need before"
                        f" that line, or write {of} if you mean what is there now"
                    )
                    raise error_at(function, used, told)


def _names_of_places(tree: ast.FunctionDef) -> dict[str, tuple[ast.Assign, str]]:
    """The names that are assigned once, and to a place, with it as text."""
    found: dict[str, tuple[ast.Assign, str]] = {}
    stored = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) if stored.count(name) == 1:
                if isinstance(value, ast.Attribute | ast.Subscript):
                    found[name] = node, ast.unparse(value)
    return found


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """All lists of statements that are run one after the other."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _refuse_other_assignments(function: Callable, tree: ast.FunctionDef) -> None:
    """Raise LabError for a field or slot that is assigned otherwise than alone, by `=` or `+=`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Attribute() | ast.Subscript()]):
                continue
            case ast.Assign(targets):
                shown, told = node, "assign one field at a time"
            case ast.AnnAssign(target):
                shown, targets, told = node, [target], "leave the type out"
            case ast.For(target) | ast.comprehension(target):
                shown, targets = target, [target]
                told = "let the loop have a variable of its own, and assign the field in its body"
            case _:
                continue
        if any(_is_assigned_place(each) for target in targets for each in ast.walk(target)):
            raise error_at(function, shown, told)


def _is_assigned_place(node: ast.AST) -> bool:
    """Is it a field or slot that is assigned here, not only read?"""
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _changed(statement: ast.stmt, values: dict[str, object]) -> str | None:
    """The place that a statement assigns, or the items that it moves, as text; None if neither."""
    match statement:
        case ast.Assign([ast.Attribute() | ast.Subscript() as target]):
            return ast.unparse(target)
        case ast.Expr(ast.Call(ast.Name(name), [container, *_])) if values.get(name) in _MOVE_ITEMS:
            return f"{ast.unparse(container)}.items"
    return None


def _is_part(of: str, changed: str) -> bool:
    return of == changed or of.startswith((f"{changed}.", f"{changed}["))


def _uses(
    name: str, statements: list[ast.stmt], is_place: Callable[[ast.expr], bool]
) -> Iterator[ast.expr]:
    """Where the statements use what a name stands for, or a field or slot of it."""
    for statement in statements:
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(ast.Name(used)) | ast.Subscript(ast.Name(used)):
                    if used == name:
                        yield node
                case ast.Name(used, ast.Load()) if used == name and is_place(node):
                    yield node
