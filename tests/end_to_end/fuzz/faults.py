"""Random faults: what has no value, or does not fit, in some states and not in others.

A fault depends on a number of the state, so that most are met late or never.
"""

from random import Random

from tests.end_to_end.fuzz.declarations import (
    ByNode,
    Flag,
    Line,
    Mask,
    Name,
    Number,
    OneNode,
    Pile,
    Slots,
)
from tests.end_to_end.fuzz.expressions import Expressions, NoWay, Scope


class Faults:
    """Draws faulty expressions and statements."""

    def __init__(self, chance: Random, write: Expressions):
        self.chance, self.write = chance, write

    def _growing(self, scope: Scope) -> str:
        """A number of the state that some states may have larger than others."""
        return self.write.one_of(
            lambda: self.write.place(scope, Number)[0],
            lambda: self.write.place(scope, Number)[0],
            lambda: self.write.place(scope, Name)[0],
            lambda: self.write.count(*self.write.place(scope, Line)),
            lambda: self.write.count(*self.write.place(scope, Pile)),
        )

    def number(self, scope: Scope) -> str:
        """A number that can't be computed in some states."""
        n, small = self._growing(scope), self.chance.randint(1, 3)
        return self.write.one_of(
            lambda: self._slot(scope),
            lambda: self._slot(scope),
            lambda: f"7 // ({n} - {small})",
            lambda: f"{n} % ({n} - {small})",
            lambda: f"(({n}) << 62) % 5",
            lambda: f"(({n} - {small}) << 63) % 5",
            lambda: f"(1 << ({n} - 1))",
            lambda: f"({n} * {2**62}) % 7",
            lambda: f"({n} + {2**63 - 1 - small}) % 7",
            lambda: f"(-({n}) - {2**63 - small}) % 7",
            lambda: f"{2**32} ** ({n}) % 7",
            lambda: f"2 ** ({n} - 1)",
            lambda: f"min(k for k in range({n}))",
            lambda: f"max({self._slot(scope)} for k in range(1, {n} + 1))",
            lambda: f"abs(-({n}) - {2**63 - small}) % 7",
        )

    def _slot(self, scope: Scope) -> str:
        text, kind = self._array(scope, written=False)
        if not isinstance(kind, Number | Name | OneNode):
            raise NoWay
        return text

    def _array(self, scope: Scope, written: bool) -> tuple:
        """A slot that an array does not have in some states, and the kind of what it holds."""
        kinds = (Slots, ByNode) if written else (Slots, ByNode, Line, Pile)
        text, kind = self.write.place(scope, *kinds, written=written)
        n = self._growing(scope)
        index = self.chance.choice([n, f"{n} - 1", f"-({n})", f"{n} + 1"])
        items = ".items" if isinstance(kind, Line | Pile) else ""
        return f"{text}{items}[{index}]", kind.item

    def statement(self, scope: Scope) -> str:
        """A statement that can't be carried out in some states."""
        return self.write.one_of(
            lambda: self._store(scope),
            lambda: self._store(scope),
            lambda: self._too_large(scope),
            lambda: self._too_large(scope),
            lambda: self._too_many(scope),
            lambda: self._too_many(scope),
            lambda: self._meaningless(scope),
            lambda: f'if {self.number(scope)} == 77:\n    return "never"',
            lambda: f"v_{self.chance.randint(0, 99)} = {self.number(scope)}",
            lambda: f"assert {self._growing(scope)} < {self.chance.randint(1, 3)}",
            lambda: self._late_refusal(scope),
            lambda: self._late_refusal(scope),
        )

    def _store(self, scope: Scope) -> str:
        text, kind = self._array(scope, written=True)
        return f"{text} = {self.write.value(scope, kind)}"

    def _too_large(self, scope: Scope) -> str:
        text, kind = self.write.place(scope, Number, written=True)
        width = {"Int16": 16000, "Int32": 2 * 10**9}.get(kind.text, 60)
        return self.chance.choice(
            [
                f"{text} = {text} * {width} + {width}",
                f"{text} = -{width} * ({text} + 1)",
                f"{text} = {text} + {width}",
                f"{text} = {self._growing(scope)} * {width}",
            ]
        )

    def _meaningless(self, scope: Scope) -> str:
        """A number that, in some states, is no node, set of nodes, name or flag."""
        kinds = (Name, Flag) if self.write.alike else (OneNode, Mask, Name, Flag)
        text, _ = self.write.place(scope, *kinds, written=True)
        return f"{text} = {self._growing(scope)} * {self.chance.choice([-1, 2, 5])}"

    def _too_many(self, scope: Scope) -> str:
        text, kind = self.write.place(scope, Line, Pile, written=True)
        put = "append" if isinstance(kind, Line) else self.chance.choice(["add", "add_once"])
        return f"{put}({text}, {self.write.value(scope, kind.item)})"

    def _late_refusal(self, scope: Scope) -> str:
        text, kind = self.write.place(scope, Number, Name, written=True)
        value = self.write.value(scope, kind)
        condition = f"{self._growing(scope)} >= {self.chance.randint(1, 3)}"
        return f'{text} = {value}\nif {condition}:\n    return "late"'
