"""Writes a random spec as the text of a module, always the same one for a seed and a number.

Compiling a function takes far longer than exploring some hundred states. So FAMILY specs that
follow each other share their declarations and draw their functions from one pool.
"""

import linecache
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from protocol_lab.errors import LabError
from tests.end_to_end.fuzz.comparison import reached
from tests.end_to_end.fuzz.declarations import (
    ByNode,
    Declarations,
    Flag,
    Line,
    Mask,
    Name,
    Number,
    OneNode,
    Pile,
    Record,
    Slots,
    is_in,
    random_declarations,
)
from tests.end_to_end.fuzz.expressions import Expressions, NoWay, Scope
from tests.end_to_end.fuzz.faults import Faults

FAMILY = 10

TRIES, FEW_STATES, MANY_STATES = 8, 6, 100
"""How often pools and specs are drawn again that have few states."""

HEAD = '''"""Spec {number} of seed {seed}."""

from typing import Annotated, NamedTuple

from protocol_lab import (
    HOLDS, NONE, TAKEN, Array, Bag, Bool, Int8, Int16, Int32, Limits, Member, Named, Node, NodeSet,
    Per, Range, Seq, Sequences, Spec, Struct, Subset, add, add_once, always, always_eventually,
    append, contains, erase, eventually, eventually_always, find, is_in, is_subset, last, leads_to,
    members, nodes_up_to, only, pop_first, remove_at, size, smallest, take, truncate,
    with_node, without_node,
)

{declarations}


spec = Spec("{name}", State, Constants, "A random spec.")
'''


def spec_name(seed: int, number: int) -> str:
    """The name under which the kit knows the spec; its module is `module_name` of it."""
    return f"fuzz.seed_{seed}_spec_{number}"


def generate(seed: int, number: int) -> str:
    """The text of a module that declares `spec`."""
    pool = _pool(seed, number // FAMILY)
    chance = Random(f"{seed} {number}")
    heading = {"seed": seed, "number": number, "name": spec_name(seed, number)}
    text = ""
    for _ in range(TRIES):
        kept = _sample(chance, pool.parts)
        values = {name: chance.choice(values) for name, values in pool.declared.values}
        text = _module(pool, kept, values, claims=chance.random() < 0.7, **heading)
        if states_of(text) >= FEW_STATES:
            break
    return text


def _module(
    pool: "Pool", kept: list["Part"], values: dict[str, int], claims: bool, **heading: object
) -> str:
    parts = [each.text for each in pool.parts if each in kept or each.kind == "helper"]
    if pool.claims_symmetry and claims:
        parts.append("\n".join(f"spec.symmetric({e.name})" for e in pool.declared.nodes))
    head = HEAD.format(declarations=pool.declared.text(values), **heading)
    return head + "\n" + "\n".join(f"\n{each}\n" for each in parts)


def states_of(text: str) -> int:
    """How many states a spec has, by uncompiled steps; not counted beyond some."""
    name = f"<{hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict = {"__name__": "drawn"}
    exec(compile(text, name, "exec"), scope)
    try:
        return len(reached(scope["spec"].bind(), MANY_STATES)[0])
    except LabError:
        return MANY_STATES
    finally:
        del linecache.cache[name]


def family_name(seed: int, number: int) -> str:
    """The name of the module that a spec is loaded as: one for all that are drawn from one pool."""
    return f"seed_{seed}_family_{number // FAMILY}"


@dataclass(frozen=True)
class Part:
    """A function of a pool, with those that it alone calls. kind: what it is registered as."""

    kind: str
    text: str


COUNTS = {
    "init": (1, 1, 1, 2),
    "action": (2, 3, 3, 4, 4, 5),
    "invariant": (0, 1, 1, 2),
    "step_invariant": (0, 0, 1),
    "situation": (0, 0, 1),
    "constraint": (0, 0, 0, 1),
    "view": (0, 0, 1),
}
"""How many of each kind a spec may have."""


def _sample(chance: Random, parts: tuple[Part, ...]) -> list[Part]:
    kept: list[Part] = []
    for kind, counts in COUNTS.items():
        there = [each for each in parts if each.kind == kind]
        kept += chance.sample(there, min(len(there), chance.choice(counts)))
    faulty = [each for each in parts if each.kind.startswith("faulty")]
    return [*kept, *chance.sample(faulty, min(len(faulty), chance.choice((0, 0, 1))))]


@dataclass(frozen=True)
class Pool:
    """What the specs of one family have in common."""

    declared: Declarations
    parts: tuple[Part, ...]
    claims_symmetry: bool


@lru_cache(maxsize=2)
def _pool(seed: int, family: int) -> Pool:
    """The liveliest of some random ones: in most of them few actions can be taken."""
    chance, pools = Random(f"{seed} family {family}"), []
    for _ in range(TRIES):
        declared = random_declarations(chance)
        writer = _Writer(chance, declared)
        pool = Pool(declared, tuple(writer.parts()), writer.claims_symmetry)
        free = [each for each in pool.parts if each.kind in ("init", "action")]
        values = {name: values[-1] for name, values in declared.values}
        text = _module(pool, free, values, claims=False, seed=seed, number=0, name="fuzz.pool")
        pools.append((states_of(text), pool))
        if pools[-1][0] >= MANY_STATES:
            break
    return max(pools, key=lambda each: each[0])[1]


class _Writer:
    """Writes the functions of a pool."""

    def __init__(self, chance: Random, declared: Declarations):
        self.chance, self.declared = chance, declared
        self.claims_symmetry = chance.random() < 0.35
        self.alike = self.claims_symmetry and chance.random() < 0.7
        self.write = Expressions(chance, declared, self.alike)
        self.faults = Faults(chance, self.write)
        self.helpers: tuple[str, ...] = ()
        self.changing: tuple[str, ...] = ()
        self.aliased: list[str] = []  # the places that an action's variables stand for
        self.scope = self._state("s")

    def parts(self) -> list[Part]:
        """All functions, helpers first."""
        chance = self.chance
        written = [Part("helper", self._helper()) for _ in range(chance.choice([0, 1, 1, 2]))]
        written += [
            Part("helper", self._changing_helper()) for _ in range(chance.choice([0, 1, 2]))
        ]
        written += [Part("init", self._init(k)) for k in range(3)]
        written += [Part("action", self._action(k)) for k in range(6)]
        for kind, count in (("invariant", 3), ("step_invariant", 1), ("situation", 1)):
            written += [Part(kind, self._property(kind, k)) for k in range(count)]
        if chance.random() < 0.6:
            written.append(Part("constraint", self._property("constraint", 0)))
        if chance.random() < 0.3:
            written.append(Part("view", self._view()))
        written += self._faulty_parts()
        return [each for each in written if each.text]

    def _faulty_parts(self) -> list[Part]:
        """A few functions that fail in some states; no spec has more than one of them."""
        others = ["init", "invariant", "step_invariant", "situation", "constraint"]
        found = []
        for k, kind in enumerate(["action", "action", self.chance.choice(others)]):
            try:
                match kind:
                    case "action":
                        text = self._action(k + 90, is_faulty=True)
                    case "init":
                        text = self._init(90, is_faulty=True)
                    case _:
                        text = self._property(kind, 90, is_faulty=True)
                found.append(Part(f"faulty {kind}", text))
            except NoWay:
                continue
        return found

    def _state(self, name: str) -> Scope:
        return Scope(((name, self.declared.state),))

    # --- Functions -----------------------------------------------------------------------------

    def _helper(self) -> str:
        name, scope = f"helper_{len(self.helpers)}", self._state("s").with_number("x")
        body = [f"    return {self.write.number(scope)}"]
        shape = self.chance.random()
        if shape < 0.3:
            body.insert(0, f"    if {self.write.truth(scope)}:\n        return x")
        elif shape < 0.6:
            node = self.write.some_node()
            inner = scope.with_node("n", node).with_number("total")
            body = [
                "    total = 0",
                f"    for n in range(1, c.{node.count} + 1):",
                f"        if {self.write.truth(inner, 0)}:",
                f"            total += {self.write.number(inner, 0)}",
                "    return total % 100",
            ]
        self.helpers += (name,)
        self.scope = Scope(self.scope.roots, helpers=self.helpers)
        return f"def {name}(s, c, x) -> int:\n" + "\n".join(body)

    def _changing_helper(self) -> str:
        """A function that changes a number of the state, and returns another one."""
        try:
            text, _ = self.write.place(self._state("s"), Number, written=True)
        except NoWay:
            return ""
        name = f"change_{len(self.changing)}"
        self.changing += (name,)
        shown = self.write.number(self._state("s"), 0)
        lines = [f"{text} = ({text} + x + 1) % 3", f"return ({text} + {shown}) % 5"]
        return f"def {name}(s, c, x) -> int:\n{_indented(lines)}"

    def _init(self, number: int, is_faulty: bool = False) -> str:
        texts, before, scope = self._parameters(self.scope, number, is_init=True)
        lines = []
        if texts and self.chance.random() < 0.1:
            lines.append(f'if {self.write.truth(scope)}:\n    return "not here"')
        scope = scope.with_number("1").with_number("2")  # most of what else it can read is still 0
        for _ in range(self.chance.randint(0, 4)):
            lines += self._effect(scope, nested=True)[1]
        if is_faulty:
            lines.append(self.faults.statement(scope))
        return "\n\n\n".join(
            [*before, self._function(["@spec.init"], f"begin_{number}", texts, lines)]
        )

    def _action(self, number: int, is_faulty: bool = False) -> str:
        chance = self.chance
        texts, before, scope = self._parameters(self.scope, number)
        first, scope = self._large_parameter(texts, scope)
        self.aliased.clear()
        prelude, scope = self._locals(scope, aliases=not is_faulty)
        more, scope = self._aliases(scope) if not is_faulty else ([], scope)
        prelude += more
        guards = [self.write.truth(scope)] if chance.random() < 0.3 else []
        effects: list[str] = []
        for k in range(chance.randint(1, 3)):
            needed, lines = self._effect(scope)
            guards += needed
            if k and chance.random() < 0.1:
                effects.append(f"if {self.write.truth(scope, 0)}:\n    return TAKEN")
            effects.append("\n".join(lines))
        if is_faulty:
            effects.insert(chance.randint(0, len(effects)), self.faults.statement(scope))
        lines = prelude + [f'if {e}:\n    return "guard {k}"' for k, e in enumerate(guards)]
        lines = first + lines
        ways = ""
        if chance.random() < 0.15:
            names = ", ".join(["s", "c", *(each.partition(":")[0] for each in texts)])
            plain = Scope(
                tuple(e for e in scope.roots if e[0] not in ("here", "near")), scope.nodes
            )
            more = self.write.truth(plain, 0)
            before.append(
                f"def ways_{number}({names}) -> int:\n    return 1 + (1 if {more} else 0)"
            )
            ways = f"(multiplicity=ways_{number})"
        decorator = [f"@spec.action{ways}"]
        action = self._function(decorator, f"act_{number}", texts, lines + effects)
        return "\n\n\n".join([*before, action])

    def _function(self, heads: list[str], name: str, texts: list[str], lines: list[str]) -> str:
        given = ", ".join(["s: State", "c: Constants", *texts])
        return "\n".join([*heads, f"def {name}({given}):", _indented([*lines, "return TAKEN"])])

    def _locals(self, scope: Scope, aliases: bool) -> tuple[list[str], Scope]:
        """aliases: may there be another name for a record? A fault may assign any of them."""
        lines = []
        if aliases and self.chance.random() < 0.25:
            try:
                text, kind = self.write.place(scope, Record, written=True)
                lines.append(f"here = {text}")
                self.aliased.append(text)
                scope = Scope(
                    (*scope.roots, ("here", kind)), scope.nodes, scope.numbers, scope.masks,
                    scope.helpers,
                )  # fmt: skip
            except NoWay:
                pass
        if self.chance.random() < 0.25:
            lines.append(f"v = {self.write.number(scope)}")
            scope = scope.with_number("v")
        if self.chance.random() < 0.15:
            count = self.chance.randint(1, 40)
            lines += [f"kept = [0] * {count}", f"kept[({self.write.number(scope)}) % {count}] += 2"]
            scope = scope.with_number(f"kept[{self.chance.randrange(-count, count)}]")
        return lines, scope

    def _aliases(self, scope: Scope) -> tuple[list[str], Scope]:
        """A variable `near` that is another name for one place or another, or for none of both."""
        if self.chance.random() > 0.25:
            return [], scope
        try:
            one, kind = self.write.place(scope, Record, written=True)
            other, _ = self.write.place(scope, kind, written=True)
        except NoWay:
            return [], scope
        self.aliased += [one, other]
        test = self.write.truth(scope, 0)
        lines = self.chance.choice(
            [
                [f"near = {one} if {test} else {other}"],
                [f"if {test}:", f"    near = {one}", "else:", f"    near = {other}"],
                [f"near = {one}", f"if {test}:", f"    near = {other}"],
                [f"first, near = {one}, {other}"],
            ]
        )
        return lines, replace(scope, roots=(*scope.roots, ("near", kind)))

    def _is_aliased(self, scope: Scope, text: str) -> bool:
        """May it be, or be around, what a variable stands for? That may not be used after text was
        assigned."""
        names = {"here", "near"} & dict(scope.roots).keys()
        around = f"{_fields(text)}."
        return bool(names) and any(f"{_fields(each)}.".startswith(around) for each in self.aliased)

    def _property(self, kind: str, number: int, is_faulty: bool = False) -> str:
        scope, given = self.scope, "s: State, c: Constants"
        if kind == "step_invariant":
            state = self.declared.state
            scope = Scope((("before", state), ("after", state)))
            given = "before: State, after: State, c: Constants"
        head, yes, no = f"@spec.{kind}", "HOLDS", f'"{kind} {number} is broken"'
        if kind == "situation":
            head, yes, no = "@spec.situation(expected=True)", "True", "False"
        head += f"\ndef {kind}_{number}({given}):\n"
        if is_faulty:
            return head + _indented(
                [f"return {yes} if {self.faults.number(scope)} >= -9 else {no}"]
            )
        shape, node = self.chance.random(), self.write.some_node()
        if shape < 0.6:
            condition = self._mostly_true(scope, kind)
            lines = [f"return {yes} if {condition} else {no}"]
        elif shape < 0.8:
            condition = self._mostly_true(scope, kind)
            lines = [f"if {condition}:\n    return {yes}", f"return {no}"]
        else:
            inner = scope.with_node("n", node)
            lines = [
                f"for n in range(1, c.{node.count} + 1):",
                f"    if not ({self._mostly_true(inner, kind)}):\n        return {no}",
                f"return {yes}",
            ]
        return head + _indented(lines)

    def _mostly_true(self, scope: Scope, kind: str) -> str:
        if kind == "situation":
            return self.write.truth(scope)
        return " or ".join(self.write.truth(scope) for _ in range(self.chance.randint(2, 3)))

    def _view(self) -> str:
        lines = []
        for _ in range(self.chance.randint(1, 2)):
            try:
                text, _ = self.write.place(self.scope, Number, Flag, Name, written=True)
                lines.append(f"{text} = 0")
            except NoWay:
                pass
        lines = [each for each in lines if "%" not in each and "[" not in each]
        if not lines:
            return ""
        return "@spec.view\ndef seen(s, c):\n" + _indented(lines)

    # --- Parameters ----------------------------------------------------------------------------

    def _parameters(
        self, scope: Scope, number: int, is_init: bool = False
    ) -> tuple[list[str], list[str], Scope]:
        """Parameters as text, the functions that bound them, and what can be read with them."""
        texts: list[str] = []
        before: list[str] = []
        for k in range(self.chance.choice([0, 1, 1, 2])):
            try:
                scope = self._parameter(scope, f"p{k}", number, texts, before, is_init)
            except NoWay:
                continue
        return texts, before, scope

    def _parameter(
        self, scope: Scope, name: str, number: int, texts: list, before: list, is_init: bool
    ) -> Scope:
        chance, node = self.chance, self.write.some_node()
        kind = chance.choice(
            ["node", "node", "node", "range", "range", "named", "subset", "sequences"]
            + ([] if is_init else ["member"] * 3)
        )

        def bound(body: str) -> str:
            function = f"bound_{number}_{len(before)}{'i' if is_init else ''}"
            given = "c" if is_init else "s, c"
            before.append(f"def {function}({given}) -> int:\n    return {body}")
            return function

        bare = Scope((), helpers=()) if is_init else self.scope
        if kind == "node":
            texts.append(f"{name}: {node.name}")
            return scope.with_node(name, node)
        if kind == "named":
            texts.append(f"{name}: Named('one', 'two')")
        elif kind == "range":
            low = chance.choice(["0", "0", "1", '"top - 1"'])
            high = chance.choice(["1", "2", '"top"', '"room - 1"'])
            if chance.random() < 0.3:
                high = bound(f"min(2, {self.write.number(bare)})")
            texts.append(f"{name}: Range({low}, {high})")
        elif kind == "subset":
            of = node.name
            if chance.random() < 0.3:
                of = bound(self.write.mask(bare, node))
            wanted = chance.choice(["", "", ", 1", f', "{node.count} - 1"'])
            texts.append(f"{name}: Subset({of}{wanted})")
            return Scope(
                scope.roots, scope.nodes, scope.numbers, (*scope.masks, (name, node)), scope.helpers
            )
        elif kind == "sequences":
            length = chance.choice(["1", "2", '"room - 1"'])
            if chance.random() < 0.3:
                length = bound(f"abs({self.write.number(bare, 0)}) % 3")
            texts.append(f"{name}: Sequences(0, 1, {length})")
            return scope.with_number(f"sum({name}[j] for j in range(len({name})))")
        elif kind == "member":
            text, container = self._container_by_name()
            texts.append(f'{name}: Member("{text}")')
            if isinstance(container.item, Record):
                return Scope(
                    (*scope.roots, (name, container.item)), scope.nodes, scope.numbers, scope.masks,
                    scope.helpers,
                )  # fmt: skip
        return scope.with_number(name)

    def _large_parameter(self, texts: list[str], scope: Scope) -> tuple[list[str], Scope]:
        """Now and then one more parameter, with many values; guards that come before all others,
        and look at none or at some of them; what can be read."""
        chance, node = self.chance, self.write.some_node()
        if chance.random() > 0.2:
            return [], scope
        early = [self.write.truth(scope) for _ in range(chance.randint(0, 2))]
        if chance.random() < 0.3:
            texts.append(f"many: Subset({node.name})")
            late = [f"size(many) > {chance.randint(0, 2)}"]
            after = Scope(
                scope.roots, scope.nodes, scope.numbers, (*scope.masks, ("many", node)),
                scope.helpers,
            )  # fmt: skip
        else:
            length = chance.choice(["3", "4", '"room + 1"'])
            texts.append(f"many: Sequences(0, {chance.choice([1, 1, 2])}, {length})")
            late = [
                f"many[{chance.choice([0, 1, -1])}] > {chance.randint(0, 1)}",
                "any(many[j] < many[j - 1] for j in range(1, len(many)))",
                f"sum(many) > {chance.randint(1, 3)}",
                f"{chance.randint(0, 2)} in many",
                f"many[0] == {self.write.number(scope, 0)}",
            ]
            late = chance.sample(late, chance.randint(1, 2))
            after = scope.with_number(f"many[{chance.choice([0, -1])}]")
        guards = enumerate([*early, *late])
        return [f'if {each}:\n    return "early {k}"' for k, each in guards], after

    def _container_by_name(self) -> tuple[str, Line | Pile]:
        """A sequence or bag that is reached by names of fields alone. Raises NoWay."""
        found = []
        for name, kind in self.declared.state.fields:
            if isinstance(kind, Line | Pile):
                found.append((name, kind))
            elif isinstance(kind, Record):
                found += [(f"{name}.{e}", k) for e, k in kind.fields if isinstance(k, Line | Pile)]
        found = [e for e in found if isinstance(e[1].item, Record | Number | OneNode | Name)]
        if not found:
            raise NoWay
        return self.chance.choice(found)

    # --- Effects -------------------------------------------------------------------------------

    def _effect(self, scope: Scope, nested: bool = False) -> tuple[list[str], list[str]]:
        """(conditions under which the action must refuse, lines). nested: it may not refuse."""
        options: list[Callable] = [
            self._set, self._set, self._set, self._count, self._to_sequence, self._to_sequence,
            self._to_bag, self._to_bag, self._copy, self._erase, self._set_array, self._fill,
            *[self._stir] * (3 if self.changing else 0),
        ]  # fmt: skip
        if not nested:
            options += [self._if, self._for, self._while]
        if not nested:
            # What takes a parameter, or counts, leads to more states than most other effects.
            first = self._set if scope.numbers or scope.nodes else self._count
            options = [first, *options] if self.chance.random() < 0.4 else options
        for option in [*options[:1], *self.chance.sample(options, len(options))][
            self.chance.random() < 0.6 :
        ]:
            try:
                return option(scope, nested)
            except NoWay:
                continue
        return [], ["pass"]

    def _set(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, kind = self.write.place(scope, Number, Flag, Name, OneNode, Mask, written=True)
        return [], [f"{text} = {self.write.value(scope, kind)}"]

    def _stir(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        """A helper that changes the state stands in an index, on the right side, or beside what
        reads."""
        text, kind = self.write.place(scope, Number, Slots, written=True)
        if isinstance(kind, Slots):
            if not isinstance(kind.item, Number):
                raise NoWay
            size = kind.size if isinstance(kind.size, int) else f"c.{kind.size}"
            text = f"{text}[({self._changed(scope)}) % {size}]"
        sign = self.chance.choice(["=", "=", "+="])
        value = f"({self._changed(scope)}) % 3"
        return [], [f"{text} {sign} {value}" if sign == "=" else f"{text} += {value} - {text} % 7"]

    def _changed(self, scope: Scope) -> str:
        """A number, computed with a helper that changes the state, or at times without."""
        number = self.write.number(scope, 0)
        call = f"{self.chance.choice(self.changing)}(s, c, {self.write.number(scope, 0)})"
        return self.chance.choice(
            [
                call,
                number,
                f"{number} + {call}",
                f"{call} * 2 + {number}",
                f"max({call}, {number})",
                f"(1 if {number} < {call} <= {self.write.number(scope, 0)} else 2)",
                f"({call} if {self.write.truth(scope, 0)} else {number})",
                f"({call} and {number})",
                f"{self.chance.choice(self.changing)}(s, x={call}, c=c)",
                *[f"{self.chance.choice(self.helpers)}(s, c, {call})" for _ in self.helpers[:1]],
            ]
        )

    def _count(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, _ = self.write.place(scope, Number, written=True)
        limit = self.chance.choice(["2", "3", "c.top + 1"])
        if nested:
            return [], [f"{text} = min({text} + 1, {limit})"]
        return [f"{text} >= {limit}"], [f"{text} += 1"]

    def _to_sequence(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, kind = self.write.place(scope, Line, written=True)
        room = kind.size if isinstance(kind.size, int) else f"c.{kind.size}"
        draw = self.chance.random()
        if draw < 0.1:
            return [], [f"truncate({text}, ({self.write.number(scope, 0)}) % 3)"]
        if draw < 0.2:
            taking = self.chance.choice([f"pop_first({text})", f"remove_at({text}, 0)"])
            return [], [f"if len({text}) > 0:\n    {taking}"]
        item = self.write.value(scope, kind.item)
        if draw < 0.35:
            last = self.chance.choice(
                [f"{text}.items[{text}.length - 1]", f"{text}[len({text}) - 1]"]
            )
            return [], [f"if {text}.length > 0:\n    {last} = {item}"]
        if nested or draw < 0.5:
            return [], [f"if {text}.length < {room}:\n    append({text}, {item})"]
        if draw < 0.7:
            return [], [
                f"if {text}.length >= {room}:\n    truncate({text}, 0)",
                f"append({text}, {item})",
            ]
        return [f"{text}.length >= {room}"], [f"append({text}, {item})"]

    def _to_bag(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, kind = self.write.place(scope, Pile, written=True)
        room = kind.size if isinstance(kind.size, int) else f"c.{kind.size}"
        members = [
            name for name, each in scope.roots if each == kind.item and name not in ("here", "near")
        ]
        if members and self.chance.random() < 0.5:
            member = self.chance.choice(members)
            return [], [f"if is_in({text}, {member}):\n    take({text}, {member})"]
        item = self.write.value(scope, kind.item)
        if self.chance.random() < 0.25:
            return [], [f"if is_in({text}, {item}):\n    take({text}, {item})"]
        adding = self.chance.choice(["add", "add", "add_once"])
        if nested or self.chance.random() < 0.3:
            return [], [f"if {text}.size < {room}:\n    {adding}({text}, {item})"]
        return [f"{text}.size >= {room}"], [f"{adding}({text}, {item})"]

    def _copy(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, kind = self.write.place(scope, *self.declared.structs, written=True)
        if self._is_aliased(scope, text):
            raise NoWay
        return [], [f"{text} = {self.write.value(scope, kind)}"]

    def _set_array(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        """A whole array or dict by node is assigned."""
        text, kind = self.write.place(scope, Slots, ByNode, written=True)
        if isinstance(kind.item, Line | Pile) or self._is_aliased(scope, text):
            raise NoWay
        return [], [f"{text} = {self.write.value(scope, kind)}"]

    def _fill(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        """A record in a local variable is filled field by field, and stored once or not at all."""
        kinds = [each for each in self.declared.structs if is_in(self.declared.state, each)]
        if not kinds or "made" in dict(scope.roots):
            raise NoWay
        kind = self.chance.choice(kinds)
        lines = [f"made = {self.write.value(scope, kind, fresh=True)}"]
        inner = replace(scope, roots=(*scope.roots, ("made", kind)))
        for _ in range(self.chance.randint(1, 3)):
            only = replace(scope, roots=(("made", kind),))
            try:
                text, part = self.write.place(
                    only, Number, Flag, Name, OneNode, Mask, Slots, ByNode, written=True
                )
                value = self.write.value(inner, part)
            except NoWay:
                continue
            too_large = isinstance(part, Number) and self.chance.random() < 0.04
            lines.append(f"{text} = {value}{' + 127' if too_large else ''}")
        try:
            text, holder = self.write.place(scope, kind, Line, Pile, written=True)
        except NoWay:
            return [], lines
        if holder == kind and not self._is_aliased(scope, text):
            return [], [*lines, f"{text} = made"]
        if getattr(holder, "item", None) != kind:
            return [], lines
        room = holder.size if isinstance(holder.size, int) else f"c.{holder.size}"
        adding = "append" if isinstance(holder, Line) else self.chance.choice(["add", "add_once"])
        return [], [*lines, f"if len({text}) < {room}:\n    {adding}({text}, made)"]

    def _erase(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        text, kind = self.write.place(scope, Slots, ByNode, written=True)
        if self._is_aliased(scope, text):
            raise NoWay
        if isinstance(kind, Slots):
            return [], [f"erase({text}, {self.write.index(scope, kind.size)})"]
        return [], [f"erase({text}, {self.write.existing(scope, kind.node)})"]

    def _if(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        lines = [f"if {self.write.truth(scope)}:"]
        for head in ("", "else:") if self.chance.random() < 0.5 else ("",):
            lines += [head] if head else []
            for _ in range(self.chance.randint(1, 2)):
                lines += _indented(self._effect(scope, nested=True)[1]).split("\n")
        return [], lines

    def _for(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        if self.alike:
            raise NoWay  # the order of its steps would be the order of the nodes
        node = self.write.some_node()
        over = self.write.one_of(
            lambda: f"range(1, c.{node.count} + 1)",
            lambda: f"members({self.write.mask(scope, node)})",
            lambda: self.write.set_of_nodes(scope, node),
        )
        lines = [f"for n in {over}:"]
        inner = scope.with_node("n", node)
        if self.chance.random() < 0.3:
            lines.append(f"    if {self.write.truth(inner, 0)}:\n        continue")
        lines += _indented(self._effect(inner, nested=True)[1]).split("\n")
        if self.chance.random() < 0.2:
            lines.append(f"    if {self.write.truth(inner, 0)}:\n        break")
        return [], lines

    def _while(self, scope: Scope, nested: bool) -> tuple[list[str], list[str]]:
        inner = scope.with_number("w")
        lines = ["w = 0", f"while w < 3 and {self.write.truth(inner, 0)}:"]
        lines += _indented(self._effect(inner, nested=True)[1]).split("\n")
        return [], [*lines, "    w += 1"]


def _fields(text: str) -> str:
    """A place without the indices: s.box[1].log as s.box.log."""
    depth, kept = 0, ""
    for each in text:
        depth += (each == "[") - (each == "]")
        kept += each if depth == 0 and each != "]" else ""
    return kept


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for each in lines for line in each.split("\n"))
