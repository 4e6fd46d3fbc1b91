"""Rewrites the syntax tree of a plain function into calls that Numba can compile.

    x.field = v        becomes   set_field(x, "field", v)      checked, never wraps around
    x[i] = v           becomes   set_item(x, i, v)             checked
    x[i]               becomes   get_item(x, i)                checked; a number is read as int64
    a * b              becomes   checked_mul(a, b)             checked; see OPERATORS
    Record(id=1)       becomes   a zeroed record with its fields set
    all(... for ...)   becomes   a small function with a loop; also any, sum, min and max
    while test: ...    counts its turns, as a loop over a range does; see MOST_TURNS
    predicate(s, r)    becomes   the expression that it returns, if that is all it does
    [0] * n            becomes   _new_list(0, n)               an array, see `operations.integers`
    a == b in c        becomes   a == b and b in c
    x.mode == "idle"   becomes   equal(x.mode, 0)              see `reader.named_values`
    node in x.nodes    becomes   contains(x.nodes, node)       see `reader.named_values`
    for m in x: ...    fails if its body changes x             see `operations.bags`

Inlining predicates is for speed only: every function that Numba compiles takes a tenth of a second.
"""

import ast
import copy
import textwrap
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

from protocol_lab.errors import LabError, place
from protocol_lab.model.layout import ArrayLayout, Struct, StructLayout, is_struct
from protocol_lab.model.parameters import Sequences
from protocol_lab.model.transitions import enabled
from protocol_lab.reader.named_values import SET_OPERATIONS, TAKE_ITEMS, Resolved, call_of
from protocol_lab.reader.possible_steps import possible
from protocol_lab.reader.reading import names_assigned, reading
from protocol_lab.reader.side_effects import calls_what_changes, changes, own_lists
from protocol_lab.reader.source_code import is_plain, names_read
from protocol_lab.reader.unsupported_syntax import REDUCERS, refuse
from protocol_lab.reader.value_flow import Body

MOST_TURNS = 1_000_000
"""The most turns that a `while`, or a loop over a range, may take each time it is entered. Nothing
can interrupt compiled code: there one that takes more is a Fault."""

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "checked_add",
    ast.Sub: "checked_sub",
    ast.FloorDiv: "checked_div",
    ast.Mult: "checked_mul",
    ast.Pow: "checked_pow",
    ast.LShift: "checked_lshift",
    ast.RShift: "checked_rshift",
}
"""The checked operators, and the compiled functions that replace them (see `operations.integers`).
Compiled code computes with 64 bits, Python with as many as it takes: a result that needs more is a
Fault. Fields and constants have 32 bits, so sums of them and of short numbers are not checked."""

_CHANGE_NOTHING = {"equal": len, "get_item": len, "range": len}
"""Names that other rewriting puts in, as functions that change nothing."""

GENERATED_NAMES = ("_each", "_first", "_best", "_value", "_total", "_default")
"""The variables of the functions that generator expressions become."""

_SCOPES = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.Lambda, ast.NamedExpr)


@cache
def _can_be_inlined(function: Callable) -> bool:
    """Is all that a function does to return an expression, which can stand in a caller?"""
    refuse(function)
    found = reading(function).expression
    return (
        found is not None
        and not function.__code__.co_freevars
        and not any(isinstance(each, _SCOPES) for each in ast.walk(found))
        and not changes(function)  # else its arguments would be read after the change
    )


def rewritten(
    function: Callable,
    tree: ast.FunctionDef,
    constructor: Callable[[type[Struct], tuple[str, ...]], Any],
    body: Body,
) -> tuple[ast.FunctionDef, list[ast.FunctionDef], dict[str, Any]]:
    """A plain function, given with its syntax tree, rewritten for Numba; the helper functions that
    it needs; and the values of the names that they read.

    constructor: gives a compiled function that makes a record of a Struct class with these fields.
    body: the function as it was followed with this tree, by which names of values and sets of nodes
    are known. Raises LabError for code that can't be compiled.
    """
    names = {**names_read(function), **SET_OPERATIONS, function.__name__: None}
    rewriter = _Rewriter(function, names, constructor, body)
    tree = rewriter.visit(Resolved(body).visit(tree))
    return tree, rewriter.extra, rewriter.names


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function, and collects the names that the rewritten code needs."""

    def __init__(
        self,
        function: Callable,
        names: dict[str, Any],
        constructor: Callable[[type[Struct], tuple[str, ...]], Any],
        body: Body,
    ):
        self.function, self.names = function, names
        self.local_names = reading(function).variables
        self.constructor, self.body = constructor, body
        self.extra: list[ast.FunctionDef] = []
        self.changing: set[ast.GeneratorExp] = set()
        self.loops = 0

    def _refusal(self, node: Any, told: str) -> LabError:
        """The error for code that can't be compiled."""
        where = place(self.function.__code__.co_filename, node.lineno)
        return LabError(f"{self.function.__qualname__} can't be compiled ({where}): {told}.")

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            self._expect_numbers(node, node.value.elts)
        self.generic_visit(node)
        if len(node.targets) > 1:
            return node  # of variables: `unsupported_syntax` allows nothing else
        return self._store(node, node.targets[0], node.value)

    def _changes(self, *code: ast.AST) -> bool:
        """May the code, which is not rewritten yet, change something?"""
        return calls_what_changes(code, {**self.names, **_CHANGE_NOTHING})

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        present = self.visit(read)
        self.generic_visit(node)
        changed = self._operation(ast.BinOp(present, node.op, node.value))
        if isinstance(node.target, ast.Name):
            return ast.copy_location(ast.Assign([node.target], changed), node)
        return self._store(node, node.target, changed)

    def _store(self, node: ast.AST, target: ast.AST, value: ast.expr) -> ast.AST:
        value = value if isinstance(target, ast.Name) else self._items(value)
        if isinstance(target, ast.Attribute):
            call = call_of("set_field", target.value, ast.Constant(target.attr), value)
        elif isinstance(target, ast.Subscript):
            call = call_of("set_item", target.value, target.slice, value)
        else:
            return node
        return ast.copy_location(ast.Expr(call), node)

    def _items(self, value: ast.expr) -> ast.expr:
        """A list with what an array is to hold as a tuple, in which there may also be records."""
        if isinstance(value, ast.Dict):
            raise self._refusal(value, "write the items for all nodes as a list, from node 1 on")
        if isinstance(value, ast.IfExp):
            value.body, value.orelse = self._items(value.body), self._items(value.orelse)
        if isinstance(value, ast.List):
            items = ast.Tuple([self._items(each) for each in value.elts], ast.Load())
            return ast.copy_location(items, value)
        return value

    def _expect_numbers(self, node: ast.AST, items: list[ast.expr]) -> None:
        """Raise LabError for records in a list that is not written where it is stored."""
        if any(isinstance(self.body.layout(e), StructLayout | ArrayLayout) for e in items):
            told = "write a list of records item by item, and where it is stored"
            raise self._refusal(node, told)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return ast.copy_location(call_of("get_item", node.value, node.slice), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return node
        [op], [right] = node.ops, node.comparators
        if isinstance(op, ast.In):
            return ast.copy_location(self._is_among(node.left, right) or node, node)
        if isinstance(op, ast.NotIn):
            found = self._is_among(node.left, right)
            return ast.copy_location(ast.UnaryOp(ast.Not(), found) if found else node, node)
        if not isinstance(op, ast.Eq | ast.NotEq) or _is_number(node.left) or _is_number(right):
            return node
        name = "equal" if isinstance(op, ast.Eq) else "unequal"
        return ast.copy_location(call_of(name, *map(self._items, (node.left, right))), node)

    def _is_among(self, value: ast.expr, items: ast.expr) -> ast.expr | None:
        """`value in items` among texts, for which Numba would answer False; None for others."""
        if isinstance(items, ast.Tuple | ast.List | ast.Set):
            if not any(map(_is_text, items.elts)):
                return None
            if not _is_simple(value):
                raise self._refusal(value, "give what is compared with several texts a name first")
            found = [call_of("equal", copy.deepcopy(value), each) for each in items.elts]
            return ast.BoolOp(ast.Or(), found) if len(found) > 1 else found[0]
        return call_of("contained", self._items(value), items)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = _asked(node.operand)
        if isinstance(node.op, ast.USub) and not _is_number(node.operand):
            negative = ast.BinOp(ast.Constant(0), ast.Sub(), node.operand)
            return self._operation(ast.copy_location(negative, node))
        if isinstance(node.op, ast.Invert):  # which Numba would take for `not` where it is a truth
            every_bit = ast.UnaryOp(ast.USub(), ast.Constant(1))
            return ast.copy_location(ast.BinOp(node.operand, ast.BitXor(), every_bit), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Mult):
            for each in (node.left, node.right):
                self._expect_numbers(node, getattr(each, "elts", []))
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.List([item]), ast.Mult(), count) | ast.BinOp(
                count, ast.Mult(), ast.List([item])
            ):
                return ast.copy_location(call_of("_new_list", item, count), node)
        return self._operation(node)

    def _operation(self, node: ast.BinOp) -> ast.expr:
        declared = self.function.__annotations__
        for each in (node.left, node.right):
            name = each.id if isinstance(each, ast.Name) else ""
            if name in own_lists(self.function) or isinstance(declared.get(name), Sequences):
                raise self._refusal(node, "a list can't be added or multiplied: write a loop")
            if _is_text(each):
                raise self._refusal(node, "write a text in one piece")
        name = None if _is_short(node) else OPERATORS.get(type(node.op))
        return ast.copy_location(call_of(name, node.left, node.right), node) if name else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [_asked(each) for each in node.values]
        return node

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _asked(node.test)
        return node

    visit_IfExp = visit_If

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        return self._counted(self.visit_If(node))

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        changes = self._changes(*node.body)
        self.generic_visit(node)
        return self._watched(node) if changes else self._counted(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        if self._changes(node.elt, *node.generators):
            self.changing.add(node)
        return self.generic_visit(node)

    def _watched(self, loop: ast.For) -> list[ast.stmt]:
        """The loop, which now raises Fault once its body has changed the sequences or bags that it
        goes through, and the statements before it."""
        if _is_range(loop.iter):
            return self._counted(loop)
        several = getattr(getattr(loop.iter, "func", None), "id", "") in ("enumerate", "zip")
        through = loop.iter.args if several else [loop.iter]
        before, asked = [], []
        for k, each in enumerate(through):
            self.loops += 1
            items, note = f"_items_{self.loops}", f"_note_{self.loops}"
            before += ast.parse(f"{items} = 0\n{note} = _noted({items})").body
            before[-2].value, through[k] = each, ast.Name(items, ast.Load())
            asked += ast.parse(f"_expect_noted({items}, {note})").body
        if not several:
            [loop.iter] = through
        for each in (node for one in (*before, *asked) for node in ast.walk(one)):
            ast.copy_location(each, loop)
        loop.body, loop.orelse = [*asked, *loop.body], [*copy.deepcopy(asked), *loop.orelse]
        return [*before, loop]

    def _counted(self, loop: ast.While | ast.For) -> list[ast.stmt]:
        """The loop, which now raises Fault after too many turns, and the statement before it."""
        if isinstance(loop, ast.For) and not _is_range(loop.iter):
            return [loop]
        self.loops += 1
        turns = f"_turns_{self.loops}"
        start, count = ast.parse(f"{turns} = 0\n{turns} = checked_turn({turns})").body
        for each in (*ast.walk(start), *ast.walk(count)):
            ast.copy_location(each, loop)
        loop.body.insert(0, count)
        if isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and loop.test.value:
            # Numba fails on a loop that nothing leaves, so this one is given a way out.
            test = ast.parse(f"{turns} >= 0", mode="eval").body
            loop.test, loop.orelse = test, ast.parse("raise Fault").body
        return [start, loop]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        name = node.func.id
        called = None if name in self.local_names else self.names.get(name)
        if name == "abs" and called is None:
            node.func = ast.copy_location(ast.Name("checked_abs", ast.Load()), node.func)
        if name in REDUCERS and len(node.args) == 1:
            return self._as_reduction(name, node)
        if is_struct(called):
            return self._as_record(called, node)
        if called in TAKE_ITEMS and len(node.args) == 2:
            node.args[1] = self._items(node.args[1])
        if called is enabled:
            return self._as_trial(node)
        if not is_plain(called):
            return node
        inlined = self._as_expression(called, node)
        if inlined is node:
            node.args = [self._as_number(each) for each in node.args]
        return inlined

    def _as_trial(self, node: ast.Call) -> ast.Call:
        """A call of the function that tries an action's parameters, in place of `enabled`."""
        match node.args:
            case [ast.Name(name), state, constants] if name not in self.local_names:
                given = {each.arg: self._as_number(each.value) for each in node.keywords}
            case _:
                raise self._refusal(
                    node, "enabled takes an action by its name, as in enabled(lend)"
                )
        trial = f"_enabled_{name}_{'_'.join(given)}"
        self.names[trial] = possible(self.names[name], tuple(given))
        return ast.copy_location(call_of(trial, state, constants, *given.values()), node)

    def _fixed(self, argument: ast.expr) -> Any:
        """The value of an argument that is a literal or a global name; None of any other."""
        if isinstance(argument, ast.Name) and argument.id not in self.local_names:
            return self.names.get(argument.id)
        return argument.value if isinstance(argument, ast.Constant) else None

    def _as_number(self, argument: ast.expr) -> ast.expr:
        """A literal argument, wrapped in a call that hides the literal from Numba."""
        is_number = type(self._fixed(argument)) is int
        return call_of("as_number", argument) if is_number else argument

    def _as_expression(self, called: Callable, node: ast.Call) -> ast.expr:
        """The called function's expression with the arguments in place of its parameters."""
        parameters = called.__code__.co_varnames[: called.__code__.co_argcount]
        fits = len(node.args) == len(parameters) and not node.keywords
        if not _can_be_inlined(called) or not fits or not all(map(_is_simple, node.args)):
            return node
        tree, given = copy.deepcopy(reading(called).apart), self.body.given.get(node)
        flow = self.body.flow
        body = flow.follow(called, given, tree=tree) if given else flow.follow_entry(called, tree)
        self.body.given |= body.given
        arguments = dict(zip(parameters, node.args, strict=True))
        for name, value in names_read(called).items():
            alias = name
            while alias in self.local_names or self.names.get(alias, value) is not value:
                alias = f"{called.__name__}__{alias}"
            self.names[alias] = value
            arguments[name] = ast.Name(alias, ast.Load())
        texts = {each for each in parameters if isinstance(self._fixed(arguments[each]), str)}
        expression = Resolved(body, texts).visit(tree.body[-1].value)
        return self.visit(_substituted(expression, arguments))

    def _as_record(self, declared: type[Struct], node: ast.Call) -> ast.Call:
        fields = tuple(keyword.arg for keyword in node.keywords)
        name = "_".join(["_new", declared.__name__, *fields])
        self.names.setdefault(name, self.constructor(declared, fields))
        values = ast.Tuple([self._items(each.value) for each in node.keywords], ast.Load())
        return ast.copy_location(call_of(name, values), node)

    def _as_reduction(self, reducer: str, node: ast.Call) -> ast.expr:
        """sum, min and the like of one argument, with a default or without."""
        [items] = node.args
        options = {each.arg: each.value for each in node.keywords}
        default = options.pop("default", None) if reducer in ("min", "max") else None
        if options:
            raise self._refusal(node, f"{reducer}() has no {next(iter(options))} here")
        if isinstance(items, ast.GeneratorExp):
            return self._as_loop(reducer, items, default)
        if isinstance(items, ast.Tuple) and len(items.elts) > 1:
            if reducer != "sum":
                return ast.copy_location(call_of(reducer, *items.elts), node)
            added = reduce(lambda *both: call_of("checked_add", *both), items.elts)
            return ast.copy_location(added, node)
        each = ast.comprehension(ast.Name("_each", ast.Store()), items, [], 0)
        loop = ast.GeneratorExp(ast.Name("_each", ast.Load()), [each])
        return self._as_loop(reducer, ast.copy_location(loop, node), default)

    def _as_loop(self, reducer: str, node: ast.GeneratorExp, default: ast.expr | None) -> ast.Call:
        name = f"_{reducer}_{len(self.extra)}"
        targets = {name for each in node.generators for name in names_assigned(each.target)}
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        outer = sorted((used & self.local_names) - targets)
        given: list[ast.expr] = [ast.Name(each, ast.Load()) for each in outer]
        if default is not None:
            outer, given = [*outer, "_default"], [*given, self._as_number(default)]
        start, step, end = _REDUCTIONS[reducer]
        end = end.replace("NOTHING", "raise Fault" if default is None else "return _default")
        body = ast.parse(textwrap.dedent(step)).body
        value = _asked(node.elt) if reducer in ("all", "any") else node.elt
        body = [_substituted(statement, {"VALUE": value}) for statement in body]
        for generator in reversed(node.generators):
            for condition in reversed(generator.ifs):
                body = [ast.If(_asked(condition), body, [])]
            loop = ast.copy_location(ast.For(generator.target, generator.iter, body, []), node)
            body = self._watched(loop) if node in self.changing else self._counted(loop)
        text = textwrap.indent(f"{start}\n{end}", "    ")
        function = ast.parse(f"def {name}({', '.join(outer)}):\n{text}").body[0]
        function.body[1:1] = body
        self.extra.append(ast.copy_location(function, node))
        return ast.copy_location(call_of(name, *given), node)


_REDUCTIONS = {
    "all": ("pass", "if not (VALUE):\n    return False", "return True"),
    "any": ("pass", "if VALUE:\n    return True", "return False"),
    "sum": ("_total = 0", "_total = checked_add(_total, VALUE)", "return _total"),
    "min": (
        "_first, _best = True, 0",
        "_value = VALUE\nif _first or _value < _best:\n    _first, _best = False, _value",
        "if _first:\n    NOTHING\nreturn _best",
    ),
    "max": (
        "_first, _best = True, 0",
        "_value = VALUE\nif _first or _value > _best:\n    _first, _best = False, _value",
        "if _first:\n    NOTHING\nreturn _best",
    ),
}


def _substituted(tree: Any, values: dict[str, ast.expr]) -> Any:
    """The tree with expressions in place of names."""

    class Substitute(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(values.get(node.id, node))

    return Substitute().visit(tree)


def _asked(test: ast.expr) -> ast.expr:
    """An expression that is asked whether it is true; compiling it fails for an array or record."""
    match test:
        case ast.Name() | ast.Attribute() | ast.Call(ast.Name("get_item")):
            return ast.copy_location(call_of("_asked", test), test)
    return test


def _is_range(items: ast.expr) -> bool:
    """Does a loop go over a range?"""
    return isinstance(items, ast.Call) and getattr(items.func, "id", "") == "range"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_short(value: ast.expr) -> bool:
    """Is it a field, a constant, a number of 32 bits, or a sum or difference of such?"""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        return _is_short(value.left) and _is_short(value.right)
    return isinstance(value, ast.Attribute) or (_is_number(value) and value.value < 2**32)


def _is_simple(argument: ast.expr) -> bool:
    """Is the argument short and without calls, so that it can be written several times?"""
    return sum(1 for _ in ast.walk(argument)) < 16 and not any(
        isinstance(each, ast.Call | ast.BoolOp | ast.IfExp)
        and getattr(getattr(each, "func", None), "id", "") not in OPERATORS.values()
        for each in ast.walk(argument)
    )
