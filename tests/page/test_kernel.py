"""What a page's Python does, in a process that has nothing but what the page gets."""

import json
import subprocess
import sys
import zipfile
from io import BytesIO

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.transitions import initial, successors
from protocol_lab.page.engine_files import kit_archive
from protocol_lab.page.searches import answer_of, expect_inside
from protocol_lab.site.sessions import Sessions
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import begin, origin_of
from protocol_lab.teaching.challenges import challenge_named
from protocol_lab.traces.scenario_format import linked_scenario
from protocol_lab.traces.scenarios import scenario
from protocol_lab.traces.walk import Walk
from tests.toy_specs import counter, letters

IN_THE_PAGE = """
import asyncio, json, sys
kit, asked = sys.argv[1:]
sys.path.insert(0, kit)
from protocol_lab.page.kernel import Kernel

shown, searched = {}, []

async def search(module, question, key):
    searched.append([module, json.loads(question), key])
    answer = {"state": "COMPLETE", "distinct": 7, "depth": 3, "seconds": 0.5, "path": None}
    return json.dumps(answer)

async def run():
    kernel = Kernel(lambda key, part, value: shown.update({f"{key} {part}": json.loads(value)}),
                    lambda dot: "<svg xmlns='http://www.w3.org/2000/svg'/>", search)
    for key, opened, messages in json.loads(asked):
        kernel.open(key, json.dumps(opened))
        for message in messages:
            kernel.answer(key, json.dumps(message))
    for _ in range(200):
        await asyncio.sleep(0.01)

asyncio.run(run())
print(json.dumps({"shown": shown, "searched": searched}))
"""


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit")
    zipfile.ZipFile(BytesIO(kit_archive())).extractall(folder)
    return folder


def in_the_page(kit, *opened):
    """What the page is told, and the searches that it is asked for."""
    words = [sys.executable, "-I", "-S", "-c", IN_THE_PAGE, str(kit), json.dumps(opened)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def saved(stepper):
    return {"saved": {**origin_of(stepper.session), "timeline": stepper.view["timeline"]}}


@pytest.mark.slow
def test_a_walk_is_taken_over_and_goes_on_as_in_the_kit(kit):
    stepper = PlainStepper(load("kafka.kip_320").bind(replicas=2))
    step = {"command": "take", "step": "controller_elect_leader(new_leader=1)"}
    stepper.answer(step)
    opened = saved(stepper)
    on = {"command": "take", "step": stepper.view["can"][0]["choices"][0]["step"]}
    messages = [on, {"command": "shown"}, {"command": "spoilers", "shown": True}]
    told = in_the_page(kit, ["a", opened, messages])
    stepper.answer(on)
    view = told["shown"]["a view"]
    kit_view = json.loads(json.dumps(stepper.view))
    for part in ("can", "cannot", "timeline", "invariants", "caption", "panel"):
        assert view[part] == kit_view[part], part
    assert view["link"].startswith("lab1.")
    near = told["shown"]["a near"]
    assert near["here"] == "none can be reached"
    (module, question, _), *_ = told["searched"]
    assert module.startswith("kafka-kip_320-")
    assert question["initial"] == [stepper.walk.row.hex()]


@pytest.mark.slow
def test_all_states_are_searched_from_the_one_shown(kit):
    stepper = PlainStepper(load("kafka.kip_320").bind(replicas=2))
    told = in_the_page(kit, ["a", saved(stepper), [{"command": "search"}]])
    assert told["shown"]["a search"]["verdict"] == "holds"
    assert "7 states were searched in 0.5 s" in told["shown"]["a search"]["text"]
    ((_, question, key),) = told["searched"]
    assert (key, question["seconds"]) == ("a", None)
    assert question["invariants"] == stepper.session.watched_names


@pytest.mark.slow
def test_nothing_is_searched_where_a_promise_is_broken_already(kit):
    stepper = PlainStepper(scenario("min_isr_1_latest_offset_loses_data"))
    stepper.answer({"command": "last"})
    told = in_the_page(kit, ["a", saved(stepper), [{"command": "search"}]])
    assert told["shown"]["a search"]["verdict"] == "violated"
    assert "already here: committed messages never lost" in told["shown"]["a search"]["text"]
    assert told["searched"] == []


@pytest.mark.slow
def test_a_challenge_without_some_actions_of_its_spec_is_opened_and_linked(kit):
    stepper = PlainStepper(challenge_named("nobody_fails"))
    step = {"command": "take", "step": stepper.view["can"][0]["choices"][0]["step"]}
    told = in_the_page(kit, ["a", saved(stepper), [step, {"command": "search"}]])
    stepper.answer(step)
    view = told["shown"]["a view"]
    assert view["cannot"] == json.loads(json.dumps(stepper.view["cannot"]))
    assert linked_scenario(view["link"]).challenge == "nobody_fails"
    sessions = Sessions()
    sessions.add(begin(challenge_named("nobody_fails")))
    ((module, _, _),) = told["searched"]
    assert [module] == [*sessions.searches.asked]


@pytest.mark.slow
def test_a_walk_that_can_not_be_taken_is_told(kit):
    stepper = PlainStepper(load("kafka.kip_320").bind(replicas=2))
    opened = saved(stepper)
    opened["saved"]["spec"] = "kafka.kip_319"
    told = in_the_page(kit, ["a", opened, []])
    assert "kafka.kip_319" in told["shown"]["a failed"]


# --- What a search by WebAssembly says -----------------------------------------------------------


TOLD = {"distinct": 12, "depth": 3, "seconds": 0.25, "violated": None, "path": None}


@pytest.mark.parametrize(
    ("state", "verdict", "words"),
    [
        ("COMPLETE", "holds", "Holds: 12 states were searched in 0.2 s"),
        ("GOING_ON", "undecided", "then it was stopped."),
        ("FULL", "undecided", "then more of them do not fit into the page."),
    ],
)
def test_every_end_has_its_sentence(state, verdict, words):
    answer = answer_of(counter.bind(), [], {**TOLD, "state": state})
    assert (answer.verdict, answer.steps) == (verdict, [])
    assert words in answer.text


def test_nothing_is_said_of_a_state_that_is_outside_the_constraint():
    """No state would be searched, and none of them breaks anything."""
    model = load("kafka.unclean_leader_election").bind(max_leader_epoch=1)
    (first,) = initial(model)
    expect_inside(model, first.row)
    walk = Walk.begin(model)
    walk.take("swap_preferred_leader(replica=2)")
    walk.take("preferred_leader_election()")
    with pytest.raises(LabError, match="Undecided: the leader epoch is beyond max_leader_epoch"):
        expect_inside(model, walk.row)


def test_a_fault_is_undecided_and_plain_python_says_where_it_is():
    model = letters.bind(slots=1, lossy=0)
    rows = [next(iter(initial(model))).row]
    with pytest.raises(EvaluationError) as stopped:
        rows.extend(first_steps(model, rows[-1]))
    told = {**TOLD, "state": "fault", "path": [each.hex() for each in rows]}
    answer = answer_of(model, [], told)
    assert answer.verdict == "undecided"
    assert str(stopped.value) in answer.text
    assert len(answer.steps) == len(rows) - 1


def first_steps(model, row):
    """The states along the first step of each, until one has no value."""
    while True:
        first, *_ = successors(model, row)
        row = first.row
        yield row


def test_what_plain_python_can_compute_is_undecided_in_compiled_code_alone():
    model = letters.bind()
    rows = [next(iter(initial(model))).row.hex()]
    told = {**TOLD, "state": "fault", "path": rows}
    said = answer_of(model, [], told).text
    assert "; in compiled code a number needs more than 64 bits, or a loop" in said
    assert said.endswith("has neither bound. That is after 0 steps from here.")
