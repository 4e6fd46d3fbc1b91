"""Temporal properties under fairness, compared with the definitions on small random graphs."""

import re
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol_lab import *
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.liveness.check import check_property
from protocol_lab.model.temporal_formulas import Fairness
from protocol_lab.traces.scenario_format import link_text, parse_scenario, scenario_text
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.text_exports import to_itf, to_mermaid
from protocol_lab.traces.walk import Walk
from tests import graph_spec, request_reply
from tests.graph_spec import STATES, a, b, f, p, q
from tests.spec_checks import read_link
from tests.toy_specs import counter

FORMULAS = [always(p), eventually(p), always_eventually(p), eventually_always(p), leads_to(p, q)]
FORMULAS += [
    each(p, given=q) for each in (always, eventually, always_eventually, eventually_always)
]
FORMULAS += [leads_to(p, q, given=q)]
PER_STEP = [
    Fairness.of(action, each, strong)
    for action in (a, b)
    for each in ((), "to")
    for strong in (False, True)
]
MORE = [
    Fairness.of(what, (), strong)
    for what in (f, NEXT, either(a, b), either(b, f))
    for strong in (False, True)
]
MORE += [Fairness.of(either(a, b), "to", strong) for strong in (False, True)]


Client = Node("clients")


class Slots(Struct):
    at: Int8
    flags: Array(Bool, 2)


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
            whats = each.functions or (NEXT,)
            for to in range(STATES) if each.each else [None]:
                yield (
                    each.strong,
                    lambda x, y, whats=whats, to=to: (
                        to in (None, y) and any(self.leads(what, x, y) for what in whats)
                    ),
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

    def visits(self, wanted) -> bool:
        """Does a fair run visit one of these states?"""
        every = range(STATES)
        return any(
            self.way(x, [middle], every) and self.way(middle, states, every)
            for size in range(1, STATES + 1)
            for states in combinations(every, size)
            if self.fair(states)
            for x in self.starts
            for middle in wanted
        )

    def shortest_prefix(self, formula) -> int:
        """The states before the loop, its first one included, of the best run that breaks the
        formula; 0 if every fair run satisfies it."""
        every = range(STATES)
        holds_p, holds_q = holding(self.c.p), holding(self.c.q)
        others = [k for k in every if k not in holds_p]
        if formula.is_given:
            self.starts = [k for k in self.starts if k in holds_q]
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


def holding(mask: int) -> list[int]:
    """The states in which a predicate with this constant is true."""
    return [k for k in range(STATES) if mask >> k & 1]


masks, quads = st.integers(0, 2**16 - 1), st.integers(0, 15)
sparse = st.builds(lambda x, y: x & y, masks, masks)


@pytest.mark.slow
@pytest.mark.vacuous
@settings(max_examples=300, deadline=None)
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
    oracle = Oracle(c, fairness)
    some_run = oracle.visits(range(STATES))
    expected = oracle.shortest_prefix(formula)
    verdict = "violated" if expected else "holds" if some_run else "undecided"
    result = check_property(model, formula, progress=False)
    assert result.verdict == verdict, str(result)
    # Of a formula with `given`, the oracle has only the starts that are given.
    demanding = holding(c.p) if formula.operator == "leads to" else range(STATES)
    moot = bool(formula.premise) and not oracle.visits(demanding)
    assert result.vacuous == (moot and verdict == "holds"), str(result)
    if expected:
        prefix = result.loop_from or len(result.trace_rows)
        assert prefix == expected, str(result)


# --- A protocol: requests and replies ------------------------------------------------------------


def is_asking(s, c, client) -> bool:
    """Does the client wait for an answer?"""
    return s.client[client].waiting


def is_served(s, c, client) -> bool:
    """Does the client wait for nothing?"""
    return not s.client[client].waiting


def fair_network() -> Spec:
    """Requests and replies, with a server and a network that do not put off anything for ever."""
    spec = replace(request_reply.spec, name="toy.fair_network", properties=[], fairness=[])
    spec.weakly_fair(
        request_reply.handle_request, request_reply.receive_reply, each="message.client"
    )
    spec.weakly_fair(request_reply.retry, each="client")

    @spec.property
    def every_request_is_answered(client: request_reply.Client):
        """Whoever asks has an answer in the end."""
        return leads_to(is_asking, is_served)

    return spec


@pytest.mark.slow
def test_an_answer_comes_unless_the_network_loses_too_much():
    spec = fair_network()
    sure = check_property(spec.bind(lossy=False, crashes=0), "every_request_is_answered")
    assert (sure.verdict, sure.fairness) == (
        "holds",
        [
            "weak fairness of handle_request, receive_reply for each message.client",
            "weak fairness of retry for each client",
        ],
    )
    lost = check_property(spec.bind(clients=2, crashes=0), "every_request_is_answered")
    assert (lost.verdict, lost.parameters, lost.stutters) == ("violated", {"client": 1}, True)
    assert [step.text for step in lost.trace] == [
        "send_request(client=1)",
        "retry(client=1)",
        "lose_request(message=Message(client=1))",
        "lose_request(message=Message(client=1))",
    ]
    assert [each.condition.action for each in lost.why_fair] == [
        *(f"handle_request(message.client={client})" for client in (1, 2)),
        *(f"receive_reply(message.client={client})" for client in (1, 2)),
        "retry(client=1)",
        "retry(client=2)",
    ]
    told = "never possible there: handle_request for each message.client, receive_reply for each"
    assert told in str(lost)


def two_in_turn() -> Spec:
    """A switch that a and b can flip for ever, and a step out that strong fairness demands."""
    spec = replace(graph_spec.spec, name="toy.switch", properties=[], fairness=[])

    @spec.property
    def gets_to_p():
        """The run gets to a state where p is true."""
        return eventually(p)

    return spec


SWITCH = {"a_steps": 1 << 1 | 1 << 4, "b_steps": 1 << 6, "p": 4}
"""a leads from 0 to 1 and back, b from 1 to 2, where p is true."""


def test_a_lasso_is_a_walk_and_a_scenario(tmp_path):
    spec = two_in_turn()
    spec.weakly_fair(a, b)
    result = check_property(spec.bind(**SWITCH), "gets_to_p")
    text = scenario_text(result)
    assert text.splitlines()[-2:] == ["!loops_to 1", "!violates gets_to_p"]
    walk = play(parse_scenario(text), result.model)
    assert (walk.loop_from, walk.moment.depth) == (1, 3)
    assert scenario_text(walk).endswith("a(to=1)\na(to=0)\n!loops_to 1\n")
    assert read_link(link_text(walk), result.model).loop_from == 1
    again = read_pasted(to_itf(walk), result.model)
    assert again.loop_from == 1
    assert "This is state 1 again: the run goes round" in to_mermaid(walk)
    assert Walk.along(result).loop_from == 1


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("a(to=1)\n!loops_to 1", "line 3: this state is not state 1 again."),
        ("a(to=1)\n!loops_to 7", "line 3: there is no state 7 on this path; it has 2 states."),
        (
            "a(to=1)\n!loops_to x",
            "line 3: 'x' is not the number of a state; write one, as in !loops_to 3.",
        ),
        ("a(to=1)\n!violates gets_to_p", "is about whole runs: first say with !loops_to"),
        ("a(to=1)\n!loops_to 2\n!violates gets_to_p", "the loop is not fair: some a is possible"),
        ("a(to=1)\nb(to=2)\n!loops_to 3\n!violates gets_to_p", "the run satisfies gets_to_p."),
    ],
)
def test_a_wrong_loop_in_a_scenario_is_told(lines, told):
    spec = two_in_turn()
    spec.weakly_fair(a, b)
    constants = "  ".join(f"{name}={value}" for name, value in SWITCH.items())
    with pytest.raises(LabError, match=re.escape(told)):
        play(parse_scenario(f"# spec: toy.switch  {constants}\n{lines}\n"), spec.bind(**SWITCH))


# --- Bounds, and bad input -----------------------------------------------------------------------


def test_a_bound_leaves_it_undecided_and_a_lasso_within_it_counts():
    model = counter.bind(limit=9)
    bounded = check_property(model, eventually("s.n == 9"), fairness="next", max_states=5)
    assert (bounded.verdict, bounded.exhaustive) == ("undecided", False)
    assert "more than 5 distinct states" in str(bounded)
    seen = check_property(model, eventually("s.n == 9"), fairness="none", max_states=5)
    assert (seen.verdict, seen.loop_from) == ("violated", 1)


def test_stopping_leaves_it_undecided():
    model = two_in_turn().bind(**SWITCH)
    result = check_property(model, eventually(p), stopped=lambda: True)
    assert (result.verdict, result.undecided_reason) == ("undecided", "stopped")
    assert "eventually: p not judged; stopped" in str(result)


# --- Verdicts about nothing ----------------------------------------------------------------------


def is_in(s, c, mode) -> bool:
    return s.at == 9 + mode


@pytest.mark.vacuous
def test_a_named_value_is_called_by_its_name():
    spec = two_in_turn()

    @spec.property
    def gets_there(mode: Named("idle", "busy")):
        return leads_to(is_in, p)

    model = spec.bind(**SWITCH)
    result = check_property(model, "gets_there", progress=False)
    assert "never true on a fair run" in str(result)

    @spec.property
    def is_there(mode: Named("idle", "busy")):
        return always(is_in)

    broken = check_property(spec.bind(**SWITCH), "is_there", progress=False)
    assert "violated: is_there (always: is in) for mode=idle" in str(broken)
    assert broken.to_json()["parameters"] == {"mode": "idle"}


def either_way(s, c) -> bool:
    """True in every state, so that nothing breaks what is claimed of it."""
    return s.at >= 0


@pytest.mark.vacuous
@pytest.mark.parametrize(
    "formula",
    [
        *(each(either_way) for each in (always, eventually, always_eventually, eventually_always)),
        leads_to(either_way, either_way),
        eventually(p),
        leads_to(either_way, p),
    ],
    ids=str,
)
def test_a_property_that_no_run_could_break_is_undecided(formula):
    """b is possible in state 1 and leads outside, so that a run inside can't be strongly fair."""
    spec = two_in_turn()
    spec.weakly_fair(a)
    spec.strongly_fair(b)
    cut_off = spec.bind(**SWITCH | {"inside": 3})
    result = check_property(cut_off, formula, progress=False)
    assert (result.verdict, result.vacuous) == ("undecided", False)
    assert "no fair run stays inside the constraint" in str(result)
    assert check_property(cut_off, leads_to(p, q), fairness="none").reservation


@pytest.mark.vacuous
def test_a_premise_that_is_true_only_where_no_fair_run_goes_is_told():
    """State 3, where q is true, is a dead end beside which a step leads outside: no fair run goes
    there. State 2 can be reached by a fair run, which goes round between 0 and 1 before."""
    spec = two_in_turn()
    spec.weakly_fair(a, b)
    steps = {"a_steps": 1 << 1 | 1 << 4, "b_steps": 1 << 3 | 1 << 14, "inside": 11}
    model = spec.bind(**SWITCH | steps | {"q": 8, "p": 2})
    result = check_property(model, leads_to(q, p), progress=False)
    assert (result.verdict, result.distinct, result.vacuous) == ("holds", 3, True)
    assert "every fair run that stays inside the constraint, but q is never true on a fair run" in (
        str(result)
    )
    assert check_property(model, leads_to(q, p), fairness="none").verdict == "violated"
    told = result.to_json()
    assert (told["vacuous"], told["premise"]) == (True, "q")


@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (lambda spec: spec.weakly_fair(a, each="from"), "a has no parameter 'from'; it has: to."),
        (lambda spec: spec.weakly_fair(a, each="to.x"), "a: 'to.x' is not a number"),
        (lambda spec: spec.weakly_fair(NEXT, each="to"), "NEXT is every action together"),
        (lambda spec: spec.weakly_fair(either()), "needs the functions of some actions"),
        (lambda spec: spec.weakly_fair(either(a, "b")), "made of actions' functions, not of 'b'"),
        (lambda spec: spec.weakly_fair(either(a, p), each="to"), "p has no parameter 'to'"),
        (
            lambda spec: check_property(spec.bind(), "gets_to_p", view=True),
            "view can't be combined with",
        ),
        (lambda spec: check_property(spec.bind(), "x"), "has no temporal property 'x'; it has:"),
        (lambda spec: check_property(spec.bind(), "gets_to_p", fairness="x"), "no fairness 'x'"),
        (lambda spec: check_property(spec.bind(), eventually("s.")), "is not a Python expression"),
    ],
)
def test_bad_input_is_told(declare, told):
    with pytest.raises(LabError, match=re.escape(told)):
        declare(two_in_turn())


def late(s, c):
    """True or False in the initial state, and nothing later."""
    if s.at == 0:
        return False


def says_holds(s, c):
    """An invariant: "" means that it holds, and as a condition it would be false."""
    return "" if s.at == 0 else "it has moved"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (says_holds, "says_holds returned ''; a condition is True or False: return a comparison"),
        (late, "toy.switch, late: a condition is True or False: return a comparison, such as"),
    ],
)
def test_a_predicate_is_true_or_false(condition, told):
    """A text counted as true, so that a property of an invariant was judged in reverse."""
    with pytest.raises(LabError, match=re.escape(told)):
        check_property(two_in_turn().bind(), eventually(condition), progress=False)
