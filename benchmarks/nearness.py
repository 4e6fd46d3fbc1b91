"""Measures how long it takes to find the distance to the nearest violation.

    .venv/bin/python -m benchmarks.nearness [--runs 5]

All states of a configuration are explored and searched backwards; then distances are looked up. A
configuration without bounds is searched forward from every step of the talk's loss, for 2 s each.
Every figure is the median of the runs, with the fastest and the slowest, without compiling.
"""

import argparse
import time

from benchmarks.measurement import machine, spread
from protocol_lab.catalog import load
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.distance.path_to_state import find_state
from protocol_lab.explore import explore
from protocol_lab.semantics.transitions import initial
from protocol_lab.spec.spec import Model
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from protocol_lab.traces.walk import Walk

KIP_320, TALK = "kafka.kip_320", "kafka.unclean_leader_election"


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(machine())
    for spec in (KIP_320, TALK):
        all_states(load(spec).bind(), runs)
    walk = the_talks_loss()
    look_ups(walk, runs)
    find(walk, runs)
    from_here(walk, runs)


def the_talks_loss() -> Walk:
    """The walk of slides 46-56."""
    paths = [path for path in scenarios_of(TALK) if "found_scenario" in path.name]
    return play(read_scenario(paths[0]))


def all_states(model: Model, runs: int) -> None:
    """Time an exploration followed by the backward search, and an exploration alone."""
    exploring, preparing = [], []
    Nearness(model).prepare()  # compiled, or loaded
    for _ in range(runs):
        result = explore(model, to_the_end=True, progress=False)
        exploring.append(result.seconds)
        near = Nearness(model)
        began = time.perf_counter()
        near.prepare()
        preparing.append(time.perf_counter() - began)
    print(
        f"{model.spec.name}, {result.distinct:,} states: {spread(preparing)} s to explore and"
        f" search backwards, {near.nbytes / 2**20:.1f} MiB kept;"
        f" {spread(exploring)} s to explore only"
    )


def look_ups(walk: Walk, runs: int) -> None:
    """Time the look-ups for every step of the talk's loss, once all states are known."""
    seconds = []
    Nearness(walk.model).ask(walk.start.row)  # compiled, or loaded
    for _ in range(runs):
        near = Nearness(walk.model)
        near.prepare()
        for moment in walk.path:
            began = time.perf_counter()
            near.ask(moment.row)
            seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
        for moment in walk.path * 100:
            near.ask(moment.row)
        again = len(walk.path) * 100 / (time.perf_counter() - began)
    print(
        f"looked up: {spread([1000 * each for each in seconds])} ms a state with all its steps;"
        f" asked again, {again:,.0f} a second"
    )
    near = Nearness(walk.model)
    near.prepare()
    distances = [near.ask(moment.row).here.text for moment in walk.path]
    print(f"  the talk's loss, step by step: {', '.join(distances)}")


def find(walk: Walk, runs: int) -> None:
    """Time the search for a shortest path to a state that a learner describes."""
    condition = "size(s.zk_state.isrs) == 1 and s.zk_state.leader == 2"
    find_state(walk.model, None, condition)
    found = [find_state(walk.model, None, condition) for _ in range(runs)]
    seconds = [1000 * each.seconds for each in found]
    print(f"find {condition}: {len(found[0].steps)} steps, {spread(seconds)} ms")


def from_here(walk: Walk, runs: int) -> None:
    """Time the forward search from every step of the talk's loss, without a constraint."""
    model = load(TALK).bind(max_leader_epoch=None, max_log_length=None)
    first = next(initial(model)).row
    states = []
    for _ in range(runs):
        near = Nearness(model)
        near.too_large = "not asked"
        answer = near.ask(first)
        states.append(answer.states)
    print(
        f"from the first state without bounds: {answer.here.text} ({answer.seconds:.2f} s),"
        f" {min(states):,} to {max(states):,} states, {near.nbytes / 2**20:.0f} MiB"
    )
    near, texts = Nearness(model), []
    for moment in walk.path:
        answer = near.ask(moment.row)
        texts.append(f"{answer.here.text} ({answer.seconds:.2f} s, {answer.states:,} states)")
    print(f"  the talk's loss, step by step: {', '.join(texts)}")


if __name__ == "__main__":
    main()
