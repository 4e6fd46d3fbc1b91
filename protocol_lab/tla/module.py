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
from protocol_lab.language.dependencies import reachable
from protocol_lab.language.reading import reading
from protocol_lab.spec.constants import limits_of, show
from protocol_lab.spec.layout import Bag, Named, Node, Seq
from protocol_lab.spec.parameters import Member, Range, Sequences, Subset, TrueOrFalse, names_used
from protocol_lab.spec.spec import Action, Model, Spec
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.functions import Functions
from protocol_lab.tla.helper_effects import is_helper
from protocol_lab.tla.helpers import helper_value
from protocol_lab.tla.paths import Ends
from protocol_lab.tla.text import WIDTH, behind
from protocol_lab.tla.values import (
    BOOL,
    CONSTANTS,
    INT,
    NODES,
    TEXT,
    NoTranslation,
    OwnList,
    Scope,
    StateNamed,
    Types,
    Value,
    type_of,
)

RESERVED = frozenset(
    """ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT
    EXTENDS FALSE IF IN INSTANCE LAMBDA LET LOCAL MODULE OTHER PROOF RECURSIVE STRING SUBSET THEN
    THEOREM TRUE UNCHANGED UNION VARIABLE VARIABLES WITH Init Next Spec vars Int Nat Seq Len Head
    Tail Append SubSeq SelectSeq Cardinality IsFiniteSet EmptyBag BagToSet SetToBag BagIn
    BagCardinality CopiesIn IsABag BagUnion SubBag BagOfAll Real Infinity Min Max Sum SumOver Items
    Smallest Listed ListedBag""".split()  # noqa: SIM905
)

STANDARD = {
    "Min": (["Min(S) == CHOOSE x \\in S : \\A y \\in S : x <= y"], ()),
    "Max": (["Max(S) == CHOOSE x \\in S : \\A y \\in S : x >= y"], ()),
    "Smallest": (["Smallest(S) == IF S = {} THEN 0 ELSE Min(S)"], ("Min",)),
    "Items": (["Items(f) == {f[k] : k \\in DOMAIN f}"], ()),
    "Sum": (
        [
            "RECURSIVE SumOver(_, _)",
            "SumOver(f, S) == IF S = {} THEN 0",
            "                 ELSE LET k == CHOOSE k \\in S : TRUE IN f[k] + SumOver(f, S \\ {k})",
            "Sum(f) == SumOver(f, DOMAIN f)",
        ],
        (),
    ),
    "Listed": (
        [
            "RECURSIVE Listed(_)",
            "Listed(S) == IF S = {} THEN <<>>",
            "             ELSE LET x == CHOOSE x \\in S : TRUE IN <<x>> \\o Listed(S \\ {x})",
        ],
        (),
    ),
    "ListedBag": (
        [
            "RECURSIVE ListedBag(_)",
            "ListedBag(B) == IF B = EmptyBag THEN <<>>",
            "                ELSE LET x == CHOOSE x \\in BagToSet(B) : TRUE",
            "                     IN <<x>> \\o ListedBag(B (-) SetToBag({x}))",
        ],
        (),
    ),
}
"""Definitions that a module gets if it needs them, with what they need themselves."""


@dataclass(frozen=True)
class Written:
    """A module's name and text, and that of its configuration file.

    definitions: the definition of each action, property and helper, by its name in Python.
    """

    name: str
    text: str
    configuration: str
    definitions: dict[str, str]


_MOST_STATEMENTS = 500
"""A function's statement is one to four lines of TLA+."""


def written(model: Model) -> Written:
    """The module of a model. Raises LabError for what has no translation, with its place, and for a
    spec whose module would be longer than about 800 lines."""
    if _statements(model.spec) > _MOST_STATEMENTS:
        original = model.spec.original
        raise NoTranslation(
            f"{model.spec.name} would be more than 800 lines of TLA+, which the kit does not write"
            + (f": read the original, {original}." if original else ".")
        )
    multisets: set[Bag] = set()
    while True:
        try:
            made = _Module(model, multisets)
            text = made.text()
        except RecursionError:
            raise NoTranslation(
                f"{model.spec.name} is too deeply nested to be translated to TLA+: split its"
                " functions."
            ) from None
        if made.functions.added_twice <= multisets:
            return Written(made.name, text, made.configuration(), made.by_names_in_python())
        multisets = multisets | made.functions.added_twice


def _statements(spec: Spec) -> int:
    """How many statements the functions of a spec have, with all that they call."""
    declared = [*spec.inits, *spec.actions, *spec.invariants, *spec.step_invariants]
    declared += [*spec.sometimes_properties, *spec.constraints]
    functions = [each for each in reachable([one.function for one in declared]) if is_helper(each)]
    nodes = (node for each in functions for node in ast.walk(reading(each).as_written))
    return sum(isinstance(node, ast.stmt) for node in nodes)


class _Module:
    def __init__(self, model: Model, multisets: set[Bag]):
        self.model, self.spec = model, model.spec
        self.laid_out: dict[str, str] = {}
        self.name = "".join(k if k.isalnum() else "_" for k in self.spec.name.rpartition(".")[2])
        if not any(each.isalpha() for each in self.name):
            raise LabError(f"{self.spec.name!r} can't be the name of a TLA+ module: use letters.")
        taken = set(RESERVED)

        def named(wanted: str) -> str:
            found = tla.unused(wanted, taken)
            taken.add(found)
            return found

        self.limits = limits_of(self.spec.constants)
        self.constants = {each: named(each) for each in self.limits}
        self.variables = {each: named(each) for each in self.spec.state.field_types}
        self.parts = {
            each.function: named(each.name)
            for each in [
                *self.spec.actions,
                *self.spec.invariants,
                *self.spec.step_invariants,
                *self.spec.constraints,
                *self.spec.sometimes_properties,
            ]
        }
        self.inits = {
            each.function: named(each.name) if len(self.spec.inits) > 1 else "Init"
            for each in self.spec.inits
        }
        kinds: dict[Node, str] = {}
        for function in [*self.inits, *self.parts]:
            for each, value in function.__globals__.items():
                if isinstance(value, Node) and value not in kinds and not each.startswith("_"):
                    kinds[value] = named(each)
        fields = {each: type_of(kind) for each, kind in self.spec.state.field_types.items()}
        types = Types(kinds, multisets, self.constants)
        self.functions = Functions(types, self.spec.constants, self.variables, fields, taken)
        self.functions.judged = {*self.parts, *self.inits}
        self.types = types

    # --- Definitions -------------------------------------------------------------------------

    def text(self) -> str:
        """The whole text."""
        t = self.functions
        for each in self.spec.inits:
            self._define(self.inits[each.function], *self._action(each, initial=True), each.doc)
        self._mark("Actions")
        for each in self.spec.actions:
            self._define(self.parts[each.function], *self._action(each), each.doc)
        steps = [self._step(each) for each in self.spec.actions]
        t.definitions.append(("Next", (), tla.disj(steps) if steps else FALSE, ""))
        if len(self.spec.inits) > 1:
            every = [self._step(each, self.inits) for each in self.spec.inits]
            t.definitions.append(("Init", (), tla.disj(every), ""))
        t.definitions.append(
            ("vars", (), ("tuple", tuple(map(tla.name, self.variables.values()))), "")
        )
        behaviour = tla.conj([tla.name("Init"), ("box", tla.name("Next"), "vars")])
        t.definitions.append(("Spec", (), behaviour, ""))
        for title, group in (
            ("Constraints", self.spec.constraints),
            ("Invariants", self.spec.invariants),
            (
                "Sometimes: the negation of each has a counterexample",
                self.spec.sometimes_properties,
            ),
        ):
            if group:
                self._mark(title)
            for each in group:
                self._define(self.parts[each.function], (), self._property(each), each.doc)
        if self.spec.step_invariants:
            self._mark("Invariants of steps")
        for each in self.spec.step_invariants:
            body = ("box", self._step_invariant(each), "vars")
            self._define(self.parts[each.function], (), body, each.doc)
        return self._laid_out()

    def _mark(self, title: str) -> None:
        self.functions.definitions.append(("", (), TRUE, title))

    def _define(self, name: str, parameters: tuple[str, ...], body: Expression, doc: str) -> None:
        self.functions.definitions.append((name, parameters, body, doc))

    def _scope(self, prefixes: tuple[str, ...] = ("s.",), prime: str = "") -> Scope:
        cells = {}
        for prefix in prefixes:
            for each, variable in self.variables.items():
                now: Expression = tla.name(variable)
                if prefix == prime:
                    now = ("prime", now)
                cells[prefix + each] = (now, self.functions.fields[each])
        return Scope({}, cells)

    def _given(
        self, function: Callable, domains: dict[str, Any], scope: Scope
    ) -> tuple[dict[str, Value], tuple[str, ...], Scope]:
        """The values of an action's parameters, their names in TLA+, and the scope with them."""
        first, second = function.__code__.co_varnames[:2]
        given = {
            first: Value(None, "state", known=StateNamed("s.")),
            second: Value(None, "constants", known=CONSTANTS),
        }
        names = []
        for each, domain in domains.items():
            bound = self.functions.fresh(each, scope)
            scope = scope.binding(bound)
            names.append(bound)
            given[each] = Value(tla.name(bound), self._kind(domain, given, scope))
        return given, tuple(names), scope

    def _kind(self, domain: Any, given: dict[str, Value], scope: Scope) -> Any:
        match domain:
            case Named():
                return domain
            case TrueOrFalse():
                return BOOL
            case Subset():
                return NODES
            case Member(path):
                return type_of(self._container(path, scope).type.item)
            case Sequences():
                return OwnList(self._bound(domain.length, given, scope), INT)
        return INT

    def _container(self, path: str, scope: Scope) -> Value:
        first, *rest = path.split(".")
        cell = f"s.{first}"
        kind = scope.cells[cell][1]
        for each in rest:
            kind = type_of(kind.field_types[each])
        return Value(None, kind, (cell, tuple(("f", each) for each in rest)))

    def _bound(self, bound: Any, given: dict[str, Value], scope: Scope) -> Expression:
        if not callable(bound):
            return self.types.size(bound)
        return self._computed(bound, given, scope).expression

    def _computed(self, function: Callable, given: dict[str, Value], scope: Scope) -> Value:
        first, second = list(given)[:2]
        roles = {"s": given[first], "c": given[second], **given}
        values = {each: roles[each] for each in names_used(function)}
        t = self.functions
        t.function = function
        if function.__name__ == "<lambda>":
            return t.result(function, values, scope)
        return helper_value(t, function, values, ast.Constant(0, lineno=0), scope)

    def _domain(self, domain: Any, given: dict[str, Value], scope: Scope) -> Expression:
        """The set of a parameter's values."""
        t = self.functions
        match domain:
            case Node():
                return self.types.nodes(domain)
            case TrueOrFalse():
                return tla.name("BOOLEAN")
            case Range(low, high):
                a, b = (self._bound(each, given, scope) for each in (low, high))
                return self.types.up_to(b) if a == tla.number(1) else tla.between(a, b)
            case Named(names):
                return ("set", tuple(map(tla.string, names)))
            case Subset(of, size):
                every = (
                    self.types.nodes(of)
                    if isinstance(of, Node)
                    else t.convert(self._computed(of, given, scope), NODES, None)
                )
                found: Expression = ("prefix", "SUBSET", every)
                if size is not None:
                    bound = t.fresh("S", scope)
                    count = tla.call("Cardinality", tla.name(bound))
                    wanted = tla.op("=", count, self._bound(size, given, scope))
                    found = ("filter", bound, found, wanted)
                return found
            case Member(path):
                place = self._container(path, scope)
                now = t.read(place, scope).expression
                if isinstance(place.type, Seq):
                    return tla.call(t.use("Items"), now)
                return t.as_set(place.type, now)
            case Sequences(low, high, length):
                a, b, n = (self._bound(each, given, scope) for each in (low, high, length))
                top = tla.op("-", n, tla.number(1))
                return ("functions", tla.between(tla.number(0), top), tla.between(a, b))
        raise LabError(f"{domain!r} has no translation to TLA+.")

    def _action(self, action: Action, initial: bool = False) -> tuple[tuple[str, ...], Expression]:
        t = self.functions
        scope = self._scope()
        given, names, scope = self._given(action.function, action.domains, scope)
        if initial:
            for each, kind in t.fields.items():
                scope = scope.with_cell(f"s.{each}", self.types.zero(kind))

        def taken(last: Scope) -> Expression:
            if initial:
                return tla.conj(
                    [
                        ("op", "=", tla.name(v), last.cells[f"s.{each}"][0])
                        for each, v in self.variables.items()
                    ]
                )
            parts, same = [], []
            for each, variable in self.variables.items():
                new = last.cells[f"s.{each}"][0]
                if new == tla.name(variable):
                    same.append(variable)
                else:
                    parts.append(("op", "=", ("prime", tla.name(variable)), new))
            return tla.conj([*parts, *([("unchanged", tuple(same))] if same else [])])

        body = t.body(action.function, given, scope, self._judged(taken))
        body = tla.tidy(body)
        if initial and names:
            inits = list(zip(names, action.domains.values(), strict=True))
            for bound, domain in reversed(inits):
                body = ("quant", "\\E", bound, self._domain(domain, given, self._scope()), body)
            names = ()
        return names, body

    def _judged(self, holds: Callable[[Scope], Expression]) -> Ends:
        """What a function that returns "" or a reason comes to."""

        def returned(value: Value, last: Scope) -> Expression:
            if value.type == TEXT and value.expression[0] == "str":
                if value.expression[1] == "":
                    return holds(last)
                return tla.note(FALSE, value.expression[1])
            if value.type == TEXT:
                return self._of_text(value.expression, lambda: holds(last))
            test = self.functions.condition(value, self._written())
            return tla.if_(test, FALSE, holds(last))

        return Ends(lambda last: holds(last), returned)

    def _of_text(self, found: Expression, holds: Callable[[], Expression]) -> Expression:
        """A reason that depends on conditions, as a condition."""
        match found:
            case ("str", text):
                return holds() if text == "" else tla.note(FALSE, text)
            case ("if", test, then, other):
                parts = (self._of_text(each, holds) for each in (then, other))
                return tla.if_(test, *parts)
        return tla.if_(tla.op("=", found, tla.string("")), holds(), FALSE)

    def _written(self) -> Any:
        return reading(self.functions.function).as_written

    def _step(self, action: Action, of: dict | None = None) -> Expression:
        """The action with every choice of its parameters."""
        of = self.parts if of is None else of
        scope = self._scope()
        given, names, scope = self._given(action.function, action.domains, scope)
        arguments = names if of is self.parts else ()
        body = tla.call(of[action.function], *map(tla.name, arguments))
        if of is not self.parts:
            return body
        inits = list(zip(names, action.domains.values(), strict=True))
        for bound, domain in reversed(inits):
            body = ("quant", "\\E", bound, self._domain(domain, given, scope), body)
        return body

    def _property(self, declared: Any) -> Expression:
        scope = self._scope()
        given, _, scope = self._given(declared.function, {}, scope)
        t = self.functions
        return tla.tidy(t.body(declared.function, given, scope, self._judged(lambda last: TRUE)))

    def _step_invariant(self, declared: Any) -> Expression:
        scope = self._scope(("before.", "after."), "after.")
        before, after, constants = declared.function.__code__.co_varnames[:3]
        given = {
            before: Value(None, "state", known=StateNamed("before.")),
            after: Value(None, "state", known=StateNamed("after.")),
            constants: Value(None, "constants", known=CONSTANTS),
        }
        t = self.functions
        return tla.tidy(t.body(declared.function, given, scope, self._judged(lambda last: TRUE)))

    # --- Layout ------------------------------------------------------------------------------

    def _laid_out(self) -> str:
        t = self.functions
        taken = frozenset(t.taken) | RESERVED
        body: list[str] = []
        for name, parameters, expression, doc in t.definitions:
            if not name:
                body += ["", f"\\* {'-' * 3} {doc} {'-' * max(3, WIDTH - 9 - len(doc))}", ""]
                continue
            expression = tla.distinct(expression, taken | set(parameters))
            head = f"{name}({', '.join(parameters)})" if parameters else name
            shown = behind(f"{head} == ", expression, WIDTH, hang=4)
            if len(shown) > 1 and not shown[0].endswith("=="):
                shown = [
                    f"{head} ==",
                    *("    " + line for line in behind("", expression, WIDTH - 4)),
                ]
            self.laid_out[name] = "\n".join([*_comment(doc), *shown])
            body += [self.laid_out[name], ""]
        dashes = "-" * max(4, (WIDTH - len(self.name) - 8) // 2)
        extended = "Integers, Sequences, FiniteSets" + (", Bags" if self.types.multisets else "")
        lines = [f"{dashes} MODULE {self.name} {dashes}"]
        lines += [*_comment(self._header()), f"EXTENDS {extended}", ""]
        lines += self._constants()
        lines += ["VARIABLES " + ",\n          ".join(self.variables.values()), ""]
        lines += [f"{made} == {value}" for (_, value), made in t.globals.items()]
        for node, name in self.types.kinds.items():
            if node in self.types.kinds_used:
                size = self.types.size(node.count)
                lines += behind(f"{name} == ", tla.between(tla.number(1), size), WIDTH)
        lines += ["", *self._standard(), *body, "=" * WIDTH]
        text = "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        return text

    def by_names_in_python(self) -> dict[str, str]:
        """The definitions; `text` has to be called before."""
        own = {each.__name__: name for each, name in {**self.inits, **self.parts}.items()}
        return {**self.laid_out, **{each: self.laid_out[name] for each, name in own.items()}}

    def _header(self) -> str:
        meaning = self.spec.meaning.strip()
        left_out = [
            each
            for each, has in (
                ("temporal properties and fairness", self.spec.properties or self.spec.fairness),
                ("refinement", self.spec.refinements),
                ("symmetry", self.spec.symmetries),
                ("the view", self.spec.erase),
            )
            if has
        ]
        told = f"Left out of this translation: {', '.join(left_out)}." if left_out else ""
        made = f"The spec {self.spec.name} of the Replication Protocol Lab, translated from Python."
        return "\n\n".join(each for each in (meaning, made, told) if each)

    def _constants(self) -> list[str]:
        if not self.constants:
            return []
        rows = []
        names = list(self.constants.items())
        for k, (each, shown) in enumerate(names):
            comma = "," if k < len(names) - 1 else ""
            meaning = self.limits[each].meaning
            rows.append(f"    {shown}{comma}" + (f"  \\* {meaning}" if meaning else ""))
        return ["CONSTANTS", *rows, ""]

    def _standard(self) -> list[str]:
        needed: list[str] = []

        def need(each: str) -> None:
            for other in STANDARD[each][1]:
                need(other)
            if each not in needed:
                needed.append(each)

        for each in STANDARD:
            if each in self.functions.standard:
                need(each)
        return [line for each in needed for line in [*STANDARD[each][0], ""]]

    def configuration(self) -> str:
        """The configuration file: these constants, and what a search checks by default."""
        lines = ["SPECIFICATION Spec", ""]
        if self.constants:
            lines.append("CONSTANTS")
        for each, value in show(self.model.constants).items():
            number = getattr(self.model.constants, each)
            lines.append(f"    {self.constants[each]} = {_cfg_value(value, number)}")
        groups = (
            ("INVARIANTS", self.spec.invariants),
            ("PROPERTIES", self.spec.step_invariants),
            ("CONSTRAINTS", self.spec.constraints),
        )
        for word, group in groups:
            names = [self.parts[each.function] for each in group if each.by_default]
            if names:
                lines += ["", word, *(f"    {each}" for each in names)]
        lines += ["", "CHECK_DEADLOCK FALSE"]
        return "\n".join(lines) + "\n"


def _cfg_value(shown: Any, value: int) -> str:
    if isinstance(shown, bool):
        return "TRUE" if shown else "FALSE"
    return f'"{shown}"' if isinstance(shown, str) else str(int(value))


def _comment(text: str) -> list[str]:
    lines = []
    for line in inspect.cleandoc(text).split("\n"):
        wrapped = textwrap.wrap(line, 110, drop_whitespace=False) or [""]
        lines += [f"\\* {each}".rstrip() for each in wrapped]
    return lines if text else []
