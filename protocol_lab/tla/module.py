"""A spec as a TLA+ module, and the configuration file with which TLC checks it.

One definition for each action and invariant, after those of the helpers that it needs. Names stay;
one that TLA+ has another use for, or that two things share, gets a number: next_id_2.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.constants import limits_of, show
from protocol_lab.model.layout import Bag, Named, Node
from protocol_lab.model.parameters import Member, Range, Sequences, Subset, TrueOrFalse, names_used
from protocol_lab.model.spec import Action, Model, Spec
from protocol_lab.reader.dependencies import reachable
from protocol_lab.reader.reading import reading
from protocol_lab.reader.source_code import is_of_protocol
from protocol_lab.tla import values as tla
from protocol_lab.tla.functions import Definition, Functions
from protocol_lab.tla.values import TRUE, Scope, Tla, Value

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

WIDTH = 92

_MOST_LINES, _MOST_STATEMENTS = 800, 500
"""A function's statement is one to four lines of TLA+."""


@dataclass(frozen=True)
class Written:
    """A module's name and text, and that of its configuration file.

    definitions: the definition of each action and property, by its name in Python.
    """

    name: str
    text: str
    configuration: str
    definitions: dict[str, str]


def written(model: Model) -> Written:
    """The module of a model. Raises LabError for what has no translation, with its place, and for a
    spec whose module would be longer than about 800 lines."""
    spec = model.spec
    too_long = tla.NoTranslation(
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
        raise tla.NoTranslation(
            f"{spec.name} is too deeply nested to be translated to TLA+: split its functions."
        ) from None
    if made.text.count("\n") > _MOST_LINES:
        raise too_long
    return made


def _statements(spec: Spec) -> int:
    """How many statements the functions of a spec have, with all that they call."""
    declared = [*spec.inits, *spec.actions, *spec.invariants, *spec.step_invariants]
    declared += [*spec.expected, *spec.constraints]
    functions = filter(is_of_protocol, reachable([each.function for each in declared]))
    nodes = (node for each in functions for node in ast.walk(reading(each).as_written))
    return sum(isinstance(node, ast.stmt) for node in nodes)


class _Module:
    def __init__(self, model: Model, multisets: set[Bag]):
        self.model, self.spec = model, model.spec
        spec = self.spec
        self.name = "".join(k if k.isalnum() else "_" for k in spec.name.rpartition(".")[2])
        if not any(each.isalpha() for each in self.name):
            raise LabError(f"{spec.name!r} can't be the name of a TLA+ module: use letters.")
        taken = tla.Names(RESERVED.split())
        self.limits = limits_of(spec.constants)
        self.constants = {each: taken.new(each) for each in self.limits}
        self.variables = {each: taken.new(each) for each in spec.state.field_types}
        properties = [*spec.invariants, *spec.step_invariants, *spec.constraints, *spec.expected]
        self.parts = {each.function: taken.new(each.name) for each in [*spec.actions, *properties]}
        kinds: dict[Node, str] = {}
        for function in [each.function for each in spec.inits] + list(self.parts):
            for each, value in function.__globals__.items():
                if isinstance(value, Node) and value not in kinds and not each.startswith("_"):
                    kinds[value] = taken.new(each)
        self.types = tla.Types(kinds, multisets, self.constants)
        self.functions = Functions(self.types, spec, self.variables, taken)

    # --- Definitions -----------------------------------------------------------------------------

    def written(self) -> Written:
        """The module, with all that belongs to it."""
        spec, inits, steps = self.spec, [], []
        for each in spec.inits:
            made, choices = self._action(each, initial=True)
            inits.append(_chosen(choices, _in_line(made)))
        doc = spec.inits[0].doc if len(spec.inits) == 1 else ""
        self._define("Init", [(tla.disj(*inits), "")] if inits else [], doc)
        self._mark("Actions")
        for each in spec.actions:
            made, choices = self._action(each)
            self.functions.defined.append(made)
            called = tla.call(made.name, *map(Tla, made.given))
            steps.append((_chosen(choices, called), ""))
        self._define("Next", steps or [(tla.FALSE, "")], sign="\\/")
        self._define("vars", [(tla.tuple_of(*map(Tla, self.variables.values())), "")])
        self._define("Spec", [(Tla("Init /\\ [][Next]_vars"), "")])
        for title, group, make in (
            ("Constraints", spec.constraints, self._property),
            ("Invariants", spec.invariants, self._property),
            ("Expected: the negation of each has a counterexample", spec.expected, self._situation),
            ("Invariants of steps", spec.step_invariants, self._step_invariant),
        ):
            if group:
                self._mark(title)
            for each in group:
                parts = make(each.function)
                made = Definition(self.parts[each.function], (), self._lets(), parts, each.doc)
                self.functions.defined.append(made)
        return self._laid_out()

    def _define(self, name: str, parts: list, doc: str = "", sign: str = "/\\") -> None:
        self.functions.defined.append(Definition(name, (), [], parts, doc, sign))

    def _mark(self, title: str) -> None:
        self.functions.defined.append(Definition("", (), [], [], title))

    def _start(self, function: Callable, of_steps: bool = False) -> tuple[dict[str, Value], Scope]:
        """The parameters that every function has, and the scope before it."""
        self.functions.local, self.functions.definitions = set(), []
        states = {"s.": "", "after.": "'"} if of_steps else {"s.": ""}
        *of_states, of_constants = function.__code__.co_varnames[: len(states) + 1]
        given = {
            name: Value(None, tla.STATE, known=prefix)
            for name, prefix in zip(of_states, states, strict=True)
        }
        scope: Scope = {}
        for prefix, prime in states.items():
            scope |= self.functions.state(prefix, prime)
        return given | {of_constants: tla.CONSTANTS}, scope

    def _bound(self, bound: Any, given: dict[str, Value], scope: Scope) -> Tla:
        """The bound of a parameter's domain, also one that a function gives."""
        if not callable(bound):
            return self.types.size(bound)
        first, second = list(given)[:2]
        roles = {"s": given[first], "c": given[second], **given}
        return self.functions.result(bound, {k: roles[k] for k in names_used(bound)}, scope).tla

    def _parameter(self, domain: Any, given: dict[str, Value], scope: Scope) -> tuple[Any, Tla]:
        """The type of a parameter, and the set of its values."""
        match domain:
            case Node():
                return tla.INT, self.types.nodes(domain)
            case TrueOrFalse():
                return tla.BOOL, Tla("BOOLEAN")
            case Range(low, high):
                return tla.INT, self.types.numbers(
                    *(self._bound(each, given, scope) for each in (low, high))
                )
            case Named(names):
                return domain, tla.set_of(*map(tla.string, names))
            case Subset(of, None):
                is_kind = isinstance(of, Node)
                every = self.types.nodes(of) if is_kind else self._bound(of, given, scope)
                return tla.NODES, Tla(f"SUBSET {every.within(16)}", tla.PREFIX)
            case Member(path) if f"s.{path}" in scope:
                now = scope[f"s.{path}"]
                return tla.item_of(now.type), self.types.items(now.type, now.tla)
            case Sequences(low, high, length):
                low, high, length = (self._bound(b, given, scope) for b in (low, high, length))
                indices = tla.between(tla.ZERO, tla.plus(length, -1))
                values = tla.between(low, high)
                return tla.Own(indices), Tla(f"[{indices.text} -> {values.text}]")
        raise tla.NoTranslation(f"{domain!r} has no translation to TLA+.")

    def _action(self, action: Action, initial: bool = False) -> tuple[Definition, dict[str, Tla]]:
        """An action's definition, and the sets from which its parameters are chosen."""
        given, scope = self._start(action.function)
        choices = {}
        for each, domain in action.domains.items():
            bound = self.functions.fresh(each)
            kind, choices[bound] = self._parameter(domain, given, scope)
            given[each] = Value(Tla(bound), kind)
        if initial:
            for each, kind in self.spec.state.field_types.items():
                scope[f"s.{each}"] = Value(self.types.zero(tla.type_of(kind)), tla.type_of(kind))
        parts, taken = self._judged(action.function, given, scope)
        same = []
        for each, shown in self.variables.items():
            key = f"s.{each}"
            *others, (_, last) = taken or [(TRUE, scope)]
            value = last[key].tla
            for test, other in reversed(others):
                value = tla.if_(test, other[key].tla, value)
            if initial:
                parts.append((Tla(f"{shown} = {value.within(6)}"), ""))
            elif value == Tla(shown):
                same.append(shown)
            else:
                parts.append((Tla(f"{shown}' = {value.within(6)}"), ""))
        if same:
            shown = f"<<{', '.join(same)}>>" if same[1:] else same[0]
            parts.append((Tla(f"UNCHANGED {shown}"), ""))
        name = "Init" if initial else self.parts[action.function]
        return Definition(name, (*choices,), self._lets(), parts, action.doc), choices

    def _lets(self) -> list[str]:
        """What LET defines in the function that was read last."""
        return self.functions.definitions

    def _judged(
        self, function: Callable, given: dict[str, Value], scope: Scope
    ) -> tuple[list[tuple[Tla, str]], list[tuple[Tla, Scope]]]:
        """What a function that returns "" or a reason comes to: (what must be true, with the reason
        if it is not; the tests and scopes of its other ends)."""
        parts: list[tuple[Tla, str]] = []
        taken: list[tuple[Tla, Scope]] = []

        def ended(test: Tla, reason: Tla, last: Scope) -> None:
            if reason.parts[:1] == ("IF",):
                _, inner, yes, no = reason.parts
                ended(tla.conj(test, inner), yes, last)
                ended(tla.conj(test, tla.neg(inner)), no, last)
            elif reason == tla.string(""):
                taken.append((test, last))
            elif reason.text.startswith('"'):
                refused(test, reason.text[1:-1])
            else:
                refused(tla.conj(test, tla.op("#", reason, tla.string(""))), "")
                taken.append((test, last))

        def refused(test: Tla, remark: str) -> None:
            before = [tla.neg(each) for each, _ in taken]
            parts.append((tla.if_(tla.conj(*before), tla.neg(test), TRUE), remark))

        for end in self.functions.body(function, given, scope):
            ended(end.test, self.functions.read(end.value, end.scope).tla, end.scope)
        return parts, taken

    def _property(self, function: Callable) -> list[tuple[Tla, str]]:
        return self._judged(function, *self._start(function))[0]

    def _situation(self, function: Callable) -> list[tuple[Tla, str]]:
        value = self.functions.result(function, *self._start(function))
        return [(tla.converted(value, tla.BOOL), "")]

    def _step_invariant(self, function: Callable) -> list[tuple[Tla, str]]:
        parts, _ = self._judged(function, *self._start(function, of_steps=True))
        whole = _in_line(Definition("", (), self._lets(), parts))
        self.functions.definitions = []
        return [(Tla(f"[][{whole.text}]_vars"), "")]

    # --- Layout ----------------------------------------------------------------------------------

    def _laid_out(self) -> Written:
        t, used, shown, body = self.functions, set(), {}, []
        for made in t.defined:
            if made.name:
                used |= made.words
                rows = [*_comment(made.doc), *_lines(made)]
                shown[made.name] = "\n".join(rows)
                body += [*rows, ""]
            else:
                body += ["", f"\\* --- {made.doc} {'-' * max(3, WIDTH - 9 - len(made.doc))}", ""]
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
            if name in used:
                every = tla.between(Tla("1"), self.types.size(node.count))
                lines += [f"{name} == {every.text}"]
        lines += [""]
        for each, rows in STANDARD.items():
            lines += [*rows, ""] if each in used else []
        text = "\n".join(line.rstrip() for line in [*lines, *body, "=" * WIDTH]) + "\n"
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        definitions = {each.function.__name__: shown["Init"] for each in self.spec.inits}
        definitions |= {each.__name__: shown[name] for each, name in self.parts.items()}
        return Written(self.name, text, self._configuration(), definitions)

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


def _chosen(choices: dict[str, Tla], body: Tla) -> Tla:
    """An action with every choice of its parameters."""
    for bound, domain in reversed(choices.items()):
        body = tla.quantified("\\E", bound, domain, body)
    return body


def _in_line(made: Definition) -> Tla:
    """A definition's value as an expression."""
    return tla.with_let(made.lets, tla.conj(*(each for each, _ in made.parts)))


def _lines(made: Definition) -> list[str]:
    """The lines of a definition."""
    head = f"{made.name}({', '.join(made.given)}) ==" if made.given else f"{made.name} =="
    parts, lets = [], made.lets
    for whole, remark in made.parts or [(TRUE, "")]:
        *before, last = _conjuncts(whole) if made.sign == "/\\" else [whole]
        parts += [*((each, "") for each in before), (last, remark)]
    if not lets and len(parts) == 1 and not parts[0][1]:
        one = f"{head} {parts[0][0].text}"
        if len(one) <= WIDTH:
            return [one]
    rows, indent = [head], "    "
    for k, each in enumerate(lets):
        rows += _wrapped(f"    {'    ' if k else 'LET '}{each}", 12)
    if lets:
        rows, indent = [*rows, "    IN"], "        "
    for each, remark in parts:
        bullet = f"{made.sign} " if len(parts) > 1 else ""
        found = _wrapped(f"{indent}{bullet}{each.text}", len(indent) + 8)
        beside = f"{found[-1]}  \\* else: {remark}"
        if remark and len(beside) <= WIDTH:
            found[-1] = beside
        rows += [f"{indent}\\* else: {remark}"] if remark and found[-1] != beside else []
        rows += found
    return rows


def _conjuncts(value: Tla) -> list[Tla]:
    """The parts of a conjunction. A disjunction becomes =>, since in an action TLC tries each side,
    also if the first one is true."""
    match value.parts:
        case ("/\\", left, right):
            return [*_conjuncts(left), *_conjuncts(right)]
        case ("\\/", left, right):
            return [tla.op("=>", tla.neg(left), right)]
    return [value]


def _wrapped(line: str, indent: int) -> list[str]:
    """A long line, broken after commas and before words of TLA+, but not in a text."""
    rows = []
    while len(line) > WIDTH:
        places = [
            each.end() if each[0][-2:] in (", ", "\\ ") else each.start() + 1
            for each in re.finditer(
                r'"(?:\\.|[^"])*"|, | /\\ | (?:THEN|ELSE|IN|LET|CHOOSE) | \w+ == ', line
            )
            if not each[0].startswith('"')
        ]
        places = [each for each in places if each > indent + 8]
        fitting = [each for each in places if each <= WIDTH] or places[:1]
        if not fitting:
            break
        rows.append(line[: fitting[-1]].rstrip())
        line = " " * indent + line[fitting[-1] :].lstrip()
    return [*rows, line]


def _comment(text: str) -> list[str]:
    lines = []
    for line in inspect.cleandoc(text).split("\n") if text else ():
        wrapped = textwrap.wrap(line, 110, drop_whitespace=False) or [""]
        lines += [f"\\* {each}".rstrip() for each in wrapped]
    return lines
