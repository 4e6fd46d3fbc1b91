"""How many of an action's first parameters a refusal depends on.

A guard that does not look at the last parameters refuses for all their values if it does for one.
So where it refused for the first choice of them, the others need not be tried. What a `return`
depends on is read from the syntax: the parameters that occur in the statements up to it. Engines
run the action with this number beside each of its answers; what a refusal is does not change.
"""

import ast
import copy
from collections.abc import Callable, Sequence

from protocol_lab.spec.parameters import Domain, Range, Sequences, Subset, names_used

Answer = Callable[[ast.Return, int], ast.expr]
"""Makes the value of a return, given how many parameters it depends on."""


def with_depths(
    tree: ast.FunctionDef, parameters: Sequence[str], answer: Answer
) -> ast.FunctionDef:
    """A copy of a function in which `answer` has replaced the value of each return."""
    tree = copy.deepcopy(tree)
    _Depths(parameters, answer).block(tree.body, 0)
    return tree


class _Depths:
    def __init__(self, parameters: Sequence[str], answer: Answer):
        self.number = {name: k for k, name in enumerate(parameters, 1)}
        self.answer = answer

    def block(self, statements: list[ast.stmt], depth: int) -> int:
        """Answer the returns in these statements; the parameters that those after them depend on.

        depth: those that it depends on whether they are run, and after what.
        """
        for each in statements:
            match each:
                case ast.If(test, body, orelse):
                    asked = self._seen(test, depth)
                    depth = max(self.block(body, asked), self.block(orelse, asked))
                case _:
                    depth = self._seen(each, depth)
                    for node in ast.walk(each):
                        if isinstance(node, ast.Return):
                            answered = self.answer(node, depth)
                            node.value = ast.fix_missing_locations(
                                ast.copy_location(answered, node)
                            )
        return depth

    def _seen(self, tree: ast.AST, depth: int) -> int:
        names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
        return max(depth, *(self.number.get(name, 0) for name in names), 0)


def as_pair(returned: ast.Return, depth: int) -> ast.expr:
    """(what is returned, its depth)."""
    value = returned.value or ast.Constant(None)
    return ast.Tuple([value, ast.Constant(depth)], ast.Load())


def same_for_all(domains: dict[str, Domain], depth: int) -> int:
    """After a refusal that depends on `depth` parameters: of how many the first choice of the
    others stands for all choices of them.

    It is more than `depth` if a later parameter's bounds look at one that is after those: they
    might have no value for some other choice.
    """
    names = list(domains)
    looked_at = [
        max(
            (names.index(each) + 1 for each in _names_in_bounds(domain) if each in names), default=0
        )
        for domain in domains.values()
    ]
    while any(each > depth for each in looked_at[depth + 1 :]):
        depth += 1
    return depth


def _names_in_bounds(domain: Domain) -> list[str]:
    match domain:
        case Range(low, high):
            bounds = (low, high)
        case Sequences(low, high, length):
            bounds = (low, high, length)
        case Subset(of):
            bounds = (of,)
        case _:
            bounds = ()
    return [name for each in bounds if callable(each) for name in names_used(each)]
