"""A plain function as it was read: its syntax tree, and which names are whose.

Each function is read once, for all that analyse it. The variables of a comprehension are its own:
in `[old.x for old in s.box]`, `old` is not the function's variable of that name. So there is the
tree `as_written`, for people, and the tree `apart`, in which every variable has a name of its own.
"""

import ast
import copy
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

from protocol_lab.errors import LabError
from protocol_lab.reader.source_code import APART, names_read, parse, source_lines

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Reading:
    """What the source of one function says. The trees are shared: copy them to change them.

    `lines` are those of the file or cell, decorators included, from number `first_line`.
    """

    def __init__(self, function: Callable):
        self.code = function.__code__
        self.as_written = parse(function)
        self.lines, self.first_line = source_lines(function)
        self.parameters = self.code.co_varnames[: self.code.co_argcount]
        self._outside = names_read(function).keys()
        self._compiled: dict[ast.AST, tuple[types.CodeType, bool]] = {}

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements as they are written, without the docstring."""
        begin = 0 if ast.get_docstring(self.as_written) is None else 1
        return self.as_written.body[begin:]

    @cached_property
    def apart(self) -> ast.FunctionDef:
        """The tree in which each comprehension's variables have names that nothing else has."""
        taken = {*self.parameters, *self._outside, *names_assigned(self.as_written)}
        return _Apart(taken).visit(copy.deepcopy(self.as_written))

    @cached_property
    def variables(self) -> frozenset[str]:
        """All names of its own in the tree `apart`, parameters included."""
        stored = (each for each in ast.walk(self.apart) if isinstance(each, ast.Name))
        own = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
        return own.union(self.parameters, self.code.co_cellvars)

    @cached_property
    def times_assigned(self) -> Counter[str]:
        """How often the code assigns each of the function's variables."""
        return Counter(names_assigned(self.as_written))

    @cached_property
    def aliases(self) -> dict[str, ast.expr]:
        """The variables that stand for one expression (`mine = s.replica_log[follower]`)."""
        return {
            target.id: value
            for target, value in assignments(self.as_written)
            if isinstance(target, ast.Name)
            and self.times_assigned[target.id] == (target.id not in self.parameters)
            and self.is_stable(value)
        }

    def is_stable(self, node: ast.expr) -> bool:
        """Does the expression read only names that are assigned once, so that it can be evaluated
        again?"""
        return all(
            self.times_assigned[each.id] <= (each.id not in self.parameters)
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
        )

    # --- What was run, for explanations ----------------------------------------------------------

    @property
    def expression(self) -> ast.expr | None:
        """The expression that the function returns, if it does nothing else."""
        single = len(self.body) == 1 and isinstance(self.body[0], ast.Return)
        return self.body[0].value if single else None

    def compiled(self, node: ast.expr | ast.stmt) -> tuple[types.CodeType, bool]:
        """The code of one expression or simple statement, and whether it has inner scopes.

        Names of the function that a generator expression reads have to be global there.
        """
        found = self._compiled.get(node)
        if found is None:
            is_value = isinstance(node, ast.expr)
            tree = ast.Expression(node) if is_value else ast.Module([node], [])
            code = compile(tree, self.code.co_filename, "eval" if is_value else "exec")
            has_scopes = any(isinstance(each, types.CodeType) for each in code.co_consts)
            found = self._compiled[node] = (code, has_scopes)
        return found

    @cached_property
    def parents(self) -> dict[ast.stmt, tuple[ast.stmt | None, list[ast.stmt]]]:
        """Each statement's parent, and the block that contains it."""
        found = dict.fromkeys(self.body, (None, self.body))
        for each in found.copy():
            for inner in (node for node in ast.walk(each) if isinstance(node, ast.stmt)):
                for block in (getattr(inner, "body", []), getattr(inner, "orelse", [])):
                    found |= dict.fromkeys(block, (inner, block))
        return found

    def enclosing(self, node: ast.stmt) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
        """Every statement around a node, from the inside out, with the block of it that contains
        the node."""
        parent, block = self.parents[node]
        while parent is not None:
            yield parent, block
            parent, block = self.parents[parent]


_readings: WeakKeyDictionary[Callable, Reading] = WeakKeyDictionary()


def reading(function: Callable) -> Reading:
    """The `Reading` of a function. Raises LabError if its source can't be read."""
    known = _readings.get(function)
    if known is None or known.code is not function.__code__:
        known = _readings[function] = Reading(function)
    return known


def readable(functions: Iterable[Callable]) -> Iterator[Callable]:
    """The functions whose source can be read. Only the compiler needs the others', and says so."""
    for each in functions:
        try:
            reading(each)
        except LabError:
            continue
        yield each


def names_assigned(node: ast.AST) -> Iterator[str]:
    """The names that code assigns, but for the variables of comprehensions, which end with them."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not isinstance(node, ast.comprehension) or child is not node.target:
            yield from names_assigned(child)


def loop_sources(loop: ast.For | ast.comprehension) -> Iterator[tuple[str, ast.expr]]:
    """Each variable of a loop with what it goes through: with enumerate and zip, the part of it."""
    match loop.target, loop.iter:
        case ast.Name(name), items:
            yield name, items
        case ast.Tuple(parts), ast.Call(ast.Name("enumerate" | "zip" as how), through):
            sources = through if how == "zip" else [ast.Tuple([], ast.Load()), *through]
            for part, items in zip(parts, sources, strict=False):
                if isinstance(part, ast.Name):
                    yield part.id, items


def assignments(*trees: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target in the code with the expression that is assigned to it."""
    for each in (node for tree in trees for node in ast.walk(tree)):
        match each:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                yield from zip(targets, values, strict=False)
            case ast.Assign([target], value):
                yield target, value
            case ast.AnnAssign(target, _, value) if value is not None:
                yield target, value


class _Apart(ast.NodeTransformer):
    """Renames the variables of comprehensions that have a name which is taken."""

    def __init__(self, taken: set[str]):
        self.taken, self.renamed = taken, {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renamed.get(node.id, node.id)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, COMPREHENSIONS):
            return super().generic_visit(node)
        outside, own = self.renamed, [each.target for each in node.generators]
        node.generators[0].iter, first = ast.Constant(0), self.visit(node.generators[0].iter)
        self.renamed = outside | {
            name: self._free(name) for each in own for name in names_assigned(each)
        }
        super().generic_visit(node)
        node.generators[0].iter, self.renamed = first, outside
        return node

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += APART
        self.taken.add(name)
        return name
