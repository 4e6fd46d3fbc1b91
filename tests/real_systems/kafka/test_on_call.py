"""On call: each case can be played; its best play goes by what can be seen, and loses nothing."""

import json
from itertools import product
from pathlib import Path

import pytest

from kafka_spec.settings import has
from protocol_lab.errors import LabError
from protocol_lab.model.node_sets import members
from protocol_lab.teaching.incident import Incident
from real_systems.kafka.on_call import best_play, quorum
from real_systems.kafka.on_call.cases import CASES, begin
from real_systems.kafka.on_call.incident import Command, commands, done, lost, state, wrong
from real_systems.kafka.on_call.play import Play, answer, view
from real_systems.notebook import on_call
from real_systems.runner.stories import recorded, story_of
from tests.work_units import one_of

ROOT = Path(__file__).parents[3]
BEST = {
    ("one_power_cut", 0): "hold1 start2 unclean close",
    ("one_power_cut", 1): "hold1 start3 stop2 unclean start1 close",
    ("the_same_with_elr", 0): "close",
    ("the_same_with_elr", 1): "close",
    ("killed_then_power_cut", 0): "start2 unclean close",
    ("killed_then_power_cut", 1): "start3 stop2 unclean close",
    ("min_isr_after_the_upgrade", 0): "min_isr close",
    ("told_failed", 0): "dump2 keep close",
    ("a_new_disk", 0): "disk1 hold1 start2 unclean close",
    ("a_new_disk", 1): "hold1 start3 stop2 unclean start1 close",
    ("nothing_is_wrong", 0): "close",
}
NAIVE = {
    "one_power_cut": ("unclean close", 1),
    "the_same_with_elr": ("unclean close", 1),
    "killed_then_power_cut": ("unclean close", 1),
    "min_isr_after_the_upgrade": ("close", 2),
    "told_failed": ("resend close", 0),
    "a_new_disk": ("unclean close", 1),
    "nothing_is_wrong": ("close", 0),
}
"""The commands that seem to end each case, and how many records they lose."""


def outcome(world, desk, keys):
    """The world, the desk and the minutes without writes after these commands."""
    offline = 0
    for key in keys:
        command = Command(key.rstrip("0123456789"), int(key[-1]) if key[-1].isdigit() else 0)
        after = done(world, desk, command)
        world, desk, offline = after.world, after.desk, offline + after.offline
    return world, desk, offline


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), one_of(BEST))
def test_the_best_play(name, seed):
    start = begin(name, seed)
    played = [each.key for each, _ in best_play.played(start)]
    assert " ".join(played) == BEST[name, seed]
    world, desk, _ = outcome(start.world, start.desk, played)
    assert desk.closed
    assert wrong(world) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(CASES))
def test_the_naive_play(name):
    keys, count = NAIVE[name]
    play = Play(name, 0, keys.split())
    assert len(lost(play.world)) == count
    assert play.view()["rewind"]["bad"] == bool(count or name == "told_failed")


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(["one_power_cut", "told_failed", "the_same_with_elr"]))
def test_no_fixed_plan_is_better_than_the_best_play(name):
    """The search against every order of two commands, tried one by one."""
    start = begin(name)
    cost = best_play.best(start.beliefs, start.desk, start.case.extra).cost
    every = [
        each.key
        for each in commands(start.world, start.desk, start.case.extra)
        if each.name != "close"
    ]
    for plan in [*product(every), *product(every, every)]:
        total = 0
        for world in start.beliefs:
            world, _, offline = outcome(world, start.desk, [*plan, "close"])
            total += best_play.RECORD * wrong(world) + offline
        assert total / len(start.beliefs) >= cost - 1e-9, plan


@pytest.mark.slow
def test_a_plan_goes_by_what_is_seen_only():
    """As long as two worlds show the same, the best play does the same in both."""
    start = begin("told_failed")
    plan = best_play.best(start.beliefs, start.desk, start.case.extra)
    firsts, seconds = set(), set()
    for world in start.beliefs:
        after = done(world, start.desk, plan.command)
        firsts.add(plan.command)
        follows = plan.after((after.seen, after.desk))
        has_it = len(state(world).log[2]) == 2
        seconds.add((has_it, follows.command.key))
    assert firsts == {Command("dump", 2)}
    assert {key for has_it, key in seconds if has_it} == {"keep"}
    assert {key for has_it, key in seconds if not has_it} == {"close"}, "the team sends it again"


@pytest.mark.parametrize("name", CASES)
def test_what_is_true_is_always_among_what_could_be(name):
    for seed in (0, 1, 7, 8):
        play = Play(name, seed)
        assert play.world in play.beliefs
        looks = [each.key for each in play.commands() if each.name in ("disk", "dump", "config")]
        before = len(play.beliefs)
        for key in [*looks, "wait", "close"]:
            play.give(key)
            assert play.world in play.beliefs
        assert len(play.beliefs) <= before


def test_a_log_that_was_read_leaves_fewer_worlds():
    play = Play("one_power_cut", 0, ["hold1"])
    before = len(play.beliefs)
    play.give("dump1")
    assert 0 < len(play.beliefs) < before
    assert play.offline == 5
    assert "lastOffset: 8812454" in play.screen[-4]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_quorum(seed):
    """The active controller's restart is one more election; its rival has to be stopped."""
    flaky = quorum.flaky_of(seed)
    assert quorum.best(flaky) == (f"stop{flaky}", "close")
    shown = view(quorum.NAME, seed, [f"stop{flaky}", "close"])["rewind"]
    assert shown["is_par"]
    assert not shown["bad"]
    naive = view(quorum.NAME, seed, ["restart1", "close"])["rewind"]
    assert naive["bad"]
    assert naive["yours"] == "No active controller for 16 minutes"
    other = view(quorum.NAME, seed, [f"stop{5 - flaky}", "close"])["rewind"]
    assert other["bad"], "with two left the bad link is one of two"
    last = view(quorum.NAME, seed, ["stop1", "close"])["rewind"]
    assert last["bad"], "so it is when the active one is stopped"
    assert "can't be done" in view(quorum.NAME, seed, ["stop1", "stop2"])["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("min_isr_after_the_upgrade", ["close"]),
        ("a_new_disk", ["unclean", "close"]),
        ("one_power_cut", ["wait", "wait", "close"]),
        ("told_failed", ["dump2", "keep", "close"]),
    ],
)
def test_the_rewind_says_of_no_broker_what_is_not_so(name, keys):
    """What could be known at a moment agrees with what was true then."""
    for moment in view(name, 0, keys)["rewind"]["moments"]:
        for row in moment["rows"]:
            has_all = all(box["there"] or not box["safe"] for box in row["boxes"])
            wrong_claim = "lacks an" if has_all else "has every"
            assert not row["known"].startswith(wrong_claim), (moment["text"], row)


@pytest.mark.rarely
def test_any_night_is_offline_and_its_best_play_loses_nothing_that_can_be_kept():
    rows = set()
    for seed in range(4):
        start = begin("any_night", seed)
        rows.add(start.world.row)
        assert state(start.world).leader == 0
        assert start.world in start.beliefs
        *_, (_, last) = best_play.played(start)
        kept = [any(has(state(start.world), each, value) for each in (1, 2, 3)) for value in (1, 2)]
        assert len(lost(last.world)) == kept.count(False)
    assert len(rows) == 4


def test_the_runbook_says_what_the_best_plays_do():
    runbook = (ROOT / "docs" / "runbook_offline_partition.md").read_text(encoding="utf-8")
    said = {
        "hold1": "keep the last leader down",
        "start2": "Start 2, and not 1.",
        "unclean": "ask for an unclean election",
        "close": "Nobody must be held back.",
    }
    played = BEST["one_power_cut", 0].split()
    assert played == [*said]
    assert BEST["the_same_with_elr", 0] == "close"
    places = [runbook.index(sentence) for sentence in said.values()]
    assert places[0] < places[1] < places[3]


def test_a_seed_is_another_night_and_a_link_the_same_one():
    worlds = {begin("one_power_cut", seed).world.row for seed in range(2, 40)}
    assert len(worlds) > 3
    keys = ["hold1", "start2", "unclean", "close"]
    assert view("one_power_cut", 7, keys) == view("one_power_cut", 7, keys)


def test_a_broker_that_is_held_does_not_come_back():
    started = Play("one_power_cut", 0, ["wait", "wait", "wait"])
    held = Play("one_power_cut", 0, ["hold1", "wait", "wait", "wait"])
    assert state(started.world).leader == 1
    assert lost(started.world) == (2,)
    assert state(held.world).leader == 0
    assert not lost(held.world)
    assert list(members(state(held.world).running)) == [3]


@pytest.mark.slow
def test_the_rewind_names_the_first_line_that_told_it():
    rewind = view("one_power_cut", 0, ["unclean", "close"])["rewind"]
    assert rewind["first"]["line"].endswith('"isr":[1]')
    assert "broker 2 has all" in rewind["first"]["text"]
    last = rewind["moments"][-1]["rows"]
    assert [row["boxes"][1]["gone"] for row in last] == [True, True, False]
    assert rewind["par"] == "Nothing lost, no writes for 13 minutes"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nobody",), "There is no case"),
        (("one_power_cut", -1), "is no seed"),
        (("one_power_cut", 0, ["start9"]), "can't be done here"),
        (("one_power_cut", 0, ["close", "wait"]), "can't be done here"),
    ],
)
def test_what_can_be_wrong_in_a_link(asked, said):
    shown = view(*asked)
    assert [*shown] == ["error"]
    assert said.lower() in shown["error"].lower()


def test_recorded_runs_that_cases_name_exist():
    """Each is a story and settings of a recording of the kit."""
    for case in CASES.values():
        if case.run:
            name, _, release, *chosen = case.run.split()
            settings = dict(each.split("=") for each in chosen if each != "--set")
            assert recorded(story_of(name), release, settings), case.run


def test_the_widget_answers_as_the_page_does():
    widget = on_call("told_failed")
    assert isinstance(widget, Incident)
    asked = {"case": "told_failed", "seed": 0, "keys": ["resend"]}
    widget._on_message(None, asked)
    assert widget.view == json.loads(run(answer(json.dumps(asked))))
    with pytest.raises(LabError, match="no seed"):
        on_call(seed=-1)


def run(asked):
    """The result of a coroutine that waits for nothing."""
    try:
        asked.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it waits")
