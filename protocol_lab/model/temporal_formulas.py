"""Temporal properties and fairness: what must eventually happen, and what is assumed.

A state predicate is a plain function (s, c) that is true or false. A property combines one or two
of them over a whole run, which is an endless sequence of states:

    always(p)              p holds in every state
    eventually(p)          p holds in some state
    always_eventually(p)   p holds again and again: infinitely often
    eventually_always(p)   from some state on p holds forever
    leads_to(p, q)         whenever p holds, q holds then or later

always and eventually are about the start of a run. With given=r each of them is claimed only of
those runs in whose first state r holds: TLA+'s R => []P, R => <>P, R => []<>P, and so on.

A run may stop at any moment and stay where it is (TLA+ calls that stuttering), unless a fairness
condition forbids it. Weak fairness of an action: if it stays enabled from some moment on, it is
eventually taken. Strong fairness: if it is enabled again and again, it is eventually taken. A step
that changes nothing counts neither as taken nor as enabled: in TLA+ the subscript is the tuple of
all variables.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError, quoted
from protocol_lab.model.declarations import Declared
from protocol_lab.model.parameters import Domain, Member, Sequences, domains_of

ALWAYS, EVENTUALLY = "always", "eventually"
ALWAYS_EVENTUALLY, EVENTUALLY_ALWAYS = "always eventually", "eventually always"
LEADS_TO = "leads to"

Predicate = Callable[..., Any] | str
"""A function (s, c, parameters of the property by name), or an expression over s and c."""


@dataclass(frozen=True)
class Formula:
    """One of the five operators with its predicates; of LEADS_TO the second is what it leads to.
    If `is_given`, the last one is what has to hold at the start."""

    operator: str
    predicates: tuple[Predicate, ...]
    is_given: bool = False

    def __post_init__(self) -> None:
        name = self.operator.replace(" ", "_")
        for each in self.predicates:
            if not callable(each) and not isinstance(each, str):
                raise LabError(
                    f"{name} needs a predicate, a function (s, c), not {quoted(each)}: write"
                    f" {name}(is_done), without calling is_done."
                )

    def __repr__(self) -> str:
        named = [repr(p) if isinstance(p, str) else p.__name__ for p in self.predicates]
        named[-1] = f"given={named[-1]}" if self.is_given else named[-1]
        return f"{self.operator.replace(' ', '_')}({', '.join(named)})"

    @property
    def text(self) -> str:
        """The formula in words: "always eventually: somebody leads"."""
        words = [_in_words(each) for each in self.predicates]
        start = f", if at the start {words[-1]}" if self.is_given else ""
        if self.operator == LEADS_TO:
            return f"{words[0]} {self.operator} {words[1]}{start}"
        return f"{self.operator}: {words[0]}{start}"

    @property
    def premise(self) -> str:
        """What has to come about before the formula demands anything, in words; "" for nothing."""
        words = [_in_words(each) for each in self.predicates]
        demanded = words[:1] if self.operator == LEADS_TO else []
        return " after ".join(
            [*demanded, *([f"{words[-1]} at the start"] if self.is_given else [])]
        )


def _in_words(predicate: Predicate) -> str:
    if isinstance(predicate, str):
        return f"({predicate.strip()})"
    return predicate.__name__.replace("_", " ")


def always(p: Predicate, given: Predicate | None = None) -> Formula:
    """p holds in every state: an invariant, written as a temporal property.

    With `given`, as with the other operators: of every run in whose first state that holds.
    """
    return _formula(ALWAYS, p, given=given)


def eventually(p: Predicate, given: Predicate | None = None) -> Formula:
    """p holds in some state of every run."""
    return _formula(EVENTUALLY, p, given=given)


def always_eventually(p: Predicate, given: Predicate | None = None) -> Formula:
    """p holds infinitely often in every run: at any moment p will hold again."""
    return _formula(ALWAYS_EVENTUALLY, p, given=given)


def eventually_always(p: Predicate, given: Predicate | None = None) -> Formula:
    """Every run reaches a state from which on p holds forever."""
    return _formula(EVENTUALLY_ALWAYS, p, given=given)


def leads_to(p: Predicate, q: Predicate, given: Predicate | None = None) -> Formula:
    """Whenever p holds, q holds in the same state or in a later one."""
    return _formula(LEADS_TO, p, q, given=given)


def _formula(operator: str, *predicates: Predicate, given: Predicate | None) -> Formula:
    if given is None:
        return Formula(operator, predicates)
    return Formula(operator, (*predicates, given), is_given=True)


@dataclass(frozen=True)
class TemporalProperty(Declared):
    """A named claim about all runs: `function` returns its Formula.

    `domains` are the function's parameters: the claim is made for every choice of their values.
    """

    function: Callable[..., Formula]
    domains: dict[str, Domain]

    @classmethod
    def of(cls, function: Callable[..., Formula]) -> "TemporalProperty":
        """The property that a decorated function declares. Raises LabError."""
        found = domains_of(function, skip=0)
        for name, domain in found.items():
            if isinstance(domain, Member):
                raise LabError(
                    f"{function.__name__}: {name} can't be a Member of the state, because a"
                    " property is about whole runs; use a Node or a Range."
                )
            if isinstance(domain, Sequences):
                raise LabError(
                    f"{function.__name__}: {name} can't be one of Sequences, because a property's"
                    " parameter is a number; use several parameters, each a Range."
                )
        return cls(function, found)

    @property
    def text(self) -> str:
        """The formula in words, whatever the parameters are."""
        return self.formula(dict.fromkeys(self.domains, 0)).text

    def formula(self, values: dict[str, Any]) -> Formula:
        """The formula for one choice of the parameters. Raises LabError if there is none."""
        try:
            made = self.function(**values)
        except LabError as error:
            raise LabError(f"{self.name}: {error}") from None
        except Exception as error:
            raise LabError(
                f"{self.name} failed with {type(error).__name__}: {error}. A temporal property only"
                " combines predicates: write eventually(is_done), without calling is_done, or"
                " always(is_safe, given=is_ready)."
            ) from error
        if not isinstance(made, Formula):
            raise LabError(
                f"{self.name} returned {made!r}; return always(p), eventually(p),"
                " always_eventually(p), eventually_always(p) or leads_to(p, q)."
            )
        return made


class NextStep:
    """Stands for any step, in place of an action, in a declaration of fairness."""

    def __repr__(self) -> str:
        return "NEXT"


NEXT = NextStep()
"""The whole next-state relation: `spec.weakly_fair(NEXT)` says that a run stops only where no step
is possible."""


@dataclass(frozen=True)
class Either:
    """Several actions that fairness takes for one: a step of any of them counts (see `either`)."""

    actions: tuple[Callable[..., str], ...]


def either(*actions: Callable[..., str]) -> Either:
    """These actions as one: `spec.weakly_fair(either(a, b))` is TLA+'s WF(A \\/ B).

    It demands a step of a or of b, and is met by one of them alone, while `weakly_fair(a, b)`
    demands both: WF(A) /\\ WF(B). Raises LabError.
    """
    for action in actions:
        if not callable(action):
            raise LabError(f"either is made of actions' functions, not of {quoted(action)}.")
    if not actions:
        raise LabError("either needs the functions of some actions, as in either(a, b).")
    return Either(actions)


Fair = Callable[..., str] | Either | NextStep
"""What fairness can be assumed of: an action's function, several actions as one, any step."""


@dataclass(frozen=True)
class Fairness:
    """A fairness assumption about one action, several taken as one, or all of them together.

    functions: the actions'; none for the whole next-state relation. `each` names parameters, or
    fields of a message parameter ("message.dest"): there is one condition for every combination of
    their values. Without `each` there is one condition, "some step of these actions".
    """

    functions: tuple[Callable[..., str], ...]
    each: tuple[str, ...] = ()
    strong: bool = False

    @classmethod
    def of(cls, what: Fair, each: str | tuple[str, ...], strong: bool) -> "Fairness":
        """The assumption, checked. Raises LabError if `each` names something that can't tell steps
        apart."""
        paths = (each,) if isinstance(each, str) else tuple(each)
        if isinstance(what, NextStep):
            if paths:
                raise LabError("NEXT is every action together; leave out `each`.")
            return cls((), (), strong)
        functions = what.actions if isinstance(what, Either) else (what,)
        for function in functions:
            _check_paths(function, paths)
        return cls(functions, paths, strong)

    @property
    def names(self) -> tuple[str, ...]:
        """The actions' names; none for the whole next-state relation."""
        return tuple(function.__name__ for function in self.functions)

    @property
    def name(self) -> str:
        """The actions as text: "a", "a or b"; "some step" for the whole next-state relation."""
        return " or ".join(self.names) or "some step"

    def counts(self, action: str, own: bool) -> bool:
        """Do the steps of the action of this name count? own: it is an action of the spec."""
        return action in self.names if self.functions else own

    @property
    def text(self) -> str:
        """The assumption in words: "weak fairness of become_leader for each server"."""
        return fairness_texts([self])[0]


def _check_paths(action: Callable[..., str], paths: tuple[str, ...]) -> None:
    domains = domains_of(action, skip=2)
    for path in paths:
        name, dot, _ = path.partition(".")
        if name not in domains:
            known = ", ".join(domains) or "none"
            raise LabError(f"{action.__name__} has no parameter {name!r}; it has: {known}.")
        if isinstance(domains[name], Member) != bool(dot):
            raise LabError(
                f"{action.__name__}: {path!r} is not a number; name a field of a message, as in"
                ' "message.dest", and any other parameter by itself.'
            )


def fairness_texts(assumed: Iterable[Fairness]) -> list[str]:
    """The assumptions in words; those that differ only in the action are joined."""
    names: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for one in assumed:
        names.setdefault((one.strong, one.each), []).append(one.name)
    return [
        f"{'strong' if strong else 'weak'} fairness of {', '.join(named)}"
        + (f" for each {', '.join(each)}" if each else "")
        for (strong, each), named in names.items()
    ]


def keys_of(action: str, assumed: Iterable[Fairness]) -> tuple[str, ...]:
    """All parameters and fields by which the assumptions distinguish steps of this action."""
    return tuple(dict.fromkeys(path for one in assumed if action in one.names for path in one.each))
