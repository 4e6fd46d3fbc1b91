"""Mutants of a spec: its functions with one small mistake each, made from their syntax trees.

A mutant is an edit of one place in the source of a function that the spec's actions reach:

    drop guard      an `if` that only leaves the function (with a refusal, an answer, continue)
    drop operand    one operand of an `and` or `or`
    negate          a condition, or the answer of a function that says yes or no
    off by one      `<` for `<=` and the like; `+ 1` or `- 1` left out
    drop effect     an assignment to a field, or a call that is a statement of its own

Mutants are named by function, kind and the text that is edited, so that a name outlives edits
elsewhere in the file.
"""

import ast
import hashlib
import inspect
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType

from protocol_lab.catalog import load
from protocol_lab.language import evaluation
from protocol_lab.language.source_code import names_read
from protocol_lab.semantics import transitions
from protocol_lab.spec.parameters import Domain

SWAPPED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
"""Comparisons that are often mistaken for each other."""

Edit = tuple[str, ast.AST, str]
"""A kind of mutant, what is replaced in the tree, and the text that replaces it."""


@dataclass(frozen=True)
class Mutant:
    """One edit. start, end: its place in the text of the file; nth: which of equal edits it is."""

    module: str
    function: str
    kind: str
    path: Path
    line: int
    start: int
    end: int
    old: str
    new: str
    nth: int = 0

    @property
    def name(self) -> str:
        """As in "consumer.consumer: drop guard `if c.consumer_reads != NOTHING: return ...`"."""
        where = f"{self.module.partition('.')[2]}.{self.function}"
        again = f" ({self.nth + 1})" if self.nth else ""
        return f"{where}: {self.kind} `{_short(self.old)}`{again}"

    @property
    def edit_anywhere(self) -> str:
        """The same edit in whatever function, as in "*: drop guard `if is_late: return ...`"."""
        return f"*: {self.kind} `{_short(self.old)}`"

    @property
    def difference(self) -> str:
        """The edit in one line, with its place."""
        place = f"{self.path.parent.name}/{self.path.name}:{self.line}"
        return f"{place}: {self.kind}: {_short(self.old)}  ->  {_short(self.new)}"

    @cached_property
    def text(self) -> str:
        """The file with the edit."""
        text = self.path.read_text(encoding="utf-8")
        return text[: self.start] + self.new + text[self.end :]

    def apply(self) -> None:
        """Put the edit into the loaded function, for the rest of this process."""
        linecache.cache[str(self.path)] = (
            *(len(self.text), None),
            self.text.splitlines(keepends=True),
            str(self.path),
        )
        module = compile(self.text, str(self.path), "exec")
        found = [each for each in module.co_consts if isinstance(each, CodeType)]
        [code] = [each for each in found if each.co_name == self.function]
        self.loaded.__code__ = code
        forget_variants(self.loaded)

    @property
    def loaded(self) -> FunctionType:
        """The function itself."""
        return vars(inspect.importlib.import_module(self.module))[self.function]


def forget_variants(function: FunctionType) -> None:
    """Forget what plain Python runs in a function's place: it was made from the code as it was."""
    evaluation._made.pop(function, None)
    transitions._with_depths.cache_clear()


def _short(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


# --- What a spec's actions reach -----------------------------------------------------------------


def reached_functions(spec_name: str) -> list[FunctionType]:
    """The functions of the spec's package that its initial states and actions call, in the order of
    the files; those that draw are left out."""
    spec, package = load(spec_name), f"{spec_name.partition('.')[0]}_spec."
    waiting: list[Callable] = []
    for action in [*spec.inits, *spec.actions]:
        waiting += [action.function, *filter(None, [action.multiplicity])]
        waiting += [bound for domain in action.domains.values() for bound in _callables(domain)]
    found: dict[Callable, None] = {}
    while waiting:
        function = waiting.pop()
        if _is_own(function, package) and function not in found:
            found[function] = None
            waiting += names_read(function).values()
    return sorted(found, key=lambda each: (each.__module__, each.__code__.co_firstlineno))


def _callables(domain: Domain) -> list[Callable]:
    return [each for each in getattr(domain, "__dict__", {}).values() if callable(each)]


def _is_own(value: object, package: str) -> bool:
    return (
        isinstance(value, FunctionType)
        and value.__module__.startswith(package)
        and ".draw" not in value.__module__
        and vars(inspect.importlib.import_module(value.__module__)).get(value.__name__) is value
    )


# --- The edits -----------------------------------------------------------------------------------


def mutants_of(spec_name: str) -> list[Mutant]:
    """Every mutant of the functions that a spec's actions reach, in the order of the files."""
    return [each for function in reached_functions(spec_name) for each in _of(function)]


def _of(function: FunctionType) -> list[Mutant]:
    path = Path(inspect.getfile(function))
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        text = source[starts[line - 1] : starts[line]]
        return starts[line - 1] + len(text.encode()[:column].decode())

    tree = next(
        each
        for each in ast.parse(source).body
        if isinstance(each, ast.FunctionDef) and each.name == function.__name__
    )
    found: dict[str, Mutant] = {}
    for kind, node, new in _edits(tree):
        start, end = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
        old = source[start:end]
        place = (path, node.lineno, start, end)
        mutant = Mutant(function.__module__, function.__name__, kind, *place, old, new)
        while mutant.name in found:
            mutant = replace(mutant, nth=mutant.nth + 1)
        found[mutant.name] = mutant
    return list(found.values())


def _edits(function: ast.FunctionDef) -> Iterator[Edit]:
    """All edits of a function's body, in the order of its text."""
    says_yes_or_no = isinstance(function.returns, ast.Name) and function.returns.id == "bool"
    assigned = {each.arg for each in function.args.args}
    for node in _in_order(function):
        match node:
            case ast.If(body=[ast.Return() | ast.Continue()], orelse=[]):
                yield "drop guard", node, "pass"
                yield from _negated(node.test)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield from _negated(test)
            case ast.comprehension(ifs=tests):
                for test in tests:
                    yield from _negated(test)
            case ast.Return(value=ast.Compare() | ast.BoolOp() | ast.UnaryOp() as answer):
                yield from _negated(answer)
            case ast.Return(value=ast.Call() as answer) if says_yes_or_no:
                yield from _negated(answer)
            case ast.BoolOp(values=operands):
                for operand in operands:
                    yield "drop operand", operand, str(isinstance(node.op, ast.And))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPPED:
                new = f"{ast.unparse(left)} {SWAPPED[type(op)]} {ast.unparse(right)}"
                yield "off by one", node, f"({new})"
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
                yield "off by one", node, f"({ast.unparse(left)})"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
                yield "drop effect", node, "pass"
            case ast.Assign(targets=[ast.Name(id=name)]):
                if name in assigned:  # else the name would be missing, which any test notices
                    yield "drop effect", node, "pass"
                assigned.add(name)
            case ast.Expr(value=ast.Call()):
                yield "drop effect", node, "pass"


def _negated(condition: ast.expr) -> Iterator[Edit]:
    yield "negate", condition, f"(not ({ast.unparse(condition)}))"


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body, each before those within it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arguments):
            continue
        yield child
        yield from _in_order(child)


def sources(package: str) -> list[Path]:
    """The files of a package of specs, also those in its folders."""
    folder = Path(next(iter(inspect.importlib.import_module(f"{package}_spec").__path__)))
    return sorted(folder.rglob("*.py"))


def source_hash(package: str) -> str:
    """A hash of the sources of a package of specs."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources(package))).hexdigest()[:16]
