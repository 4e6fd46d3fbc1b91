"""Counterexamples in causal order: the stories of the talk and of KIPs, and every kept trace."""

from dataclasses import replace

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.checker.counterexample import causal_order
from protocol_lab.checker.request import SearchRequest
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.model.step_text import steps_between
from protocol_lab.traces.scenarios import play, read_scenario, scenario, scenarios_of
from protocol_lab.traces.walk import Walk
from tests.work_units import one_of


def ordered(walk: Walk) -> list[bytes]:
    """The states of a walk in causal order."""
    walk.last()
    request = SearchRequest(*walk.model.choose(None))
    broken = next((each.name for each in walk.standings() if each.is_broken), None)
    return causal_order(walk.model, [each.row for each in walk.path], walk.steps, request, broken)


def test_the_talks_counterexample_becomes_its_slides_step_for_step():
    """From the order in which breadth first lists it: administration as early as it can be."""
    slides = play(scenario("talk_46_56_found_scenario"))
    searched = Walk.begin(slides.model)
    at = [1, 2, 3, 4, 5, 8, 6, 7, 9, 10, 11, 12, 13, 14, 15]
    for number in at:
        searched.take(slides.path[number].step.text)
    assert ordered(searched) == [each.row for each in slides.path]


def told(found) -> str:
    """Each step in a word or two, with whom it elects."""
    words = {
        "controller_elect_leader": "elect",
        "become_leader": "leads",
        "leader_write": "writes",
        "leader_shrink_isr": "drops",
        "leader_shrink_isr_better_fencing": "drops",
        "leader_expand_isr": "admits",
        "leader_inc_high_watermark": "commits",
        "improved_leader_inc_high_watermark": "commits",
        "follower_replicate": "copies",
        "follower_fetch": "copies",
        "follower_truncate": "truncates",
    }
    said = []
    for each in found.trace:
        word = words.get(each.action, "follows")
        who = each.args.get("new_leader") or each.args.get("follower")
        said.append(f"{word} {who}" if word in ("elect", "follows", "admits") else word)
    return ", ".join(said)


@pytest.mark.parametrize(
    ("spec", "invariant", "constants", "story"),
    [
        (
            "kafka.truncate_to_high_watermark",
            "weak_isr",
            {"replicas": 2, "same_leader": "keeps_log"},
            "elect 1, leads, writes, follows 2, copies, commits, elect 2, leads, elect 1,"
            " follows 2",
        ),
        (
            "kafka.kip_101",
            "weak_isr",
            {"replicas": 2, "max_leader_epoch": 2},
            "elect 1, leads, writes, follows 2, copies, commits, elect 2, leads, writes, elect 1,"
            " follows 2",
        ),
        (
            "kafka.kip_279",
            "weak_isr",
            {"replicas": 3, "max_leader_epoch": 2},
            "elect 1, follows 3, elect 2, elect 1, leads, drops, writes, copies, commits,"
            " follows 3",
        ),
        (
            "kafka.kip_279",
            "strong_isr",
            {"replicas": 3, "max_leader_epoch": 1},
            "elect 1, leads, drops, writes, follows 3, copies, commits, elect 3, follows 2, leads,"
            " admits 2",
        ),
        (
            "kafka.kip_320_first_try",
            "strong_isr",
            {"replicas": 3, "max_leader_epoch": 2},
            "elect 1, follows 3, elect 2, leads, elect 1, leads, drops, writes, copies, commits,"
            " follows 3, truncates",
        ),
    ],
)
def test_a_search_tells_its_story_in_causal_order(spec, invariant, constants, story):
    model = load(spec).bind(**constants)
    found = explore(model, invariants=[invariant])
    assert told(found) == story
    assert Walk.along(found).model == model


@pytest.mark.slow
@pytest.mark.parametrize(
    "package", one_of(sorted({each.partition(".")[0] for each in spec_names()}))
)
def test_every_kept_trace_has_a_causal_order_which_is_its_own(package):
    for path in scenarios_of(package):
        walk = play(read_scenario(path))
        if walk.loop_from is not None:
            continue
        rows = ordered(walk)
        walk.last()
        again = Walk.begin(walk.model, walk.init)
        for step in steps_between(walk.model, rows):
            again.take(step.text)
        assert again.row == walk.row, path
        if rows != [each.row for each in walk.path]:
            taken = [sorted(each.action for each in one.steps) for one in (again, walk)]
            assert taken[0] == taken[1], path
        assert ordered(again) == rows, path


def test_a_misspelt_decision_gets_a_sentence():
    spec = replace(load("kafka.id_sequence"), decisions=("nex_id",))
    with pytest.raises(LabError, match="There is no action 'nex_id'; there are: next_id"):
        spec.bind()
