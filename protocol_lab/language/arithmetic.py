"""Checked arithmetic on 64-bit integers: what the operators mean in a spec's functions.

Compiled code computes with 64 bits, Python with as many as it takes. Both must give the same
result, so in both a number that needs more than 64 bits is a Fault, and so is a division by zero.
`evaluation` runs plain functions with the operations of this module; `compiler.operations.integers`
has their compiled versions. `&`, `|`, `^` and `~` need no check.
"""

import ast
from typing import Any

from protocol_lab.errors import Fault
from protocol_lab.language.loop_bound import MOST_TURNS

LOW, HIGH = -(2**63), 2**63 - 1

_TOO_MANY_BITS = 64
"""After a left shift by this many bits no number other than 0 fits."""


def checked(value: Any) -> Any:
    """The value; raises Fault for a whole number of more than 64 bits."""
    if isinstance(value, int) and not LOW <= value <= HIGH:
        told = str(value) if value.bit_length() < 128 else "a number"
        raise Fault(f"{told} needs more than 64 bits")
    return value


def checked_add(left: Any, right: Any) -> Any:
    """left + right."""
    value = left + right
    return value if type(value) is int and LOW <= value <= HIGH else checked(value)


def checked_sub(left: Any, right: Any) -> Any:
    """left - right."""
    value = left - right
    return value if type(value) is int and LOW <= value <= HIGH else checked(value)


def checked_mul(left: Any, right: Any) -> Any:
    """left * right; a list times a number repeats it, up to MOST_TURNS items."""
    if isinstance(right, list):
        left, right = right, left
    if isinstance(left, list) and right > MOST_TURNS:
        raise Fault(f"a list of more than {MOST_TURNS:,} numbers")
    return checked(left * right)


def checked_floordiv(left: Any, right: Any) -> Any:
    """left // right."""
    if right == 0:
        raise Fault("division by zero")
    return checked(left // right)


def checked_mod(left: Any, right: Any) -> Any:
    """left % right."""
    if right == 0:
        raise Fault("division by zero")
    return left % right


def checked_pow(base: Any, exponent: Any) -> Any:
    """base ** exponent; raises Fault for a negative exponent, too: that would be a fraction."""
    if exponent < 0:
        raise Fault(f"{base} ** {exponent} is not a whole number")
    if exponent >= _TOO_MANY_BITS and abs(base) > 1:
        raise Fault(f"{base} ** {exponent} needs more than 64 bits")
    return checked(base**exponent)


def checked_lshift(number: Any, count: Any) -> Any:
    """number << count; raises Fault for a negative count, too."""
    _check_count(count)
    if count >= _TOO_MANY_BITS and number:
        raise Fault(f"{number} << {count} needs more than 64 bits")
    return checked(number << count) if number else 0


def checked_rshift(number: Any, count: Any) -> Any:
    """number >> count; raises Fault for a negative count."""
    _check_count(count)
    return number >> count


def checked_neg(number: Any) -> Any:
    """-number."""
    return checked(-number)


def checked_abs(number: Any) -> Any:
    """abs(number)."""
    return checked(abs(number))


def _check_count(count: int) -> None:
    if count < 0:
        raise Fault(f"a shift by {count} bits")


OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "checked_add",
    ast.Sub: "checked_sub",
    ast.Mult: "checked_mul",
    ast.FloorDiv: "checked_floordiv",
    ast.Mod: "checked_mod",
    ast.Pow: "checked_pow",
    ast.LShift: "checked_lshift",
    ast.RShift: "checked_rshift",
    ast.USub: "checked_neg",
}
"""The checked operators, and the functions of this module that replace them."""

OPERATIONS = {name: globals()[name] for name in (*OPERATORS.values(), "checked_abs")}
"""These functions by name, for code that calls them."""


def as_call(node: ast.BinOp | ast.UnaryOp) -> ast.expr:
    """The call that replaces an operator; the node itself if that operator is not checked."""
    name = OPERATORS.get(type(node.op))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return node  # a negative literal
    if name is None:
        return node
    operands = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
    call = ast.Call(ast.Name(name, ast.Load()), operands, [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def computed_once(node: ast.AugAssign) -> tuple[list[ast.stmt], ast.expr]:
    """The target of `target += value` with names in place of its indices, and the statements before
    it that assign those names; the target alone if nothing is called.

    The target is read, then the value, and then the target is stored. A call in either of them,
    such as s.count[pop_first(s.queue)], may change what an index reads.
    """
    if not any(isinstance(each, ast.Call) for each in ast.walk(node)):
        return [], node.target
    return _with_names(node.target)


def _with_names(target: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    match target:
        case ast.Attribute(value):
            before, target.value = _with_names(value)
            return before, target
        case ast.Subscript(value, index):
            before, target.value = _with_names(value)
            own, target.slice = named(index)
            return [*before, *own], target
    return named(target)


def named(node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """A name in place of an expression, and the statement before that assigns it; nothing changes
    for a variable or a number, which no call can change."""
    if isinstance(node, ast.Name | ast.Constant):
        return [], node
    name = f"_at_{node.lineno}_{node.col_offset}"
    assigned = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node), node)
    read = ast.copy_location(ast.Name(name, ast.Load()), node)
    return [ast.fix_missing_locations(assigned)], read


def checked_operators(tree: ast.AST) -> ast.AST:
    """An expression with calls in place of its operators."""

    class Replace(ast.NodeTransformer):
        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            self.generic_visit(node)
            return as_call(node)

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            self.generic_visit(node)
            return as_call(node)

    return Replace().visit(tree)
