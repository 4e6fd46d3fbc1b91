"""A spec as a TLA+ module, and the configuration file with which TLC checks it.

One definition for each action and invariant, after those of the helpers that it needs. Names stay;
one that TLA+ has another use for, or that two things share, gets a number: next_id_2.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.constants import limits_of, show
from protocol_lab.model.layout import Bag, Named, Node
from protocol_lab.model.parameters import Member, Range, Sequences, Subset, TrueOrFalse, names_used
from protocol_lab.model.spec import Action, Model, Property, Situation, Spec
from protocol_lab.reader.dependencies import reachable
from protocol_lab.reader.reading import reading
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, E
from protocol_lab.tla.functions import Functions
from protocol_lab.tla.paths import End, closed
from protocol_lab.tla.text import WIDTH, definition
from protocol_lab.tla.values import (
    BOOL,
    CONSTANTS,
    INT,
    NODES,
    TEXT,
    NoTranslation,
    Own,
    Scope,
    StateNamed,
    Types,
    Value,
    plus,
    type_of,
)
from protocol_lab.tla.values_of_code import is_helper

RESERVED = """ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED
    EXCEPT EXTENDS FALSE IF IN INSTANCE LAMBDA LET LOCAL MODULE OTHER PROOF RECURSIVE STRING SUBSET
    THEN THEOREM TRUE UNCHANGED UNION VARIABLE VARIABLES WITH Init Next Spec vars Int Nat Seq Len
    Head Tail Append EmptyBag BagToSet SetToBag BagIn BagCardinality CopiesIn IsABag BagUnion SubBag
    BagOfAll SubSeq SelectSeq Cardinality IsFiniteSet Min Max Smallest Items Sum SumOver"""

STANDARD = {
    "Min": ["Min(S) == CHOOSE x \\in S : \\A y \\in S : x <= y"],
    "Max": ["Max(S) == CHOOSE x \\in S : \\A y \\in S : x >= y"],
    "Smallest": ["Smallest(S) == IF S = {} THEN 0 ELSE CHOOSE x \\in S : \\A y \\in S : x <= y"],
    "Items": ["Items(f) == {f[k] : k \\in DOMAIN f}"],
    "Sum": [
        "RECURSIVE SumOver(_, _)",
        "SumOver(f, S) == IF S = {} THEN 0",
        "                 ELSE LET k == CHOOSE k \\in S : TRUE IN f[k] + SumOver(f, S \\ {k})",
        "Sum(f) == SumOver(f, DOMAIN f)",
    ],
}
"""Definitions that a module gets if it needs them."""

_MOST_LINES, _MOST_STATEMENTS = 800, 500
"""A function's statement is one to four lines of TLA+."""


@dataclass(frozen=True)
class Written:
    """A module's name and text, and that of its configuration file.

    definitions: the definition of each action, property and helper, by its name in Python.
    """

    name: str
    text: str
    configuration: str
    definitions: dict[str, str]


def written(model: Model) -> Written:
    """The module of a model. Raises LabError for what has no translation, with its place, and for a
    spec whose module would be longer than about 800 lines."""
    spec = model.spec
    too_long = NoTranslation(
        f"{spec.name} would be more than {_MOST_LINES} lines of TLA+, which the kit does not write"
        + (f": read the original, {spec.original}." if spec.original else ".")
    )
    if _statements(spec) > _MOST_STATEMENTS:
        raise too_long
    try:
        first = _Module(model, set())
        made = first.written()
        multisets = first.types.added_twice
        made = _Module(model, multisets).written() if multisets else made
    except RecursionError:
        raise NoTranslation(
            f"{spec.name} is too deeply nested to be translated to TLA+: split its functions."
        ) from None
    if made.text.count("\n") > _MOST_LINES:
        raise too_long
    return made


def _statements(spec: Spec) -> int:
    """How many statements the functions of a spec have, with all that they call."""
    declared = [*spec.inits, *spec.actions, *spec.invariants, *spec.step_invariants]
    declared += [*spec.expected, *spec.constraints]
    functions = [each for each in reachable([one.function for one in declared]) if is_helper(each)]
    nodes = (node for each in functions for node in ast.walk(reading(each).as_written))
    return sum(isinstance(node, ast.stmt) for node in nodes)


class _Module:
    def __init__(self, model: Model, multisets: set[Bag]):
        self.model, self.spec = model, model.spec
        spec = self.spec
        self.name = "".join(k if k.isalnum() else "_" for k in spec.name.rpartition(".")[2])
        if not any(each.isalpha() for each in self.name):
            raise LabError(f"{spec.name!r} can't be the name of a TLA+ module: use letters.")
        taken = set(RESERVED.split())

        def named(wanted: str) -> str:
            found = tla.unused(wanted, taken)
            taken.add(found)
            return found

        self.limits = limits_of(spec.constants)
        self.constants = {each: named(each) for each in self.limits}
        self.variables = {each: named(each) for each in spec.state.field_types}
        groups = (spec.invariants, spec.step_invariants, spec.constraints)
        parts = [*spec.actions, *(one for group in groups for one in group)]
        parts += spec.expected
        self.parts = {each.function: named(each.name) for each in parts}
        kinds: dict[Node, str] = {}
        for function in [each.function for each in spec.inits] + list(self.parts):
            for each, value in function.__globals__.items():
                if isinstance(value, Node) and value not in kinds and not each.startswith("_"):
                    kinds[value] = named(each)
        self._bounds: dict[Callable, tuple[dict[str, Value], dict[str, str], Scope]] = {}
        self.types = Types(kinds, multisets, self.constants)
        self.functions = Functions(
            self.types, spec.constants, self.variables, spec.state.field_types, taken
        )

    # --- Definitions -----------------------------------------------------------------------------

    def written(self) -> Written:
        """The module, with all that belongs to it."""
        spec, define = self.spec, self.functions.definitions.append
        inits = [self._chosen(each, self._action(each, initial=True)[1]) for each in spec.inits]
        doc = spec.inits[0].doc if len(spec.inits) == 1 else ""
        define(("Init", (), tla.disj(*inits) if inits else TRUE, doc))
        self._mark("Actions")
        for each in spec.actions:
            define((self.parts[each.function], *self._action(each), each.doc))
        steps = [self._step(each) for each in spec.actions]
        define(("Next", (), tla.disj(*steps) if steps else FALSE, ""))
        names = tuple(map(tla.name, self.variables.values()))
        define(("vars", (), E("tuple", None, names), ""))
        always = E("box", None, (tla.name("Next"),))
        define(("Spec", (), tla.conj(tla.name("Init"), always), ""))
        expected = "Expected: the negation of each has a counterexample"
        for title, group in (
            ("Constraints", spec.constraints),
            ("Invariants", spec.invariants),
            (expected, spec.expected),
            ("Invariants of steps", spec.step_invariants),
        ):
            if group:
                self._mark(title)
            for each in group:
                value = self._property(each, of_steps=group is spec.step_invariants)
                define((self.parts[each.function], (), value, each.doc))
        return self._laid_out()

    def _mark(self, title: str) -> None:
        self.functions.definitions.append(("", (), TRUE, title))

    def _start(self, action: Action) -> tuple[dict[str, Value], dict[str, str], Scope]:
        """The values of an action's parameters, their names, and the scope before it."""
        scope = Scope({}, {f"s.{each}": tla.name(v) for each, v in self.variables.items()})
        first, second = action.function.__code__.co_varnames[:2]
        given = {first: Value(None, known=StateNamed("s.")), second: CONSTANTS}
        bound = {each: tla.fresh(each) for each in action.domains}
        for each, domain in action.domains.items():
            kind = {TrueOrFalse: BOOL, Subset: NODES}.get(type(domain), INT)
            if isinstance(domain, Named):
                kind = domain
            elif isinstance(domain, Member):
                kind = type_of(self._container(domain.path, scope)[1].item)
            elif isinstance(domain, Sequences):
                end = plus(self._bound(domain.length, given, scope), -1)
                kind = Own(tla.between(tla.number(0), end))
            given[each] = Value(tla.name(bound[each]), kind)
        return given, bound, scope

    def _container(self, path: str, scope: Scope) -> tuple[E, Any]:
        """What is at a path of the state, and its type."""
        first, *rest = path.split(".")
        found, kind = scope.cells[f"s.{first}"], type_of(self.spec.state.field_types[first])
        for each in rest:
            found, kind = tla.at(found, each), type_of(kind.field_types[each])
        return found, kind

    def _bound(self, bound: Any, given: dict[str, Value], scope: Scope) -> E:
        """The bound of a parameter's domain, also one that a function gives."""
        if not callable(bound):
            return self.types.size(bound)
        first, second = list(given)[:2]
        roles = {"s": given[first], "c": given[second], **given}
        return self.functions.result(
            bound, {k: roles[k] for k in names_used(bound)}, scope
        ).expression

    def _domain(self, domain: Any, given: dict[str, Value], scope: Scope) -> E:
        """The set of a parameter's values."""
        match domain:
            case Node():
                return self.types.nodes(domain)
            case TrueOrFalse():
                return tla.name("BOOLEAN")
            case Range(low, high):
                low, high = (self._bound(each, given, scope) for each in (low, high))
                return self.types.up_to(high) if low == tla.number(1) else tla.between(low, high)
            case Named(names):
                return E("set", None, tuple(map(tla.string, names)))
            case Subset(of, size):
                is_kind = isinstance(of, Node)
                every = self.types.nodes(of) if is_kind else self._bound(of, given, scope)
                found = E("prefix", "SUBSET", (every,))
                if size is None:
                    return found
                bound = tla.fresh("S")
                count = tla.call("Cardinality", tla.name(bound))
                wanted = self._bound(size, given, scope)
                return tla.filtered(bound, found, tla.op("=", count, wanted))
            case Member(path):
                now, kind = self._container(path, scope)
                return self.types.items(kind, now)
            case Sequences(low, high, length):
                low, high, length = (self._bound(b, given, scope) for b in (low, high, length))
                indices = tla.between(tla.number(0), plus(length, -1))
                return E("functions", None, (indices, tla.between(low, high)))
        raise NoTranslation(f"{domain!r} has no translation to TLA+.")

    def _action(self, action: Action, initial: bool = False) -> tuple[tuple[str, ...], E]:
        """An action's parameters and definition."""
        given, bound, scope = self._start(action)
        self._bounds[action.function] = given, bound, scope
        if initial:
            kinds = self.spec.state.field_types.items()
            scope = Scope({}, {f"s.{k}": self.types.zero(type_of(kind)) for k, kind in kinds})

        def taken(last: Scope) -> E:
            news = {v: last.cells[f"s.{each}"] for each, v in self.variables.items()}
            if initial:
                return tla.conj(*(E("op", "=", (tla.name(v), new)) for v, new in news.items()))
            same = tuple(v for v, new in news.items() if new == tla.name(v))
            kept = [E("unchanged", same)] if same else []
            steps = [
                E("op", "=", (E("prime", None, (tla.name(v),)), new))
                for v, new in news.items()
                if v not in same
            ]
            return tla.conj(*steps, *kept)

        made = tla.in_order(self._judged(action.function, given, scope, taken))
        return tuple(bound.values()), made

    def _judged(
        self, function: Callable, given: dict[str, Value], scope: Scope, holds: Callable[[Scope], E]
    ) -> E:
        """What a function that returns "" or a reason comes to."""

        def of(reason: E, last: Scope) -> E:
            if reason.kind == "str":
                return tla.note(FALSE, reason.head) if reason.head else holds(last)
            if reason.kind == "if":
                return tla.if_(reason.parts[0], *(of(each, last) for each in reason.parts[1:]))
            return tla.if_(tla.op("=", reason, tla.string("")), holds(last), FALSE)

        def at_end(end: End) -> E:
            value = self.functions.read(end.value, end.scope)
            if value.type == TEXT:
                return of(value.expression, end.scope)
            test = self.functions.convert(value, BOOL, reading(function).as_written)
            return tla.if_(test, FALSE, holds(end.scope))

        return closed(self.functions.body(function, given, scope), at_end)

    def _step(self, action: Action) -> E:
        """The action with every choice of its parameters."""
        bound = self._bounds[action.function][1]
        called = tla.call(self.parts[action.function], *map(tla.name, bound.values()))
        return self._chosen(action, called)

    def _chosen(self, action: Action, body: E) -> E:
        given, bound, scope = self._bounds[action.function]
        for each, domain in reversed(action.domains.items()):
            body = tla.quantified("\\E", bound[each], self._domain(domain, given, scope), body)
        return body

    def _property(self, declared: Property | Situation, of_steps: bool) -> E:
        names, function = self.variables.items(), declared.function
        if isinstance(declared, Situation):
            given, _, scope = self._start(Action(function, {}))
            return self.functions.result(function, given, scope).expression
        if not of_steps:
            given, _, scope = self._start(Action(function, {}))
            return self._judged(function, given, scope, lambda last: TRUE)
        before, after, constants = function.__code__.co_varnames[:3]
        given = {before: Value(None, known=StateNamed("before."))}
        given |= {after: Value(None, known=StateNamed("after.")), constants: CONSTANTS}
        cells = {f"before.{each}": tla.name(v) for each, v in names}
        cells |= {f"after.{each}": E("prime", None, (tla.name(v),)) for each, v in names}
        found = self._judged(function, given, Scope({}, cells), lambda last: TRUE)
        return E("box", None, (found,))

    # --- Layout ----------------------------------------------------------------------------------

    def _laid_out(self) -> Written:
        t, used, shown, body = self.functions, set(), {}, []
        for name, given, value, doc in t.definitions:
            if name:
                used |= tla.names_in(value)
                rows = [*_comment(doc), *definition(name, given, value, t.taken)]
                shown[name] = "\n".join(rows)
                body += [*rows, ""]
            else:
                body += ["", f"\\* --- {doc} {'-' * max(3, WIDTH - 9 - len(doc))}", ""]
        dashes = "-" * max(4, (WIDTH - len(self.name) - 8) // 2)
        lines = [f"{dashes} MODULE {self.name} {dashes}", *_comment(self._header())]
        bags = ", Bags" if self.types.multisets else ""
        lines += [f"EXTENDS Integers, Sequences, FiniteSets{bags}", ""]
        for k, (each, constant) in enumerate(self.constants.items()):
            comma = "," if k < len(self.constants) - 1 else ""
            meaning = self.limits[each].meaning
            lines += [] if k else ["CONSTANTS"]
            lines += [f"    {constant}{comma}" + (f"  \\* {meaning}" if meaning else "")]
        lines += ["", "VARIABLES " + ",\n          ".join(self.variables.values()), ""]
        lines += [f"{made} == {value}" for (_, value), made in t.globals.items()]
        for node, name in self.types.kinds.items():
            if node in self.types.used:
                lines += definition(
                    name, (), tla.between(tla.number(1), self.types.size(node.count)), ()
                )
        lines += [""]
        for each, rows in STANDARD.items():
            lines += [*rows, ""] if each in used else []
        text = "\n".join(line.rstrip() for line in [*lines, *body, "=" * WIDTH]) + "\n"
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        own = {each.__name__: shown[name] for each, name in self.parts.items()}
        inits = {each.function.__name__: shown["Init"] for each in self.spec.inits}
        return Written(self.name, text, self._configuration(), {**shown, **inits, **own})

    def _header(self) -> str:
        spec = self.spec
        left_out = {
            "temporal properties and fairness": spec.properties or spec.fairness,
            "refinement": spec.refinements,
            "symmetry": spec.symmetries,
            "the view": spec.erase,
        }
        told = ", ".join(each for each, has in left_out.items() if has)
        told = f"Left out of this translation: {told}." if told else ""
        made = f"The spec {spec.name} of the Replication Protocol Lab, translated from Python."
        return "\n\n".join(each for each in (spec.meaning.strip(), made, told) if each)

    def _configuration(self) -> str:
        """The configuration file: these constants, and what a search checks by default."""
        lines = ["SPECIFICATION Spec", *(["", "CONSTANTS"] if self.constants else [])]
        for each, value in show(self.model.constants).items():
            shown = str(int(getattr(self.model.constants, each)))
            if isinstance(value, bool | str):
                shown = f'"{value}"' if isinstance(value, str) else str(value).upper()
            lines.append(f"    {self.constants[each]} = {shown}")
        for word, group in (
            ("INVARIANTS", self.spec.invariants),
            ("PROPERTIES", self.spec.step_invariants),
            ("CONSTRAINTS", self.spec.constraints),
        ):
            names = [self.parts[each.function] for each in group if each.by_default]
            lines += ["", word, *(f"    {each}" for each in names)] if names else []
        return "\n".join([*lines, "", "CHECK_DEADLOCK FALSE", ""])


def _comment(text: str) -> list[str]:
    lines = []
    for line in inspect.cleandoc(text).split("\n") if text else ():
        wrapped = textwrap.wrap(line, 110, drop_whitespace=False) or [""]
        lines += [f"\\* {each}".rstrip() for each in wrapped]
    return lines
