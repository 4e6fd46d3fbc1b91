"""How near a violation is, finding a state, and working in the background.

The oracle is a plain breadth-first search over the uncompiled functions.
"""

import random
import threading
from itertools import chain, repeat

import pytest

from protocol_lab import HOLDS, TAKEN, Int8, LabError, Range, Spec, Struct
from protocol_lab.distance.distance_values import (
    ALL_STATES,
    EXACT,
    FROM_HERE,
    MORE,
    NEVER,
    UNKNOWN,
    Distance,
)
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.distance.path_to_state import FOUND, UNDECIDED, UNREACHABLE, find_state
from protocol_lab.explore import explore
from protocol_lab.model.transitions import evaluate, evaluate_step, initial, successors
from protocol_lab.stepper.live import Background
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from tests import PATIENCE, request_reply
from tests.toy_specs import CounterConstants, counter, letters
from tests.work_units import one_in

# --- The oracle ------------------------------------------------------------------------------


def is_inside(model, row) -> bool:
    return not any(evaluate(model, row, each.function) for each in model.spec.constraints)


def breaks(model, names, before, row) -> bool:
    """Is a state, or the step that led to it, a violation?"""
    states, steps = model.choose(names)
    return any(evaluate(model, row, each.function) for each in states) or (
        before is not None
        and any(evaluate_step(model, before, row, each.function) for each in steps)
    )


def steps_to_a_violation(model, names, row) -> int | None:
    """Breadth first from a state that breaks nothing; the state itself is always expanded."""
    level, seen, depth = [row], {row}, 0
    while level:
        ahead, depth = [], depth + 1
        for before in level:
            for each in successors(model, before):
                if breaks(model, names, before, each.row):
                    return depth
                if each.row not in seen and is_inside(model, each.row):
                    seen.add(each.row)
                    ahead.append(each.row)
        level = ahead
    return None


def expected(model, names, row) -> tuple[Distance, list[Distance]]:
    after = []
    for each in successors(model, row):
        if breaks(model, names, row, each.row):
            after.append(Distance(EXACT))
        elif not is_inside(model, each.row):
            after.append(Distance(UNKNOWN))
        else:
            steps = steps_to_a_violation(model, names, each.row)
            after.append(Distance(NEVER) if steps is None else Distance(EXACT, steps))
    if breaks(model, names, None, row):
        return Distance(EXACT), after
    steps = steps_to_a_violation(model, names, row)
    if steps is not None:
        return Distance(EXACT, steps), after
    unknown = not is_inside(model, row) and Distance(UNKNOWN) in after
    return Distance(UNKNOWN if unknown else NEVER), after


def sampled(model, count, seed=1) -> list[bytes]:
    """States met by a random walk that also leaves the constraint, each once."""
    chance, rows, row = random.Random(seed), [], next(initial(model)).row
    while len(rows) < count:
        rows.append(row)
        ahead = [each.row for each in successors(model, row)]
        restart = not ahead or chance.random() < 0.05
        row = next(initial(model)).row if restart else chance.choice(ahead)
    return list(dict.fromkeys(rows))


def by_search(model, names=None, **bounds) -> Nearness:
    """One that never looks at all states first."""
    near = Nearness(model, names, seconds=PATIENCE, **bounds)
    near.too_large = "for this test"
    return near


# --- A small spec with all that matters: a constraint, and steps that break something ----------


class PlaneState(Struct):
    x: Int8
    y: Int8


plane = Spec("toy.plane", PlaneState, CounterConstants, "A point that moves about.")


@plane.init
def origin(s: PlaneState, c: CounterConstants):
    return TAKEN


@plane.action
def right(s: PlaneState, c: CounterConstants, by: Range(1, 2)):
    s.x += by
    return TAKEN


@plane.action
def up(s: PlaneState, c: CounterConstants):
    if s.x % 2 == 1:
        return "only from an even x"
    s.y += 1
    return TAKEN


@plane.action
def back(s: PlaneState, c: CounterConstants):
    if s.x == 0:
        return "at the left end"
    s.x = 0
    return TAKEN


@plane.constraint
def near_the_origin(s: PlaneState, c: CounterConstants):
    return HOLDS if s.x <= c.limit and s.y <= c.limit else "too far away"


@plane.invariant
def not_there(s: PlaneState, c: CounterConstants):
    return "it is there" if s.x == 3 and s.y == 3 else HOLDS


@plane.invariant(by_default=False)
def not_beyond(s: PlaneState, c: CounterConstants):
    return "it is beyond" if s.y > c.limit and s.x == 2 else HOLDS


@plane.invariant(by_default=False)
def never_negative(s: PlaneState, c: CounterConstants):
    return "it is negative" if s.x < 0 else HOLDS


@plane.step_invariant(by_default=False)
def no_long_way_back(before: PlaneState, after: PlaneState, c: CounterConstants):
    return "a long way back" if before.x - after.x >= 4 and before.y == 2 else HOLDS


MODELS = [
    (plane.bind(limit=5), ["not_there"]),
    (plane.bind(limit=5), ["not_beyond"]),
    (plane.bind(limit=5), ["never_negative"]),
    (plane.bind(limit=5), ["no_long_way_back"]),
    (plane.bind(limit=5), ["not_there", "no_long_way_back"]),
    (letters.bind(servers=2, values=2), ["few_letters"]),
    (letters.bind(servers=3, values=1, starts=1), ["few_letters", "values_grow"]),
    (request_reply.spec.bind(), None),
    (request_reply.spec.bind(remembers="in_memory"), None),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", [ALL_STATES, FROM_HERE])
@pytest.mark.parametrize(("model", "names"), one_in(4, MODELS))
def test_every_distance_is_that_of_a_plain_search(model, names, way):
    near = by_search(model, names) if way == FROM_HERE else Nearness(model, names)
    assert near.prepare() == (way == ALL_STATES)
    for row in sampled(model, 25):
        answer = near.ask(row)
        assert (answer.here, answer.after) == expected(model, names, row)
        # The search from here goes on where the map knows nothing: from outside the constraint.
        assert answer.how == way or not is_inside(model, row)


# --- Bounds ----------------------------------------------------------------------------------


def test_a_bound_is_told_and_never_wrong():
    model = plane.bind(limit=99)
    row = next(initial(model)).row
    exact, after = expected(model, ["not_there"], row)
    for states in (1, 2, 3, 5, 9, 1_000):
        answer = by_search(model, ["not_there"], max_states=states).ask(row)
        for said, true in zip([answer.here, *answer.after], [exact, *after], strict=True):
            assert said == true or (said.kind == MORE and said.steps < true.steps)
    assert answer.here == exact


@pytest.mark.parametrize("way", [ALL_STATES, FROM_HERE])
def test_what_does_not_fit_is_a_bound_and_no_exception(way):
    model = counter.bind(limit=None, step=50)  # an Int8: 0, 50, 100, and no further
    near = by_search(model, ["never_to_three"]) if way == FROM_HERE else Nearness(model, [])
    rows = [next(initial(model)).row]
    rows += [next(successors(model, rows[0])).row]
    rows += [next(successors(model, rows[1])).row]
    assert near.prepare() is False
    assert way == FROM_HERE or "limit" in near.too_large
    assert [near.ask(row).here.text for row in rows] == [
        "more than 2 steps",
        "more than 1 step",
        "more than 0 steps",
    ]


@pytest.mark.slow
def test_states_and_memory_are_bounded():
    model = letters.bind(servers=3, values=4, starts=1)
    near = Nearness(model, ["few_letters"], max_states=100)
    assert not near.prepare()
    assert near.too_large == "more than 100 distinct states (max_states)"
    near = Nearness(model, ["few_letters"], memory_bytes=20_000)
    assert near.ask(next(initial(model)).row).here.kind in (EXACT, MORE)
    assert near.too_large == "more than 0 MiB of memory"


# --- Stopping, and asking from two threads -----------------------------------------------------


@pytest.mark.slow
def test_a_stopped_question_has_no_answer_and_the_next_one_has():
    model = letters.bind(servers=3, values=3, starts=1)
    row = next(initial(model)).row
    near = Nearness(model, ["logged_values_were_seen"])
    for polls in (0, 1, 2, 5, 20):
        calls = chain([False] * polls, repeat(True))
        assert near.ask(row, lambda calls=calls: next(calls)) is None
    calls = chain([False, False], repeat(True))
    assert near.prepare(lambda: next(calls)) is False
    assert near.prepare() is True
    assert near.ask(row).here == Distance(NEVER)
    assert near.ask(row) is near.ask(row)


def test_two_threads_may_ask_while_a_third_prepares():
    model, names = plane.bind(limit=9), ["not_there", "no_long_way_back"]
    near, rows = Nearness(model, names), sampled(plane.bind(limit=9), 20)
    answers: dict[int, list] = {1: [], 2: []}

    def ask(who: int) -> None:
        for row in rows if who == 1 else rows[::-1]:
            answers[who].append(near.ask(row))

    threads = [threading.Thread(target=ask, args=(who,)) for who in answers]
    threads.append(threading.Thread(target=near.prepare))
    for each in threads:
        each.start()
    explore(model, progress=False)  # the learner's own search in the foreground
    for each in threads:
        each.join()
    wanted = [expected(model, names, row) for row in rows]
    assert [(each.here, each.after) for each in answers[1]] == wanted
    assert [(each.here, each.after) for each in answers[2]] == wanted[::-1]


def test_an_unknown_invariant_gets_one_sentence():
    with pytest.raises(LabError, match="has no invariant 'no_such'"):
        Nearness(plane.bind(), ["no_such"])


def the_talks_loss():
    """The walk of slides 46-56."""
    folder = scenarios_of("kafka.unclean_leader_election")
    return play(read_scenario(next(each for each in folder if "found_scenario" in each.name)))


@pytest.mark.slow
@pytest.mark.parametrize("way", [ALL_STATES, FROM_HERE])
def test_the_talks_loss_comes_one_step_nearer_with_every_step(way):
    walk = the_talks_loss()
    near = by_search(walk.model) if way == FROM_HERE else Nearness(walk.model)
    near.prepare()
    distances = [near.ask(moment.row).here for moment in walk.path]
    assert distances == [Distance(EXACT, left) for left in range(len(walk.path) - 1, -1, -1)]


# --- Find me a state ---------------------------------------------------------------------------


def test_the_shortest_path_from_here():
    model = plane.bind(limit=5)
    row = next(initial(model)).row
    found = find_state(model, row, "s.x == 3 and s.y == 3")
    assert (found.verdict, len(found.steps)) == (FOUND, 5)
    assert found.rows[0] == row
    assert found.text.startswith("5 steps to the nearest such state;")
    there = found.rows[-1]
    here = find_state(model, there, "s.x == 3 and s.y == 3  # already")
    assert (here.verdict, here.steps, here.rows) == (FOUND, [], [there])
    assert find_state(model, there, "s.y < 3").verdict == UNREACHABLE
    assert find_state(model, None, lambda s, c: s.y == 6).verdict == FOUND  # checked, outside
    assert find_state(model, None, "s.y == 7").verdict == UNREACHABLE
    outside = find_state(model, None, "s.y == 6").rows[-1]
    assert len(find_state(model, outside, "s.y == 7").steps) == 1  # where one stands is left


def test_a_search_for_a_state_tells_its_bounds_and_its_progress():
    model = letters.bind(servers=3, values=4, starts=1)
    told = []
    found = find_state(
        model,
        None,
        "s.next_value == 100",
        max_states=5_000,
        progress=lambda states, depth: told.append((states, depth)),
    )
    assert found.verdict == UNDECIDED
    assert "5,000" in found.reason
    assert told
    assert told == sorted(told)
    assert find_state(model, None, "s.flag", stopped=lambda: True).reason == "stopped"
    late = find_state(model, None, "s.next_value == 100", seconds=0)
    assert late.reason == "more than 0 seconds"
    cut = find_state(letters.bind(servers=3, slots=1), None, "s.next_value == 100")
    assert (cut.verdict, "raise slots" in cut.text) == (UNDECIDED, True)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("s.x ==", "not a Python expression"),
        ("s.z == 1", "fails on the initial state"),
        ("unknown == 1", "neither the spec nor the kit has"),
        ("s.x == 1\0", "not a Python expression"),
        ("f'{s.x:03d}' == '001'", "can't use a formatted string"),
    ],
)
def test_a_wrong_condition_gets_one_sentence(condition, words):
    with pytest.raises(LabError, match=words) as error:
        find_state(plane.bind(limit=5), None, condition)
    assert "\n" not in str(error.value)


def test_a_condition_without_a_value_is_undecided():
    found = find_state(plane.bind(limit=5), None, "1 // (s.x - 2) == 9")
    assert (found.verdict, found.reason) == (UNDECIDED, "division by zero, in the condition")


# --- The background ----------------------------------------------------------------------------


def direct(function) -> None:
    function()


def test_the_latest_job_wins():
    background, results, finished = Background(direct), [], threading.Event()
    running, seen_stopped = threading.Event(), threading.Event()

    def slow(stopped):
        running.set()
        while not stopped():
            pass
        seen_stopped.set()
        return "stale"

    background.submit("near", slow, results.append)
    assert running.wait(PATIENCE)
    for k in range(5):
        background.submit("near", lambda _, k=k: k, results.append)
    background.submit("near", lambda _: "last", lambda said: (results.append(said), finished.set()))
    assert finished.wait(PATIENCE)
    assert seen_stopped.is_set()
    assert results[-1] == "last"
    assert "stale" not in results
    background.close()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(LabError("Do this."), "Do this."), (ValueError("x"), "That did not work (ValueError: x).")],
)
def test_an_error_is_a_result(error, sentence):
    background, results, finished = Background(direct), [], threading.Event()

    def fail(stopped):
        raise error

    background.submit("find", fail, lambda said: (results.append(said), finished.set()))
    assert finished.wait(PATIENCE)
    assert isinstance(results[0], LabError)
    assert str(results[0]) == sentence
    background.close()
