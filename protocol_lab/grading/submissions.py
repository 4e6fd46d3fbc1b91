"""Reads a submission: the functions that the lab asks for, and the helpers beside them.

The file is never run. Everything else in it, such as the state, the given actions or the
invariants, is ignored, since the grader has its own; `notes` says what differs from the skeleton.
"""

import ast
import builtins
import codecs
import symtable
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import protocol_lab
from protocol_lab.grading.labs import Lab
from protocol_lab.reader.unsupported_syntax import CALLED, EXPRESSIONS, kind_of_syntax

# --- Permitted code -------------------------------------------------------------------------------
#
# The part of Python that a submission's functions may use: the language of specs, and no more.
#
# A submission is hostile until shown otherwise. Its functions are read as syntax trees, and one is
# refused unless every node of its tree is of a listed kind, every name is its own or one of the
# language, and every attribute a declared field. What is left can read and change one state, and
# compute with whole numbers: it can't open, import, print, or reach an object of the interpreter.


LANGUAGE = frozenset(
    name
    for name in protocol_lab.__all__
    if name.islower() or name in ("HOLDS", "TAKEN", "NONE", "NO_LIMIT", "NodeSet")
) - {"choice", "extends", "flag", "storage", "enabled"}
"""The names of protocol_lab that a function of a protocol can use."""

BUILTINS = CALLED | {"enumerate"}

TAKEN = "has a meaning already: choose another name"

_ANNOTATIONS = frozenset({"bool", "int", "str", "NodeSet", "State", "Constants"})

_PARTS_OF_LISTS = frozenset({"items", "length", "size"})

LARGEST, _LONGEST = 2**31, 200
"""The largest number and the longest text that may be written down."""

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If,
    ast.Return, ast.Expr, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip

_OPERATORS = (
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.Invert,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.Load, ast.Store,
)  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What a function may name besides its own variables: functions and record types to call,
    values to read, and the fields that records and constants have."""

    callables: frozenset[str]
    values: frozenset[str]
    fields: frozenset[str]


def refusal(function: ast.FunctionDef, scope: Scope) -> str:
    """Why a function can't be graded, naming the line; "" if it can."""
    arguments = function.args
    extra = (arguments.posonlyargs, arguments.kwonlyargs, arguments.defaults)
    if any(extra) or arguments.vararg or arguments.kwarg:
        return _with_line(function, function, "parameters are plain names here")
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    own = {each.arg for each in arguments.args}
    for each in nodes:
        match each:
            case ast.Name(name, ast.Store()):
                own.add(name)
    for name in own:
        if name.startswith("_"):
            return _with_line(function, function, f"names that begin with _ can't be used: {name}")
        if name in scope.callables | scope.values | LANGUAGE | BUILTINS:
            return _with_line(function, function, f"{name} {TAKEN}")
    apart = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    for each in nodes:
        if isinstance(each, ast.AnnAssign):
            apart |= {id(node) for node in ast.walk(each.annotation)}
            if said := _why_not_annotation(each.annotation, scope):
                return _with_line(each, function, said)
        if id(each) not in apart and (said := _why_not(each, scope, own)):
            return _with_line(each, function, said)
    return ""


def annotation_refusal(function: ast.FunctionDef, scope: Scope) -> str:
    """Why the annotations of a function can't be evaluated; "" if they can."""
    found = [each.annotation for each in function.args.args] + [function.returns]
    for each in filter(None, found):
        if said := _why_not_annotation(each, scope):
            return _with_line(each, function, said)
    return ""


def _with_line(node: ast.AST, function: ast.FunctionDef, said: str) -> str:
    return f"line {getattr(node, 'lineno', function.lineno)}, in {function.name}: {said}"


def _why_not(node: ast.AST, scope: Scope, own: set[str]) -> str:
    """What a piece of code has that the language lacks, apart from the pieces inside of it, what it
    calls, and annotations; own: the function's variables."""
    match node:
        case ast.Call(ast.Name(name)):
            if name not in scope.callables | LANGUAGE | BUILTINS or name in own:
                return f"there is no function {name} for protocols"
        case ast.Call(called):
            return f"only functions can be called, not {_shown(called)}"
        case ast.Attribute(root, name):
            if name not in scope.fields | _PARTS_OF_LISTS:
                return f"no field is called {name}"
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if not isinstance(root, ast.Call) and getattr(root, "id", None) not in own:
                return f"{_shown(node)} is no part of the state"
        case ast.Name(name):
            if name not in own | scope.values | {"HOLDS", "TAKEN", "NONE", "NO_LIMIT"}:
                return f"{name} has no value that a protocol can read"
        case ast.Constant(value):
            is_small = isinstance(value, int) and abs(value) <= LARGEST
            if not is_small and not (isinstance(value, str) and len(value) <= _LONGEST):
                return f"this value can't be used in a protocol: {_shown(node)}"
        case ast.keyword(arg=None):
            return "** can't be used in a protocol"
        case ast.comprehension(is_async=1):
            return "async can't be used in a protocol"
    if not isinstance(node, (*_STATEMENTS, *_OPERATORS, *EXPRESSIONS)):
        return f"{kind_of_syntax(node)} can't be used in a protocol"
    return ""


def _why_not_annotation(node: ast.expr, scope: Scope) -> str:
    named = _ANNOTATIONS | scope.callables | scope.values
    for each in ast.walk(node):
        match each:
            case ast.Name(name) if name in named:
                continue
            case ast.Call(ast.Name("NodeSet")) | ast.Load():
                continue
        return f"this annotation can't be used: {_shown(node)}"
    return ""


def _shown(node: ast.AST) -> str:
    text = code_of(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def code_of(node: ast.AST) -> str:
    """A piece of a submission as Python code, or what stands for a piece that has none."""
    try:
        return ast.unparse(node)
    except ValueError:  # Python prints no number of more than 4,300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "an expression that is nested too deeply"


# --- Submissions ----------------------------------------------------------------------------------


_IGNORED = "differs from the skeleton, not used"

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
                    found.refusals[name] = f"line {each.lineno}: {name} {TAKEN}"
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
    scope = scope_of(skeleton, found.numbers)
    taken = taken_names(skeleton)
    signatures = {each.name: each for each in skeleton.body if isinstance(each, ast.FunctionDef)}
    inside = replace(scope, callables=scope.callables | set(found.helpers))
    for name, each in found.helpers.items():
        reason = refusal(each, inside) or annotation_refusal(each, scope)
        if name in taken or name.startswith("__"):
            reason = f"line {each.lineno}: {name} {TAKEN}"
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


def scope_of(skeleton: ast.Module, numbers: Iterable[str]) -> Scope:
    """What the skeleton gives to the functions that are put into it, beside these numbers."""
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
    given = {name for name in named if name.isupper()}
    records = {each.name for each in classes if each.name not in ("State", "Constants")}
    drawing = {"lane", "describe"}
    return Scope(
        frozenset((functions | records | (named - given)) - drawing - BUILTINS),
        frozenset({*given, *numbers}),
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
