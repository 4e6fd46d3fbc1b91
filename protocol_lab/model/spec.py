"""A protocol: its state, constants, initial states, actions and properties.

A spec module makes one `Spec` and registers plain functions with it, in the order in which they
are to be tried and shown. They return "" (TAKEN, or HOLDS) or the reason why not; only a situation
is true or false:

    @spec.init                      (s, c, <choices>)   fills a zeroed state
    @spec.action                    (s, c, <choices>)   guards first, then effects, then TAKEN
    @spec.invariant                 (s, c)              a property of every state
    @spec.step_invariant            (before, after, c)  a property of every generated transition
    @spec.situation                 (s, c)              true in a state that is worth finding
    @spec.constraint                (s, c)              states outside are checked, not expanded
    @spec.view                      (s, c)              erases what must not distinguish states
    spec.symmetric                                      interchangeable nodes (`Symmetry`)
    @spec.property                  (<choices>)         a claim about whole runs, a `Formula`
    @spec.claim(title, needs=...)   (s, c, node)        what a node has said (`declarations`)
    spec.refines                                        a more abstract spec (`refinements`)
    spec.weakly_fair, strongly_fair                     which actions can't be put off forever

The stepper, the search engines and the simulation all use these same functions. Registering another
function of the same name replaces the first, in its place, so that a notebook's cell can be edited
and run again, and a variant can have an action of its own. Two functions of one name in one file,
or in one cell, are a mistake.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from protocol_lab.errors import LabError, quoted, unknown
from protocol_lab.model import constants as constants_module
from protocol_lab.model.constants import Configuration, constants_of
from protocol_lab.model.declarations import (
    Channel,
    Claim,
    Declared,
    End,
    Refinement,
    Symmetry,
    channel,
    expect_plain,
)
from protocol_lab.model.layout import Node, Struct, StructLayout, resolve
from protocol_lab.model.parameters import Domain, domains_of
from protocol_lab.model.temporal_formulas import (
    Either,
    Fair,
    Fairness,
    Formula,
    NextStep,
    TemporalProperty,
)

TAKEN = ""
"""What an action returns when it was taken."""

HOLDS = ""
"""What an invariant returns when it holds."""

TRUE_OR_FALSE = "a condition is True or False: return a comparison, such as s.x[1] == 9"
"""What to write where an invariant was given for a condition."""


@dataclass(frozen=True)
class Action(Declared):
    """An action with its parameters' domains.

    `multiplicity`, if given, takes the same arguments and returns how often TLC counts the step as
    generated: once for every disjunct that is satisfied, where the original writes a guard as "or".
    """

    function: Callable[..., str]
    domains: dict[str, Domain]
    multiplicity: Callable[..., int] | None = None


@dataclass(frozen=True)
class Property(Declared):
    """An invariant, a step invariant or a constraint."""

    function: Callable[..., str | bool]
    by_default: bool = True


@dataclass(frozen=True)
class Situation(Declared):
    """A state worth finding: a function (s, c) that is true in it.

    The first line of the function's docstring is the label under which a learner picks it. If it is
    `expected`, a search says whether it was reached; otherwise it claims nothing.
    """

    function: Callable[..., bool]
    expected: bool = False

    @property
    def label(self) -> str:
        return self.doc.partition("\n")[0].rstrip(".") or self.name.replace("_", " ")


class Registered(list):
    """Everything of one kind that was declared, in order. (The decorator has the name in the
    singular.)"""

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise LabError(
            "This is the list of what was declared: write the decorator in the singular, such as"
            " @spec.invariant, @spec.action or @spec.init."
        )


@dataclass(repr=False)
class Spec:
    """A declared protocol. `name` is package.module, as in "kafka.kip_320".

    `meaning` is the module's docstring. `original` is the TLA+ module that it restates, if any:
    traces that TLC prints for that module can be read (see `interchange.tlc_traces`), and `added`
    are the fields that it does not have. `tlc` is the name of a module with what only a comparison
    with TLC's counts needs, if anything; it is loaded with the first model. Its MULTIPLICITIES maps
    actions' functions to their multiplicities.
    `configurations` are constants under a name. `file` is the path by which the spec was loaded, if
    it was. `draw`, set by the spec's package, turns a state into SVG.
    `decisions` are the actions by which a controller, a balancer, an operator or the environment
    decides: counterexamples have them as late as what follows from them allows. Variants
    whose actions come from several modules may share a list, of which each has some.
    `properties` and `fairness` are about whole runs (see `temporal_formulas`). `symmetries` and
    `erase`, the declared view, are used only by searches that ask for them. For the sequence
    diagram: `lifelines` are the participants, each a name, a kind of node, or a function of the
    constants that gives names (if empty, all kinds of nodes that actions and messages name).
    `events`, a function of (before, after, c, step), returns Arrows and Notes for what happened in
    a step besides the declared messages; None if messages and the step's parameters say enough (see
    `traces.events`).
    `choices` maps actions' names to sentences for the stepper's buttons, with the action's
    parameters in braces (see `explain.wording`); an action without one is named with its
    parameters.
    """

    name: str
    state: type[Struct]
    constants: type = constants_module.NoConstants
    meaning: str | None = ""
    actions: list[Action] = field(default_factory=Registered)
    inits: list[Action] = field(default_factory=Registered)
    invariants: list[Property] = field(default_factory=Registered)
    step_invariants: list[Property] = field(default_factory=Registered)
    constraints: list[Property] = field(default_factory=Registered)
    situations: list[Situation] = field(default_factory=Registered)
    properties: list[TemporalProperty] = field(default_factory=Registered)
    refinements: list[Refinement] = field(default_factory=list)
    fairness: list[Fairness] = field(default_factory=list)
    symmetries: list[Symmetry] = field(default_factory=list)
    erase: Callable[..., None] | None = None
    draw: Callable[..., str] | None = None
    lifelines: tuple[str | Node | Callable[[Any], list[str]], ...] = ()
    events: Callable[..., list | None] | None = None
    choices: Mapping[str, str | Callable[..., str]] = field(default_factory=dict)
    channels: list[Channel] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    original: str = ""
    tlc: str = ""
    added: tuple[str, ...] = ()
    configurations: tuple[Configuration, ...] = ()
    decisions: tuple[str, ...] = ()
    file: Path | None = None

    def __post_init__(self) -> None:
        self.meaning = self.meaning or ""  # under `python -OO` a module has no docstring
        if not isinstance(self.name, str):
            raise LabError(
                'Spec(name, state, constants): the name comes first: Spec("lock", State).'
            )
        if not isinstance(self.state, type) or not issubclass(self.state, Struct):
            raise LabError(
                f"{self.name}: the state is a class that is a Struct: write class State(Struct),"
                f' and Spec("{self.name}", State, Constants).'
            )
        for each in (self.state, self.constants):
            _owners.setdefault(each, self.name)

    def __repr__(self) -> str:
        return f"{self.name}: {len(self.actions)} actions, {len(self.invariants)} invariants"

    @property
    def expected(self) -> list[Situation]:
        """The situations that must be reachable."""
        return [each for each in self.situations if each.expected]

    def init(self, function: Callable) -> Callable:
        """Register the function that fills a zeroed state; with parameters it gives several initial
        states."""
        self._put(self.inits, Action(function, domains_of(function, skip=2)), "an initial state")
        return function

    def action(
        self,
        function: Callable | None = None,
        *,
        multiplicity: Callable | None = None,
    ) -> Callable:
        """Register an action, as a decorator or called with a shared function."""
        if function is None:
            return partial(self.action, multiplicity=multiplicity)
        added = Action(function, domains_of(function, skip=2), multiplicity)
        self._put(self.actions, added, "an action")
        return function

    def invariant(self, function: Callable | None = None, *, by_default: bool = True) -> Callable:
        """Register an invariant; one that is not `by_default` is checked only when named."""
        return self._register(self.invariants, function, by_default, "an invariant")

    def step_invariant(
        self, function: Callable | None = None, *, by_default: bool = True
    ) -> Callable:
        """Register a property of (before, after, c)."""
        kind, parameters = "a step invariant", "(before, after, c)"
        return self._register(self.step_invariants, function, by_default, kind, parameters)

    def constraint(self, function: Callable) -> Callable:
        """Register a bound on the states that are counted and expanded."""
        return self._register(self.constraints, function, True, "a constraint")

    def property(self, function: Callable[..., Formula]) -> Callable[..., Formula]:
        """Register a claim about whole runs: the function returns its formula (see
        `temporal_formulas`).

        The claim is made for every choice of the function's parameters, whose domains depend on the
        constants only. Raises LabError.
        """
        self._put(self.properties, TemporalProperty.of(function), "a temporal property")
        return function

    def refines(
        self,
        other: "Spec",
        mapping: Callable[..., None],
        *,
        constants: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        """Claim that every step maps to a step of another spec, or to none (see `refinements`).

        mapping: a function (s, c, a) that fills the abstract state. constants: a function of c that
        gives the other's constants; by default those of the same name. Raises LabError.
        """
        if len(signature(mapping).parameters) != 3:
            raise LabError(
                f"{mapping.__name__}: a mapping is a function of (s, c, a) that fills the abstract"
                " state a."
            )
        added = Refinement(mapping, other, constants)
        kept = [each for each in self.refinements if each.name != added.name]
        self.refinements[:] = [*kept, added]

    def weakly_fair(self, *actions: Fair, each: str | tuple[str, ...] = ()) -> None:
        """Assume weak fairness of each of these actions: one that stays enabled is eventually
        taken.

        So weakly_fair(a, b) is TLA+'s WF(a) /\\ WF(b); WF(a \\/ b), which is weaker, is
        weakly_fair(either(a, b)). each: one condition for every combination of these parameters, or
        fields of a message parameter ("message.dest"); else one for "some step of this action". An
        action may also be NEXT, or a function that is not an action of this spec: a step of another
        action counts for it if it leads to the same state. Raises LabError.
        """
        self._assume(actions, each, strong=False)

    def strongly_fair(self, *actions: Fair, each: str | tuple[str, ...] = ()) -> None:
        """Assume strong fairness of each of these actions: one that is enabled again and again is
        eventually taken. As `weakly_fair`."""
        self._assume(actions, each, strong=True)

    def _assume(self, actions: tuple[Fair, ...], each: str | tuple[str, ...], strong: bool) -> None:
        for action in actions:
            if not callable(action) and not isinstance(action, NextStep | Either):
                raise LabError(
                    f"Fairness is assumed of an action's function, not of {quoted(action)}."
                )
            added = Fairness.of(action, each, strong)
            same = (added.name, added.each, added.strong)
            kept = [own for own in self.fairness if (own.name, own.each, own.strong) != same]
            self.fairness[:] = [*kept, added]

    def symmetric(self, node: Node, *, among: Callable[[Any], int] | None = None) -> None:
        """Declare that these nodes are interchangeable (see `symmetry_declaration`).

        among: a function of the constants that gives a bitmask; None for all nodes of the kind. A
        search that uses the declaration first tests it on some states, and refuses a wrong one.
        """
        if not isinstance(node, Node):
            raise LabError(
                f"symmetric needs a kind of node, such as Node({quoted(node)}), that a field has."
            )
        if not node.count.isidentifier():
            raise LabError(
                f"To be symmetric, a Node needs a constant of its own, not {node.count!r}."
            )
        self.symmetries[:] = [each for each in self.symmetries if each.node != node]
        self.symmetries.append(Symmetry(node, among))

    def view(self, function: Callable[..., None]) -> Callable[..., None]:
        """Register the view: what two states must share to count as one, as with TLC's VIEW.

        The function (s, c) erases, in a copy of a state, all that must not distinguish it from
        others. Of states that are then equal only the first found is expanded. So a search that
        uses a view can miss states, and its verdict is never "holds".
        """
        if len(signature(function).parameters) != 2:
            raise LabError(f"{function.__name__}: a view is a function of (s, c).")
        self.erase = function
        return function

    def messages(
        self,
        path: str,
        *,
        source: End = 0,
        dest: End = 1,
        lost_by: Iterable[str] = (),
        lost: str = "",
        label: Callable[[Any], str] | None = None,
    ) -> None:
        """Declare that a bag or sequence of the state, or one for every pair of nodes, holds
        messages.

        source, dest: the sender and the receiver (see `channels`). lost_by: the actions that remove
        a message undelivered. lost: the name of a parameter, a set of nodes, to whom messages are
        lost as they are sent. label: a function that describes a message in a few words. Raises
        LabError if there are no such messages.
        """
        declared = channel(
            self.state,
            path,
            source,
            dest,
            lost_by=tuple(lost_by),
            lost=lost,
            label=label,
        )
        self.channels[:] = [each for each in self.channels if each.path != path] + [declared]

    def situation(self, function: Callable | None = None, *, expected: bool = False) -> Callable:
        """Register a state worth finding, which a learner can pick: a function (s, c) that is true
        in it.

        expected: such a state must be reachable, so that a vacuous model is noticed.
        """
        if function is None:
            return partial(self.situation, expected=expected)
        if len(signature(function).parameters) != 2:
            raise LabError(f"{function.__name__}: a situation is a function of (s, c).")
        self._put(self.situations, Situation(function, expected), "a situation")
        return function

    def sometimes(self, function: Callable) -> NoReturn:
        """Refuse what earlier releases of the kit had, and say what replaces it."""
        raise LabError(
            f"{function.__name__}: a state that must be reachable is a situation: write "
            "@spec.situation(expected=True), and return True in such a state."
        )

    def claim(
        self,
        title: str,
        *,
        needs: str | Callable[..., int],
        excludes: str = "",
        meets: str = "",
    ) -> Callable[[Callable], Callable]:
        """Register a claim (see `declarations`): a function of (s, c, node) that returns what the
        node has said about it."""

        def register(function: Callable) -> Callable:
            added = Claim(function, title, needs, excludes, meets)
            self.claims[:] = [each for each in self.claims if each.name != added.name] + [added]
            return function

        return register

    def _register(
        self,
        properties: list[Property],
        function: Callable | None,
        by_default: bool,
        kind: str,
        parameters: str = "(s, c)",
    ) -> Callable:
        if function is None:
            return lambda function: self._register(
                properties, function, by_default, kind, parameters
            )
        if len(signature(function).parameters) != parameters.count(",") + 1:
            raise LabError(f"{function.__name__}: {kind} is a function of {parameters}.")
        self._put(properties, Property(function, by_default), kind)
        return function

    def _put(self, registered: list, added: Declared, kind: str) -> None:
        """Append to one of the lists, or replace what has the same name there."""
        expect_plain(added.function)
        kinds = [self.inits, self.actions, self.invariants, self.step_invariants]
        kinds += [self.constraints, self.situations, self.properties]
        for other in kinds:
            if other is not registered and any(each.name == added.name for each in other):
                raise LabError(
                    f"{self.name} already has something else named {added.name!r}: give {kind}"
                    " another name."
                )
        for k, each in enumerate(registered):
            if each.name == added.name:
                self._refuse_twins(each.function, added.function)
                registered[k] = added
                return
        registered.append(added)

    def _refuse_twins(self, first: Callable, second: Callable) -> None:
        """Raise LabError for two functions that one file, or one cell, defines under one name.

        A cell that is run again has another file name, or defines the function on the same line.
        """
        places = [
            (each.__module__, each.__qualname__, each.__code__.co_filename)
            for each in (first, second)
        ]
        lines = [each.__code__.co_firstlineno for each in (first, second)]
        if places[0] == places[1] and lines[0] != lines[1]:
            raise LabError(
                f"{self.name} has two functions named {second.__name__!r}, in"
                f" {Path(places[0][2]).name} at lines {lines[0]} and {lines[1]}: give one of them"
                " another name."
            )

    def bind(self, configuration: str | None = None, /, **values: Any) -> "Model":
        """The model of this spec with these constants, which can be stepped and explored.

        configuration: the name of one of the spec's configurations. values: constants that differ
        from it. All others have their defaults. Raises LabError.
        """
        if not self.inits:
            raise LabError(
                f"{self.name} has no initial state: write a function (s, c) with @spec.init above"
                " it that fills the state and returns TAKEN."
            )
        known = {each.name: each.function.__module__ for each in self.actions}
        for each in self.decisions if len({*known.values()}) == 1 else ():
            if each not in known:
                raise unknown("action", each, known)
        self.state, self.constants = self._newest(self.state), self._newest(self.constants)
        named = constants_of(self.configurations, configuration, self.name)
        return self.model(constants_module.bind(self.constants, {**named, **values}, self.name))

    def model(self, bound: Any) -> "Model":
        """The model with this tuple of all constants. Raises LabError."""
        self._load_tlc()
        return Model(self, bound, resolve(self.state, self.room_for(bound)))

    def room_for(self, bound: Any) -> dict[str, int]:
        """How much room the layout of a state has for each constant.

        The specs of a package have more than they need, so that few layouts have to be compiled:
        they go through nodes by their numbers. Another spec has exactly what its constants say: a
        loop of it may go over all that is there.
        """
        is_of_package = "." in self.name
        return constants_module.capacities(self.state, bound) if is_of_package else bound._asdict()

    def _load_tlc(self) -> None:
        """Register what the module `tlc` has, once.

        It is loaded this late because it imports the functions of the module that declares the
        spec. An action that a learner has replaced meanwhile has another function, and keeps none.
        """
        if not self.tlc:
            return
        module, self.tlc = import_module(self.tlc), ""
        ways = module.MULTIPLICITIES
        self.actions[:] = [
            replace(each, multiplicity=ways.get(each.function, each.multiplicity))
            for each in self.actions
        ]

    def _newest(self, declared: type) -> type:
        """The class as its cell declares it now, since the cell may have been edited and run again.

        A class of this name that has other bases, or belongs to another spec, is another one.
        """
        cells = [each.function for each in [*self.inits, *self.actions]]
        scopes = [each.__globals__ for each in cells if each.__module__ == "__main__"]
        scope = scopes[0] if scopes else vars(sys.modules["__main__"])
        found = scope.get(declared.__name__)
        if declared.__module__ != "__main__" or getattr(found, "__module__", "") != "__main__":
            return declared
        is_newer = isinstance(found, type) and _bases(found) == _bases(declared)
        return found if is_newer and _owners.get(found, self.name) == self.name else declared


def _bases(declared: type) -> list[str]:
    return [each.__qualname__ for each in declared.__bases__]


_owners: WeakKeyDictionary[type, str] = WeakKeyDictionary()
"""The name of the spec that each class of a state or of constants was first given to."""


@dataclass(frozen=True, repr=False)
class Model:
    """A spec with its constants and the layout of its states."""

    spec: Spec
    constants: Any
    layout: StructLayout

    def __repr__(self) -> str:
        return f"{self.spec.name}  {constants_module.show_text(self.constants)}"

    @property
    def words(self) -> int:
        """The size of one state in 8-byte words."""
        return self.layout.size // 8

    def widened(self, size: str) -> "Model | None":
        """This model with more room in the container of this declared size; None if it is at its
        maximum."""
        wider = constants_module.widened(self.constants, size) if size else None
        return None if wider is None else self.spec.model(wider)

    def choose(self, names: Iterable[str] | None) -> tuple[list[Property], list[Property]]:
        """The (state, step) invariants of these names, in declaration order; None: the defaults.

        Raises LabError for a name that the spec does not have.
        """
        every = self.spec.invariants + self.spec.step_invariants
        if names is not None:
            names = [names] if isinstance(names, str) else list(names)
            by_name = {each.name: each for each in every}
            for name in names:
                if name in [each.name for each in self.spec.properties + self.spec.refinements]:
                    raise LabError(
                        f"{name} is a temporal property or a refinement: check it with"
                        f" check_property(model, {name!r}), or with check --property {name}."
                    )
                if name in [each.name for each in self.spec.situations]:
                    raise LabError(
                        f"{name} is a situation, not an invariant. For a trace to such a state"
                        " declare an invariant that says the opposite: it returns HOLDS where the"
                        " state is another, and its counterexample is the trace."
                    )
                if name not in by_name:
                    known = ", ".join(by_name)
                    raise LabError(
                        f"{self.spec.name} has no invariant {quoted(name)}; it has: {known}."
                    )
        chosen = [
            each for each in every if (each.by_default if names is None else each.name in names)
        ]
        if names is not None:
            chosen.sort(key=lambda each: names.index(each.name))
        return (
            [each for each in chosen if each in self.spec.invariants],
            [each for each in chosen if each in self.spec.step_invariants],
        )

    def action(self, name: str) -> Action:
        """The action of this name. Raises LabError."""
        for action in self.spec.actions:
            if action.name == name:
                return action
        known = ", ".join(action.name for action in self.spec.actions)
        raise LabError(f"{self.spec.name} has no action {quoted(name)}; it has: {known}.")


def expect_model(given: Any) -> None:
    """Raises LabError for anything but a model, such as a spec whose constants were not bound."""
    if isinstance(given, Spec):
        raise LabError(f"{given.name} has no constants yet: call bind() on the spec.")
    if not isinstance(given, Model):
        raise LabError(f"A model is needed here, such as spec.bind(), not {quoted(given)}.")
