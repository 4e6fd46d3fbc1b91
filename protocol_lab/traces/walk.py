"""A walk through the states of a model: steps, undo and redo, and branches kept side by side."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from protocol_lab.checker.result import Result
from protocol_lab.errors import CapacityExceeded, EvaluationError, LabError, quoted
from protocol_lab.model.spec import Model, Property, expect_model
from protocol_lab.model.state_view import repacked, view
from protocol_lab.model.step_text import (
    Step,
    find_initial,
    find_step,
    initial_text,
    start_text,
    step_of,
    steps_between,
)
from protocol_lab.model.transitions import Attempt, attempts, evaluate, evaluate_step
from protocol_lab.reader.unsupported_syntax import expect_language


@dataclass(eq=False, repr=False)
class Moment:
    """One state of a walk, and the step that led to it (none at the start).

    loops_to: for an endless run, the depth of the earlier state that this one equals, where the
    loop begins; or its own depth, if the run stays here forever.
    """

    row: bytes
    step: Step | None = None
    previous: "Moment | None" = None
    caption: str = ""
    depth: int = 1
    loops_to: int | None = None

    def __repr__(self) -> str:
        return f"state {self.depth}: {self.step or 'the start'}"

    @property
    def going_on(self) -> str:
        """How the run goes on forever from here, as a sentence; "" if it is not an endless run."""
        if self.loops_to is None:
            return ""
        if self.loops_to == self.depth:
            return "The run stays here for ever."
        return f"This is state {self.loops_to} again: the run goes round from there for ever."

    def path(self) -> list["Moment"]:
        """The moments from the start to this one."""
        moments, moment = [], self
        while moment is not None:
            moments.append(moment)
            moment = moment.previous
        return moments[::-1]


@dataclass(frozen=True)
class Standing:
    """One invariant in one state: `reason` is "" where it holds.

    If it can't be computed, `is_known` is false and the reason says why.
    """

    name: str
    reason: str
    meaning: str
    by_default: bool = True
    is_known: bool = True

    @property
    def holds(self) -> bool:
        return self.reason == ""

    @property
    def is_broken(self) -> bool:
        return self.is_known and not self.holds


@dataclass(repr=False)
class Walk:
    """A walk through a model: a current moment on one of several named branches.

    Taking a step that no branch has ahead starts a new branch if the current one has other steps
    ahead, so that nothing is lost. A branch that ends here is extended.
    """

    model: Model
    start: Moment
    branches: dict[str, Moment] = field(default_factory=dict)
    branch: str = "main"
    init: str | None = None  # the line init(...) that chooses the start; None if it is the only one
    _standings: dict[Moment, list[Standing]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def begin(cls, model: Model, init: str | None = None) -> "Walk":
        """A walk from the initial state; `init` chooses one of several. Raises LabError."""
        expect_model(model)
        expect_language(each.function for each in model.spec.actions)
        found = find_initial(model, init)
        start = Moment(found.row)
        walk = cls(model, start, {"main": start}, init=start_text(model, found))
        walk.moment = start
        return walk

    @classmethod
    def along(cls, result: Result) -> "Walk":
        """A walk along the trace of an exploration, at its start. Raises LabError.

        If the run is endless, the last moment says where it loops to.
        """
        if not result.trace_rows:
            raise LabError("This exploration found no trace to walk along.")
        walk = cls.begin(result.model, result.initial)
        for step in result.trace:
            walk.take(step.text)
        if result.loop_from is not None:
            walk.close_loop(result.loop_from)
        walk.first()
        return walk

    @classmethod
    def to(cls, result: Result, fingerprint: int) -> "Walk":
        """A walk to a state that a search on Spark has stored, at its end: the path on which the
        search found it, which is a shortest one.

        fingerprint: as in the table `states`. Raises LabError if no stored state has it.
        """
        if not hasattr(result.search, "path_to"):
            raise LabError("A walk to a row needs the result of a search on Spark.")
        rows = result.search.path_to(fingerprint)
        walk = cls.begin(result.model, initial_text(result.model, rows[0]))
        for step in steps_between(result.model, rows):
            walk.take(step.text)
        return walk

    def __post_init__(self) -> None:
        self.moment = self.start

    def __repr__(self) -> str:
        return f"{self.model}, state {self.moment.depth} of {len(self.path)}"

    @property
    def row(self) -> bytes:
        return self.moment.row

    @property
    def state(self) -> Any:
        """The current state as a view that prints as names."""
        return view(self.model.layout, self.row)

    @property
    def path(self) -> list[Moment]:
        """All moments of the current branch, those ahead included."""
        return self.branches[self.branch].path()

    @property
    def steps(self) -> list[Step]:
        """The steps taken so far."""
        return [moment.step for moment in self.moment.path()[1:]]

    def attempts(self) -> list[Attempt]:
        """Every action with every choice of parameters: either possible, or refused with the
        reason.

        If a step needs more storage than the model has, the walk first changes to a larger model,
        if possible.
        """
        while True:
            found = list(attempts(self.model, self.row))
            if not any(self._make_room(each, self.moment) for each in found):
                return found

    def _make_room(self, each: Attempt, moment: Moment) -> bool:
        """Change to a model with more storage if a step needs it; returns whether it did.

        The steps stay the same; all rows of the walk are those of the new model.
        """
        size = each.error.size if isinstance(each.error, CapacityExceeded) else ""
        wider = self.model.widened(size)
        if wider is None:
            return False
        ends = [moment, self.moment, *self.branches.values()]
        for known in dict.fromkeys(known for end in ends for known in end.path()):
            known.row = repacked(self.model.layout, wider.layout, known.row)
        self.model = wider
        return True

    def _attempt(self, moment: Moment, text: str) -> Attempt:
        """The attempt of a step, given as text, after a moment; with more storage if it needs
        that."""
        each = find_step(self.model, moment.row, text)
        return self._attempt(moment, text) if self._make_room(each, moment) else each

    def step_of(self, each: Attempt) -> Step:
        """The step, with its text, of an attempt in the current state."""
        return step_of(self.model, self.row, each.action, each.args)

    def take(self, step: str | Attempt, caption: str = "") -> Moment:
        """Take a step, given as text or as an attempt. Raises LabError if it can't happen."""
        each = self._attempt(self.moment, step) if isinstance(step, str) else step
        taken = self.step_of(each)
        if not each.taken:
            raise LabError(f"{taken.text} can't happen here: {each.reason}.")
        known = self._known_after(self.moment, taken)
        is_at_end = self.moment is self.branches[self.branch]
        if known is not None and not is_at_end:
            names = [self.branch, *self.branches]
            self.branch = next(name for name in names if known in self.branches[name].path())
        else:
            # A branch that ends here is extended under its own name, even along another branch's
            # steps.
            known = known or Moment(each.row, taken, self.moment, caption, self.moment.depth + 1)
            self.branch = self.branch if is_at_end else self._new_name()
            self.branches[self.branch] = known
        self.moment = known
        return known

    def close_loop(self, depth: int) -> None:
        """Note that the run is endless: from here it repeats what it did from this depth on.

        With the current depth it stays here forever. Raises LabError if the states differ.
        """
        path = self.moment.path()
        if not 1 <= depth <= len(path):
            raise LabError(f"there is no state {depth} on this path; it has {len(path)} states.")
        if path[depth - 1].row != self.row:
            raise LabError(f"this state is not state {depth} again.")
        self.moment.loops_to = depth

    @property
    def loop_from(self) -> int | None:
        """The depth at which the current branch's endless loop begins; None if it has none."""
        return self.branches[self.branch].loops_to

    def undo(self) -> None:
        """One step back; stays at the start."""
        self.moment = self.moment.previous or self.moment

    def redo(self) -> None:
        """One step ahead on this branch; stays at its end."""
        self.moment = self.ahead or self.moment

    def first(self) -> None:
        """Back to the start."""
        self.moment = self.start

    def last(self) -> None:
        """To the end of this branch."""
        self.moment = self.branches[self.branch]

    def go_to(self, depth: int) -> None:
        """To the moment of this depth (1 = the start) on the current branch."""
        path = self.path
        self.moment = path[min(max(depth, 1), len(path)) - 1]

    def after(self, *steps: str) -> "Walk":
        """A walk of its own: the steps taken so far, and then these. This one stays as it is.

        Raises LabError for a step that can't happen.
        """
        end = None
        for each in self.moment.path():
            end = replace(each, previous=end)
        walk = Walk(self.model, end.path()[0], {"main": end}, init=self.init)
        walk.moment = end
        for step in steps:
            walk.take(step)
        return walk

    def fork(self, name: str | None = None) -> str:
        """Start a new branch that ends, so far, at the current moment."""
        name = name or self._new_name()
        if name in self.branches:
            raise LabError(f"There is a branch {quoted(name)} already; choose another name.")
        self.branches[name] = self.moment
        self.branch = name
        return name

    def lay(self, name: str, steps: Iterable[str], caption: str = "") -> None:
        """Add a new branch with these steps ahead of the current moment, which stays the current
        one.

        Moments that another branch has already are shared with it. Raises LabError for a name that
        is taken, or a step that can't happen, and then changes nothing.
        """
        if name in self.branches:
            raise LabError(f"There is a branch {quoted(name)} already; choose another name.")
        moment = self.moment
        for text in steps:
            each = self._attempt(moment, text)
            taken = step_of(self.model, moment.row, each.action, each.args)
            if not each.taken:
                raise LabError(f"{taken.text} can't happen there: {each.reason}.")
            known = self._known_after(moment, taken)
            moment = known or Moment(each.row, taken, moment, caption, moment.depth + 1)
        self.branches[name] = moment
        self.branch = name

    def new_name(self, wanted: str) -> str:
        """This name, with a number appended if there already is such a branch."""
        names = (wanted, *(f"{wanted} {k}" for k in range(2, len(self.branches) + 3)))
        return next(name for name in names if name not in self.branches)

    def switch(self, name: str) -> None:
        """Go to the end of another branch. Raises LabError for an unknown name."""
        if name not in self.branches:
            raise LabError(
                f"There is no branch {quoted(name)}; there are {', '.join(self.branches)}."
            )
        self.branch = name
        self.moment = self.branches[name]

    def standings(self, moment: Moment | None = None) -> list[Standing]:
        """Every invariant of the spec in a moment, default ones first, with the reason if it
        fails."""
        moment = moment or self.moment
        if moment not in self._standings:
            self._standings[moment] = self._judge(moment)
        return self._standings[moment]

    def _judge(self, moment: Moment) -> list[Standing]:
        model, found = self.model, []

        def judge(each: Property, evaluate: Callable[..., str], *rows: bytes) -> None:
            try:
                reason, is_known = evaluate(model, *rows, each.function), True
            except EvaluationError as error:
                reason, is_known = f"can't be computed: {error}", False
            found.append(Standing(each.name, reason, each.doc, each.by_default, is_known))

        for each in model.spec.invariants:
            judge(each, evaluate, moment.row)
        for each in model.spec.step_invariants if moment.previous else []:
            judge(each, evaluate_step, moment.previous.row, moment.row)
        return sorted(found, key=lambda standing: not standing.by_default)

    @property
    def ahead(self) -> Moment | None:
        """The next moment on the current branch, if it goes on."""
        here, *ahead = self.path[self.moment.depth - 1 :] or [None]
        return ahead[0] if ahead and here is self.moment else None

    def _known_after(self, moment: Moment, step: Step) -> Moment | None:
        """The moment that this step leads to, if some branch has taken it here."""
        for end in self.branches.values():
            for before, after in pairwise(end.path()):
                if before is moment and after.step.text == step.text:
                    return after
        return None

    def _new_name(self) -> str:
        return next(name for k in range(2, 10**6) if (name := f"branch {k}") not in self.branches)
