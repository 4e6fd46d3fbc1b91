"""Reads a submission: the functions that the lab asks for, and the helpers beside them.

The file is never run. Everything else in it, such as the state, the given actions or the
invariants, is ignored, since the grader has its own; `notes` says what differs from the skeleton.
"""

import ast
import builtins
import codecs
import symtable
from dataclasses import dataclass, field
from pathlib import Path

import protocol_lab
from protocol_lab.grading.labs import Lab
from protocol_lab.grading.permitted_code import (
    BUILTINS,
    LANGUAGE,
    LARGEST,
    Scope,
    annotation_refusal,
    code_of,
    refusal,
)

_IGNORED = "differs from the skeleton, not used"
_TAKEN = "has a meaning already: choose another name"

_MOST_BYTES = 200_000
"""The most bytes that a submission may have."""


@dataclass
class Submission:
    """A submission that was read.

    functions: those that the lab asks for, by name; helpers: functions of the learner's own;
    numbers: names that the file gives to whole numbers. refusals: for each function that can't be
    graded the reason. notes: what was left aside.
    """

    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    helpers: dict[str, ast.FunctionDef] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unreadable: str = ""


def read_submission(path: Path, lab: Lab) -> Submission:
    """The functions of a file; never raises for what is written in it."""
    found = Submission()
    try:
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
        if data.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
            raise ValueError("it is written in UTF-16, save it as UTF-8")
        _sort(ast.parse(data), lab, found)  # of bytes, it takes the mark that Windows puts first
    except OSError as error:
        return Submission(unreadable=f"{path.name} can't be read: {error.strerror}")
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if getattr(error, "lineno", None) else ""
        said = getattr(error, "msg", None) or str(error) or type(error).__name__
        return Submission(unreadable=f"{path.name} can't be read as Python: {said}{line}")
    return found


def _sort(tree: ast.Module, lab: Lab, found: Submission) -> None:
    """Put each statement of the file where it belongs."""
    skeleton = ast.parse(lab.skeleton.read_text(encoding="utf-8"))
    given = {name: ast.unparse(each) for each in skeleton.body for name in _names(each)}
    texts = {ast.unparse(each) for each in skeleton.body}
    first_lines: dict[str, int] = {}
    for each in tree.body:
        match each:
            case ast.FunctionDef(name=name) if name in lab.written or name not in given:
                kind = found.functions if name in lab.written else found.helpers
                if name in kind:
                    found.notes.append(
                        f"{name} is defined twice, in lines {first_lines[name]} and {each.lineno}:"
                        " the last one counts, as in Python"
                    )
                first_lines[name] = each.lineno
                kind[name] = each
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(value))) if (
                name not in given and not name.startswith("_")
            ):
                found.numbers[name] = value
                if name in taken_names(skeleton):
                    found.refusals[name] = f"line {each.lineno}: {name} {_TAKEN}"
                elif abs(value) > LARGEST:
                    found.refusals[name] = f"line {each.lineno}: {name} is more than {LARGEST:,}"
            case ast.ImportFrom(module="protocol_lab" | "protocol_lab.drawing"):
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case _ if code_of(each) not in texts:
                what = ", ".join(_names(each)) or code_of(each).partition("\n")[0][:60]
                found.notes.append(f"line {each.lineno}: {what} {_IGNORED}")
    _refuse(skeleton, found)


def taken_names(skeleton: ast.Module) -> frozenset[str]:
    """The names that no function or number of a submission may have, since they stand beside the
    skeleton's: those that it binds, imports or uses, those of the language, and Python's own."""
    table = symtable.symtable(ast.unparse(skeleton), "skeleton", "exec")
    found, tables = set(table.get_identifiers()), [table]
    while tables:
        one = tables.pop()
        found |= {each.get_name() for each in one.get_symbols() if each.is_global()}
        tables += one.get_children()
    return frozenset(found | {*LANGUAGE, *BUILTINS, *dir(builtins), *protocol_lab.__all__})


def _refuse(skeleton: ast.Module, found: Submission) -> None:
    """Find the functions that the grader can't take, and those that call them."""
    scope = scope_of(skeleton)
    scope = Scope(scope.callables, scope.values | set(found.numbers), scope.fields)
    taken = taken_names(skeleton)
    signatures = {each.name: each for each in skeleton.body if isinstance(each, ast.FunctionDef)}
    inside = scope.with_functions(found.helpers)
    for name, each in found.helpers.items():
        reason = refusal(each, inside) or annotation_refusal(each, scope)
        if name in taken or name.startswith("__"):
            reason = f"line {each.lineno}: {name} {_TAKEN}"
        elif not reason and each.decorator_list:
            reason = f"line {each.lineno}, in {name}: this decorator can't be used"
        if reason:
            found.refusals[name] = reason
    for name, each in found.functions.items():
        wanted = [argument.arg for argument in signatures[name].args.args]
        if [argument.arg for argument in each.args.args] != wanted:
            found.refusals[name] = f"line {each.lineno}: write {name}({', '.join(wanted)})"
        elif reason := refusal(each, inside):
            found.refusals[name] = reason
    _spread(found)
    said = {found.refusals[name] for name in found.functions if name in found.refusals}
    for name in (*found.numbers, *found.helpers):
        if name in found.refusals and found.refusals[name] not in said:
            found.notes.append(f"{found.refusals[name]}; it is not used")


def _spread(found: Submission) -> None:
    """A function that calls a refused one is refused for the same reason."""
    every = {**found.helpers, **found.functions}
    for _ in every:
        for name, each in every.items():
            for node in ast.walk(each):
                if isinstance(node, ast.Name) and node.id in found.refusals:
                    found.refusals.setdefault(name, found.refusals[node.id])


def scope_of(skeleton: ast.Module) -> Scope:
    """What the skeleton gives to the functions that are put into it."""
    functions = {
        each.name
        for each in skeleton.body
        if isinstance(each, ast.FunctionDef) and not each.decorator_list
    }
    classes = [each for each in skeleton.body if isinstance(each, ast.ClassDef)]
    fields = {
        each.target.id for one in classes for each in one.body if isinstance(each, ast.AnnAssign)
    }
    named = {
        name
        for each in skeleton.body
        if isinstance(each, ast.Assign)
        for name in _names(each)
        if name != "spec"
    }
    numbers = {name for name in named if name.isupper()}
    records = {each.name for each in classes if each.name not in ("State", "Constants")}
    drawing = {"lane", "describe"}
    return Scope(
        frozenset((functions | records | (named - numbers)) - drawing - BUILTINS),
        frozenset(numbers),
        frozenset(fields),
    )


def _names(node: ast.stmt) -> list[str]:
    """The names that a top-level statement binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [each.id for each in targets if isinstance(each, ast.Name)]
    return []
