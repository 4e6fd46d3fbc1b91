"""Simulation: seeded walks that the protocol allows, shrunk counterexamples, honest estimates."""

import json
import tempfile
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from benchmarks.reduction import LOSSES
from protocol_lab import HOLDS, TAKEN, Int8, LabError, Range, Spec, Struct
from protocol_lab.checker import cross_check
from protocol_lab.checker.request import SearchRequest
from protocol_lab.cli import main
from protocol_lab.errors import KitDefect
from protocol_lab.explore import explore
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import evaluate, successors
from protocol_lab.simulation import simulate as simulating
from protocol_lab.simulation.coverage_estimate import Sightings
from protocol_lab.simulation.random_walks import TOGETHER
from protocol_lab.simulation.shrinking import shrink
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.scenarios import play, read_scenario
from tests.request_reply import spec as request_reply
from tests.toy_specs import counter

# --- A spec whose walks can be counted by hand -------------------------------------------------


class State(Struct):
    n: Int8
    common: Int8


lottery = Spec("toy.lottery", State, meaning="Nine common ways on, and one rare one.")


@lottery.init
def start(s: State, c):
    return TAKEN


@lottery.action
def common(s: State, c, way: Range(1, 9)):
    s.common = way
    return TAKEN


@lottery.action
def rare(s: State, c):
    if s.n >= 3:
        return "three times is enough"
    s.n += 1
    return TAKEN


@lottery.invariant
def never_three(s: State, c):
    return "three times" if s.n == 3 else HOLDS


@lottery.constraint
def no_nine(s: State, c):
    return "the ninth way leads out" if s.common == 9 else HOLDS


@pytest.mark.parametrize(("bias", "share"), [("steps", 0.1), ("actions", 0.5), ("rare", 0.5)])
def test_how_often_a_step_is_drawn(bias, share):
    result = simulate(lottery.bind(), invariants=[], walks=20_000, steps=1, bias=bias)
    assert result.per_action["rare"] / result.steps == pytest.approx(share, abs=0.015)
    assert sum(result.per_depth) == 40_000


def test_walks_end_outside_the_constraint_and_where_nothing_can_happen():
    result = simulate(lottery.bind(), invariants=[], walks=5_000, steps=2)
    assert result.per_depth[:2] == [5_000] * 2
    assert 1 - result.per_depth[2] / 5_000 == pytest.approx(0.1, abs=0.015)
    stuck = simulate(counter.bind(limit=5), walks=10, steps=20)
    assert stuck.per_depth == [10] * 6


# --- Walks -------------------------------------------------------------------------------------

BROKEN = request_reply.bind(clients=2, remembers="in_memory")


def outcome(**options) -> dict:
    said = simulate(BROKEN, progress=False, **options).to_json()
    return {name: said[name] for name in said if "seconds" not in name}


def test_a_seed_gives_the_same_walks_whatever_the_number_of_threads(monkeypatch):
    walks = 3 * TOGETHER + 1
    first = outcome(invariants=[], walks=walks, steps=12, seed=5)
    found = outcome(walks=walks, steps=12, seed=5)
    monkeypatch.setattr(simulating, "cores", lambda: 1)
    assert outcome(invariants=[], walks=walks, steps=12, seed=5) == first
    assert outcome(walks=walks, steps=12, seed=5) == found
    assert outcome(invariants=[], walks=walks, steps=12, seed=6) != first


def test_what_was_found_is_a_walk_of_the_protocol():
    found = simulate(BROKEN, walks=5_000, steps=40, seed=2)
    assert (found.verdict, found.violated) == ("violated", "executed_at_most_once")
    assert len(found.trace) <= found.found_in
    row = found.trace_rows[0]
    for step, expected in zip(found.trace, found.trace_rows[1:], strict=True):
        row = find_step(BROKEN, row, step.text).row
        assert row == expected
    broken = [each.function for each in request_reply.invariants]
    assert [bool(evaluate(BROKEN, row, broken[0])) for row in found.trace_rows] == [
        *[False] * len(found.trace),
        True,
    ]


def test_a_time_limit_and_an_interruption_end_it():
    assert simulate(BROKEN, invariants=[], seconds=0.3, progress=False).walks > 0
    stopped = simulate(BROKEN, invariants=[], walks=10**9, stopped=lambda: True, progress=False)
    assert stopped.undecided_reason == "interrupted"
    assert 0 < stopped.walks < 10**6


@pytest.mark.parametrize("walks", [1, 500])
def test_a_sample_of_what_walks_meet_is_compared(monkeypatch, tmp_path, walks):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cross_check, "_compared", {})
    monkeypatch.setattr(cross_check, "successors", lambda *state: islice(successors(*state), 1))
    with pytest.raises(KitDefect, match=r"disagree on .* of toy\.lottery"):
        simulate(lottery.bind(), invariants=[], walks=walks, progress=False)


# --- Shortened ways ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_no_step_of_a_shortened_way_can_be_left_out(seed):
    found = simulate(BROKEN, walks=5_000, steps=60, seed=seed, bias="actions")
    shortest = len(explore(BROKEN, progress=False).trace)
    assert shortest <= len(found.trace) <= found.found_in
    texts = [step.text for step in found.trace]
    for left_out in range(len(texts)):
        assert not still_breaks(found.trace_rows[0], texts[:left_out] + texts[left_out + 1 :])


def still_breaks(row: bytes, texts: list[str]) -> bool:
    """Do these steps, each where it can be taken, break the invariant?"""
    for text in texts:
        try:
            row = find_step(BROKEN, row, text).row or row
        except LabError:
            continue
        if evaluate(BROKEN, row, request_reply.invariants[0].function):
            return True
    return False


def test_detours_are_left_out():
    model = lottery.bind()
    row = simulate(model, invariants=[], walks=1, steps=1)
    assert row.walks == 1
    rows = [bytes(model.layout.size)]
    for way in (1, 2, 0, 3, 0, 4, 4, 0):
        ahead = list(successors(model, rows[-1]))
        rows.append(next(each.row for each in ahead if each.args.get("way", 0) == way))
    short = shrink(model, SearchRequest(*model.choose(None)), rows, "never_three")
    assert len(short) == 4
    assert short[0] == rows[0]


class Two(Struct):
    x: Int8
    y: Int8


def test_a_shorter_path_on_which_an_invariant_cant_be_computed_is_no_counterexample():
    spec = Spec("toy.two", Two)

    @spec.init
    def begin(s: Two, c):
        return TAKEN

    @spec.action
    def set_x(s: Two, c):
        s.x = 1
        return TAKEN

    @spec.action
    def set_y(s: Two, c):
        s.y = 1
        return TAKEN

    @spec.invariant
    def is_large(s: Two, c):
        return HOLDS if s.y == 0 or 6 // s.x > 6 else "it is small"

    result = simulate(spec.bind(), progress=False)
    assert (result.violated, [each.text for each in result.trace]) == (
        "is_large",
        ["set_x()", "set_y()"],
    )


# --- Estimates ---------------------------------------------------------------------------------


def random_walks(states: int, walks: int, steps: int, seed: int) -> np.ndarray:
    """Walks whose states are drawn from `states` fingerprints, all alike."""
    chance = np.random.default_rng(seed)
    prints = chance.integers(1, 2**63, states).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    prints ^= chance.integers(0, 2**63, states).astype(np.uint64)
    return prints[chance.integers(0, states, (walks, steps))]


def test_the_estimate_is_chao2():
    visits = random_walks(500, 40, 12, seed=1)
    sightings = Sightings()
    sightings.add(visits[:17])
    sightings.add(visits[17:])
    met = Counter(each for walk in visits.tolist() for each in set(walk))
    once, twice = (sum(count == k for count in met.values()) for k in (1, 2))
    estimate = sightings.estimate()
    assert (estimate.walks, estimate.seen) == (40, len(met))
    assert estimate.least == round(len(met) + 39 / 40 * once**2 / (2 * twice))
    assert estimate.new == pytest.approx(once / sum(met.values()))


# --- Losses that a search does not reach -------------------------------------------------------


@pytest.mark.rarely
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.spec)
def test_losses_in_configurations_too_large_to_be_exhausted(loss, tmp_path, capsys):
    trace = str(tmp_path / "lost.txt")
    words = ["simulate", loss.spec, "--bias", "swarm", "--steps", str(loss.steps), "--seed", "1"]
    words += ["--walks", str(loss.walks)]
    words += [word for item in loss.constants.items() for word in ("--set", "{}={}".format(*item))]
    assert main([*words, "--json", "--trace", trace]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["violated"] == loss.violated
    assert said["trace_states"] - 1 <= said["found_in"]
    walk = play(read_scenario(trace))
    assert len(walk.steps) == len(said["trace"])
