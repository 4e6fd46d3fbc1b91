"""A walk goes on from what a page has kept of it."""

import json

import pytest

from protocol_lab.errors import LabError
from protocol_lab.stepper import Stepper
from protocol_lab.stepper.resumption import resumed
from protocol_lab.stepper.widget import revived
from protocol_lab.teaching.challenges import challenge_named
from protocol_lab.traces.scenarios import parse_scenario
from tests.stepper.test_stepper import TALK
from tests.toy_specs import counter


def kept(stepper):
    """What the page keeps: as `savedWalk` in `js/memory.js` has it, and as JSON brings it back."""
    view = stepper.view
    challenge = view["challenge"] or {}
    saved = {**view["origin"], "timeline": view["timeline"], "hints": challenge.get("hints")}
    return json.loads(json.dumps(saved))


@pytest.fixture
def forked():
    """A stepper on the talk's loss with a branch of its own, in the middle of it."""
    stepper = Stepper(parse_scenario(TALK))
    walk = stepper.walk
    walk.go_to(11)
    walk.fork("my idea")
    walk.take("leader_failure(replica=1)")
    walk.switch("main")
    walk.go_to(12)
    stepper.refresh()
    return stepper


def test_branches_captions_and_place_are_found_again(forked):
    walk = resumed(kept(forked)).walk
    assert walk.moment.depth == 12
    assert walk.branch == "main"
    assert [each.caption for each in walk.path] == [each.caption for each in forked.walk.path]
    for name, end in forked.walk.branches.items():
        assert [each.row for each in walk.branches[name].path()] == [
            each.row for each in end.path()
        ]


def test_a_new_kernel_begins_a_stepper_that_a_page_finds_by_its_id(forked):
    model_id = revived(json.dumps(kept(forked)))
    assert isinstance(model_id, str)
    assert model_id


def test_a_cell_that_is_run_again_goes_on_where_it_was(forked):
    again = Stepper(parse_scenario(TALK))
    again._on_message(None, {"command": "resume", "saved": kept(forked)})
    assert not again.view["notice"]
    assert again.view["timeline"] == forked.view["timeline"]
    assert again.view["scenario"] == forked.view["scenario"]


def test_a_challenge_keeps_its_hints_and_its_score():
    stepper = Stepper(challenge_named("two_leaders_write"))
    stepper._session.hints.append("Look at the epochs.")
    stepper.refresh()
    again = Stepper(resumed(kept(stepper)))
    assert again.view["challenge"] == stepper.view["challenge"]


def test_a_protocol_of_the_notebook_needs_its_cells():
    stepper = Stepper(counter.bind())
    stepper.walk.take(stepper.walk.attempts()[0])
    stepper.refresh()
    saved = kept(stepper)
    with pytest.raises(LabError, match="run the cells above and this one again"):
        resumed(saved)
    assert resumed(saved, like=counter.bind()).walk.row == stepper.walk.row


def test_a_step_that_is_impossible_now_is_one_sentence(forked):
    saved = kept(forked)
    saved["timeline"]["lanes"][0]["moments"][3]["step"] = "become_follower(replica=1)"
    with pytest.raises(LabError, match="has changed since"):
        resumed(saved)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["spec", "timeline", "constants", "watched", "scenario"])
def test_nonsense_is_one_sentence(forked, part):
    saved = kept(forked) | {part: 7}
    with pytest.raises(LabError):
        resumed(saved)
