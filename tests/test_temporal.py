"""Temporal properties under fairness, compared with the definitions on small random graphs."""

from dataclasses import replace
from itertools import combinations

import graph_spec
from graph_spec import STATES, a, b, f, p, q
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol_lab import NEXT, always, always_eventually, eventually, eventually_always, leads_to
from protocol_lab.declaring.temporal import Fairness
from protocol_lab.temporal.check import check_property

FORMULAS = [always(p), eventually(p), always_eventually(p), eventually_always(p), leads_to(p, q)]
PER_STEP = [
    Fairness.of(action, each, strong)
    for action in (a, b)
    for each in ((), "to")
    for strong in (False, True)
]
MORE = [Fairness.of(what, (), strong) for what in (f, NEXT) for strong in (False, True)]


class Oracle:
    """The definitions, on a graph given by its constants: every set of states is tried as the one
    that a run visits for ever."""

    def __init__(self, c: graph_spec.Constants, fairness: list[Fairness]):
        self.c, self.fairness = c, fairness
        self.starts = [k for k in range(STATES) if c.starts >> k & 1 and c.inside >> k & 1]
        self.steps = [
            [to for to in range(STATES) if self.leads(NEXT, k, to) and c.inside >> to & 1]
            for k in range(STATES)
        ]

    def leads(self, action, here: int, there: int) -> bool:
        """Is here -> there a step of this action that changes something?"""
        c = self.c
        table = {a: c.a_steps, b: c.b_steps, f: c.f_steps, NEXT: c.a_steps | c.b_steps}[action]
        return here != there and table >> (4 * here + there) & 1 == 1

    def conditions(self):
        """(strong, a function that tells whether here -> there counts)."""
        for each in self.fairness:
            what = each.function or NEXT
            for to in range(STATES) if each.each else [None]:
                yield (
                    each.strong,
                    lambda x, y, what=what, to=to: to in (None, y) and self.leads(what, x, y),
                )

    def fair(self, states: tuple[int, ...]) -> bool:
        """Can a fair run visit exactly these states for ever, taking every step between them?"""
        if not all(self.way(x, [y], states) for x in states for y in states):
            return False
        for strong, counts in self.conditions():
            possible = [any(counts(x, y) for y in range(STATES)) for x in states]
            taken = any(counts(x, y) for x in states for y in states if y in self.steps[x])
            if not taken and (any(possible) if strong else all(possible)):
                return False
        return True

    def way(self, start: int, goals, within) -> int:
        """How many states a shortest way has; 0 if there is none."""
        layer, seen, count = {start}, {start}, 1
        while layer:
            if layer & set(goals):
                return count
            layer = {y for x in layer for y in self.steps[x] if y in within} - seen
            seen |= layer
            count += 1
        return 0

    def shortest_prefix(self, formula) -> int:
        """The states before the loop, its first one included, of the best run that breaks the
        formula; 0 if every fair run satisfies it."""
        every = range(STATES)
        holds_p = [k for k in every if self.c.p >> k & 1]
        holds_q = [k for k in every if self.c.q >> k & 1]
        others = [k for k in every if k not in holds_p]
        if formula.operator == "always":
            return min(filter(None, (self.way(x, others, every) for x in self.starts)), default=0)
        found = []
        for size in range(1, STATES + 1):
            for states in combinations(every, size):
                if self.fair(states):
                    found += self.prefixes(formula.operator, states, holds_p, others, holds_q)
        return min(filter(None, found), default=0)

    def prefixes(self, operator, states, holds_p, others, holds_q):
        every = range(STATES)
        if operator == "eventually":
            if not set(states) & set(holds_p):
                yield from (self.way(x, states, others) for x in self.starts if x in others)
        elif operator == "always eventually":
            if not set(states) & set(holds_p):
                yield from (self.way(x, states, every) for x in self.starts)
        elif operator == "eventually always":
            if not set(states) <= set(holds_p):
                yield from (self.way(x, states, every) for x in self.starts)
        elif not set(states) & set(holds_q):
            waiting = [k for k in every if k not in holds_q]
            for middle in set(holds_p) & set(waiting):
                after = self.way(middle, states, waiting)
                for x in self.starts:
                    before = self.way(x, [middle], every)
                    if before and after:
                        yield before + after - 1


masks, quads = st.integers(0, 2**16 - 1), st.integers(0, 15)
sparse = st.builds(lambda x, y: x & y, masks, masks)


@settings(max_examples=400, deadline=None)
@given(
    st.tuples(sparse, sparse, sparse, st.integers(1, 15), quads | st.just(15), quads, quads),
    st.sets(st.sampled_from(PER_STEP), max_size=3) | st.just(frozenset()),
    st.sets(st.sampled_from(MORE), max_size=2),
    st.sampled_from(FORMULAS),
)
def test_verdict_and_prefix_as_by_definition_on_random_graphs(constants, own, more, formula):
    c = graph_spec.Constants(*constants)
    fairness = sorted(own | more, key=lambda each: each.text)
    model = replace(graph_spec.spec, fairness=fairness).bind(**c._asdict())
    expected = Oracle(c, fairness).shortest_prefix(formula)
    result = check_property(model, formula, progress=False)
    assert result.verdict == ("violated" if expected else "holds"), str(result)
    if expected:
        prefix = result.loop_from or len(result.trace_rows)
        assert prefix == expected, str(result)
