"""The stepper in a page without a kernel: it shows what the kit's stepper shows."""

import json
import random
import re
from xml.etree import ElementTree

import pytest

from protocol_lab.catalog import load
from protocol_lab.diagrams.state_graph import around
from protocol_lab.notebook import scenario
from protocol_lab.stepper import Stepper
from protocol_lab.teaching.challenges import challenge_named, shortest
from protocol_lab.traces.links import link_text, read_link
from protocol_lab.traces.scenarios import play, scenario_text
from protocol_lab.traces.walk import Walk
from tests.drawing.test_drawing import SVG, described
from tests.site.pages import write_page

pytestmark = pytest.mark.browser

SOURCE = "document.querySelectorAll('.lab-recorded')[{}].mounted"
COMPARED = ("title", "meaning", "constants", "invariants", "caption", "can", "cannot", "timeline")

MODELS = {
    "kafka": ("kafka.kip_320", {"replicas": 2}),
    "logs": ("kafka.finite_replicated_log", {"replicas": 2, "log_records": 2, "log_size": 2}),
    "bookkeeper": ("bookkeeper.v4_13", {}),
    "pulsar": ("pulsar.compaction", {}),
    "kraft": ("kraft.kip_853", {}),
}


@pytest.fixture
def page(browser):
    opened = browser.new_page()
    opened.set_default_timeout(60_000)
    opened.errors = []
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.on("console", lambda each: each.type == "error" and opened.errors.append(each.text))
    yield opened
    opened.close()
    assert opened.errors == []


def view_of(page, number=0):
    page.wait_for_selector(f".lab-recorded:nth-of-type({number + 1}) .lab-stepper")
    return page.evaluate(f"{SOURCE.format(number)}.then((source) => source.get('view'))")


def send(page, **message):
    """Give the page's first stepper a command; returns its view after it."""
    answer = "(source) => (source.send(message), source.get('view'))"
    return page.evaluate(f"(message) => {SOURCE.format(0)}.then({answer})", message)


def ask(stepper, **message):
    stepper._on_message(stepper, message)
    return stepper.view


def plain(value):
    return json.loads(json.dumps(value))


def steps_of(view):
    return [choice["step"] for each in view["can"] for choice in each["choices"]]


@pytest.mark.parametrize("name", MODELS)
def test_a_walk_through_recorded_states_shows_what_the_kit_shows(page, tmp_path, name):
    spec, constants = MODELS[name]
    model = load(spec).bind(**constants)
    page.set_viewport_size({"width": 390 if name == "kafka" else 1280, "height": 720})
    near = {"whole": 60, "around": 6, "most": 16, "paths": [], "scenarios": []}
    page.goto(write_page(tmp_path, model, **near))
    stepper = Stepper(model)
    ask(stepper, command="room", width=1000, height=500)
    here = view_of(page)
    chosen = random.Random(name)
    taken = 0
    while steps_of(here) and taken < 8:
        kit = unfolded(stepper)
        for part in COMPARED:
            assert here[part] == kit[part], part
        assert in_words(here["panel"]["svg"]) == in_words(kit["panel"]["svg"])
        for tab in ("state", "code"):
            ours = ask(stepper, command="open", tab=tab)["panel"]
            theirs = send(page, command="open", tab=tab)["panel"]
            assert {**theirs, "bases": 0} == {**plain(ours), "bases": 0}, tab
        ask(stepper, command="open", tab="cluster")
        send(page, command="open", tab="cluster")
        step = chosen.choice(steps_of(here))
        ask(stepper, command="take", step=step)
        here = send(page, command="take", step=step)
        taken += 1
        if chosen.random() < 0.3:
            ask(stepper, command="undo")
            here = send(page, command="undo")
    assert taken >= 3


def test_distances_branches_and_the_sequence_are_those_of_the_kit(page, tmp_path):
    """A challenge that is played along its shortest way, with a branch beside it."""
    challenge = challenge_named("truncate_a_committed_record")
    way = [step.text for step in shortest(challenge).steps]
    page.goto(write_page(tmp_path, challenge, around=1, most=40, whole=0))
    view_of(page)
    given = len(challenge.given_steps)
    send(page, command="spoilers", shown=True)
    for left, step in zip(range(len(way) - given, 0, -1), way[given:], strict=True):
        near = page.evaluate(f"{SOURCE.format(0)}.then((source) => source.get('near'))")
        assert near["here"] == ("1 step" if left == 1 else f"{left} steps")
        assert near["after"][step]["nearest"]
        here = send(page, command="take", step=step)
    assert here["challenge"]["solved"]
    assert here["challenge"]["points"] == 10
    assert f"Solved in {len(way) - given}" in here["challenge"]["text"]
    beside = send(page, command="shortest")
    assert len(beside["timeline"]["lanes"]) == 2
    drawn = send(page, command="open", tab="sequence")["panel"]["svg"]
    assert drawn.count("lab-moment") == beside["timeline"]["depth"] - 1


_ALL_OF_IT = """field => [field.scrollHeight - field.clientHeight,
  field.scrollWidth - field.clientWidth, field.clientHeight]"""


def test_a_challenges_line_takes_no_room_from_recorded_pictures(page, tmp_path):
    """They can't be arranged anew for a lower room."""
    page.set_viewport_size({"width": 1280, "height": 720})
    challenge = challenge_named("one_copy_is_enough")
    page.goto(write_page(tmp_path, challenge, challenge.begin(), around=0, most=1, whole=0))
    rooms = []
    for number in (0, 1):
        view_of(page, number)
        field = page.locator(".lab-stepper").nth(number).locator(".ls-staged")
        assert field.evaluate(_ALL_OF_IT)[:2] == [0, 0]
        rooms.append(field.evaluate(_ALL_OF_IT)[2])
    assert rooms[0] >= rooms[1]


def test_the_graph_shows_the_states_that_the_kit_shows_and_leads_there(page, tmp_path):
    spec, constants = MODELS["logs"]
    model = load(spec).bind(**constants)
    page.goto(write_page(tmp_path, model))
    walk = Walk.begin(model)
    first, second, *_ = steps_of(view_of(page))
    for step in (first, second):
        walk.take(step)
        send(page, command="take", step=step)
    send(page, command="open", tab="graph")
    send(page, command="choose", depth=2)
    kit = around(model, walk.row, 2, path=walk.path, at=walk.moment.depth)
    written = "node => [...node.querySelectorAll('text')].map(each => each.textContent)"
    ours = page.locator(".lab-node").evaluate_all(f"nodes => nodes.map({written})")
    assert sorted(ours) == sorted(graph_nodes(kit))
    reach = page.locator(".lab-reach").last
    steps = json.loads(reach.get_attribute("data-steps"))
    reach.dispatch_event("click")
    here = view_of(page)
    assert [here["timeline"]["depth"], here["caption"]["step"]] == [3 + len(steps), steps[-1]]


def graph_nodes(svg):
    """The lines of each state in the kit's drawing."""
    root = ElementTree.fromstring(svg)
    for group in root.iter(f"{SVG}g"):
        if (group.get("class") or "").startswith("node"):
            yield [each.text for each in group.iter(f"{SVG}text")]


def test_two_branches_are_compared_as_in_the_kit(page, tmp_path):
    spec, constants = MODELS["logs"]
    model = load(spec).bind(**constants)
    page.goto(write_page(tmp_path, model))
    stepper = Stepper(model)
    first, second, *_ = steps_of(view_of(page))
    kit = here = {}
    for message in (
        {"command": "take", "step": first},
        {"command": "take", "step": second},
        {"command": "undo"},
        {"command": "undo"},
        {"command": "take", "step": second},
        {"command": "open", "tab": "compare"},
        {"command": "choose", "at": 1},
    ):
        kit, here = ask(stepper, **message)["panel"], send(page, **message)["panel"]
    kit = plain(kit)
    assert kit["at"] == 1
    assert [each["kind"] for each in kit["steps"][0]] == ["only here", "elsewhere"]
    named = [each["name"] for each in kit.pop("differences")]
    assert [each["name"] for each in here.pop("differences")] == named != []
    assert here == {key: kit[key] for key in here}


def test_a_scenario_that_comes_with_the_spec_is_loaded(page, tmp_path):
    opened = scenario("talk_46_56_found_scenario")
    page.goto(write_page(tmp_path, opened, around=0, most=1, whole=0))
    offered = [each["name"] for each in view_of(page)["scenarios"]]
    other = scenario(next(name for name in offered if name != opened.name))
    here = send(page, command="load", name=other.name)
    assert here["scenario"]["title"] == other.title
    assert here["timeline"]["depth"] == 1
    walk = play(other)
    here = send(page, command="last")
    assert here["caption"]["step"] == walk.steps[-1].text
    assert send(page, command="back")["scenario"]["name"] == opened.name


def test_a_link_opens_in_the_page_and_in_the_kit(page, tmp_path):
    walk = play(scenario("talk_46_56_found_scenario"))
    address = write_page(tmp_path, scenario("talk_46_56_found_scenario"), around=0, most=20)
    page.goto(f"{address}#{link_text(walk)}")
    page.wait_for_function(f"{SOURCE.format(0)}?.then((source) => source.walk.moment.depth > 1)")
    here = view_of(page)
    assert here["timeline"]["depth"] == walk.moment.depth
    assert here["caption"]["slide"] == "56"
    send(page, command="undo")
    link = page.evaluate(f"{SOURCE.format(0)}.then((source) => source.link())")
    walk.undo()
    assert scenario_text(read_link(f"see {link}!")) == scenario_text(walk)


def test_where_the_recording_ends_the_page_says_so(page, tmp_path):
    page.goto(
        write_page(tmp_path, load("kafka.kip_320").bind(replicas=3), around=0, most=1, whole=0)
    )
    here = view_of(page)
    here = send(page, command="take", step=steps_of(here)[0])
    assert here["can"] == []
    page.get_by_text("Recorded up to here").wait_for()
    page.get_by_role("button", name="copy the link").click()
    page.get_by_text("The link is copied").wait_for()
    assert len(read_link(page.evaluate("navigator.clipboard.readText()")).path) == 2


def in_words(svg):
    """What a picture shows, however it is arranged: its description, and the names of its parts.

    Messages between lanes are also listed, and drawn as arrows only where there is room.
    """
    return described(svg), sorted(set(re.findall(r'data-part="((?!flight)[^"]+)"', svg)))


def unfolded(stepper):
    """The kit's view with all refusals explained."""
    cannot = stepper.view["cannot"]
    stepper._unfolded.update(why.get("key", "") for each in cannot for why in each["reasons"])
    stepper.refresh()
    return plain(stepper.view)
