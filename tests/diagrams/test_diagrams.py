"""The stepper's views, drawn from walks: complete, readable, and the same in light and dark."""

import json
import re
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from protocol_lab import LabError, Spec
from protocol_lab.catalog import load, spec_names
from protocol_lab.diagrams.comparison import compare_branches
from protocol_lab.diagrams.lasso import lasso_picture
from protocol_lab.diagrams.sequence import sequence_diagram
from protocol_lab.diagrams.state_graph import around, reachable
from protocol_lab.drawing import palette
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.drawing.state_table import MarkedText, state_columns
from protocol_lab.model.step_text import initial_texts
from protocol_lab.traces.events import (
    AT_ONCE,
    CRASH,
    DELIVERED,
    LOST,
    RESTART,
    SENT,
    Arrow,
    Note,
    lifelines,
    walk_events,
)
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.drawing.test_drawing import boxes, contrast, described, texts
from tests.request_reply import spec as request_reply
from tests.spec_checks import take_random_steps
from tests.toy_specs import State, counter, letters
from tests.work_units import one_in

pytestmark = pytest.mark.slow  # starts Graphviz for each diagram

SVG = "{http://www.w3.org/2000/svg}"


def random_walk(model, steps, seed=7):
    walk = Walk.begin(model, next(initial_texts(model), None))
    take_random_steps(walk, steps, seed)
    return walk


def along(model, *steps):
    walk = Walk.begin(model, next(initial_texts(model), None))
    for step in steps:
        walk.take(step)
    return walk


def scenario(name):
    """The walk of a scenario that ships with Kafka, at its end."""
    return play(read_scenario(next(each for each in scenarios_of("kafka") if each.stem == name)))


LOST_REPLY = (
    "send_request(client=1)",
    "handle_request(message=Message(client=1))",
    "lose_reply(message=Message(client=1))",
    "retry(client=1)",
    "crash()",
    "handle_request(message=Message(client=1))",
)


def told(walk):
    return [each for _, found in walk_events(walk) for each in found]


# --- What happened -----------------------------------------------------------------------------


def test_messages_are_sent_delivered_and_lost():
    walk = along(request_reply.bind(), *LOST_REPLY)
    request, reply = "request: number 1", "reply: number 1"
    assert [each for _, each in walk_events(walk)] == [
        [Arrow(SENT, "client 1", "server", request)],
        [Arrow(DELIVERED, "client 1", "server", request), Arrow(SENT, "server", "client 1", reply)],
        [Arrow(LOST, "server", "client 1", reply)],
        [Arrow(SENT, "client 1", "server", request)],
        [Note("server", "crashes", CRASH), Note("server", "is back", RESTART)],
        [Arrow(DELIVERED, "client 1", "server", request), Arrow(SENT, "server", "client 1", reply)],
    ]
    assert lifelines(walk.model) == ["client 1", "server"]


def test_the_talk_told():
    events = told(scenario("talk_46_56_found_scenario"))
    assert Arrow(AT_ONCE, "producer 1", "broker 1", "A e0, offset 1") in events
    assert Arrow(AT_ONCE, "broker 1", "producer 1", "committed") in events
    assert Note("broker 1", "dies", CRASH) in events
    assert Note("broker 3", "follows broker 1, truncates to offset 1") in events
    assert events.count(Note("controller", "ISR {2}")) == 1


def test_without_a_declaration_the_parameters_tell_it():
    model = replace(load("kafka.finite_replicated_log"), events=None).bind()
    walk = along(model, "append(replica=1, record=1)", "replicate_to(source=1, target=2)")
    assert told(walk) == [
        Note("broker 1", "append"),
        Arrow(AT_ONCE, "broker 1", "broker 2", "replicate to"),
    ]
    walk = along(counter.bind(), "count()")
    assert told(walk) == [Note("", "count")]
    assert lifelines(walk.model) == ["system"]


@pytest.mark.parametrize("name", spec_names())
def test_something_is_told_of_every_step_and_everything_has_a_lifeline(name):
    for seed in range(3):
        walk = random_walk(load(name).bind(), 40, seed)
        names = {"", *lifelines(walk.model)}
        for step, found in walk_events(walk):
            assert found, step
            for each in found:
                ends = {each.at} if isinstance(each, Note) else {each.source, each.dest}
                assert ends <= names, (step, each)
                assert each.text if isinstance(each, Note) else each.label


@pytest.mark.parametrize(
    ("path", "ends", "sentence"),
    [
        ("letters", ("source", "dest"), "there is no field 'letters'"),
        ("next_value", ("source", "dest"), "needs a Bag or Seq at that path"),
        ("server.log", ("source", "dest"), "there is no field 'log'"),
        ("messages", ("source", "value"), "the field 'value' holds no node"),
    ],
)
def test_a_wrong_declaration_is_one_sentence(path, ends, sentence):
    spec = Spec("toy.wrong", State, letters.constants)
    with pytest.raises(LabError, match=sentence):
        spec.messages(path, source=ends[0], dest=ends[1])


# --- The sequence diagram ------------------------------------------------------------------------


def is_inside(svg):
    """Does every text lie within the picture?"""
    _, _, width, height = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    return all(
        left >= 0 and right <= width and top >= 0 and bottom <= height
        for left, top, right, bottom, _ in boxes(svg)
    )


def overlapping(svg):
    """Pairs of texts that lie on each other."""
    return [
        (one[4], other[4])
        for one, other in combinations(boxes(svg), 2)
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]


def test_the_diagram_says_what_became_of_each_message():
    walk = along(request_reply.bind(), *LOST_REPLY)
    svg = sequence_diagram(walk)
    written = texts(svg)
    assert written.count("request: number 1") == 2
    assert written.count("reply: number 1") == 2
    assert "lost" in written
    assert {"client 1", "server", "✗ crashes", "↻ is back", "▶ 7"} <= set(written)
    assert "✗ executed at most once" in " ".join(written)
    assert "reply: number 1 is lost from server to client 1" in described(svg)
    walk.go_to(4)
    assert "3 more steps ahead on this branch." in texts(sequence_diagram(walk))
    walk.first()
    assert "Nothing has happened yet." in texts(sequence_diagram(walk))


DIAGRAMS = [
    *[(load(name), {}) for name in spec_names()],
    (load("kafka.unclean_leader_election"), {"replicas": 5, "producers": 3}),
    (load("kafka.kip_320"), {"replicas": 7, "max_leader_epoch": 9, "log_size": 8}),
    (request_reply, {"clients": 2, "requests": 2}),
    (letters, {"servers": 3}),
]


@pytest.mark.parametrize(("spec", "constants"), one_in(4, DIAGRAMS))
def test_diagrams_of_random_walks_are_readable(spec, constants):
    walk = random_walk(spec.bind(**constants), 35, seed=5)
    for depth in range(1, len(walk.path) + 1, 7):
        walk.go_to(depth)
        svg = sequence_diagram(walk)
        assert is_inside(svg)
        assert overlapping(svg) == []
        assert not any(each.get("id") for each in ElementTree.fromstring(svg).iter())


# --- Light and dark ------------------------------------------------------------------------------

THEMES = [palette.names(), palette.DARK]


@pytest.mark.parametrize("colors", THEMES, ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for_in_both_themes(colors):
    for paper in ("paper", "panel", "here"):
        for tone in (*palette.TONES, "warning"):
            assert contrast(colors[tone], colors[paper]) >= 4.5, (tone, paper)
    assert contrast(colors["ink"], colors["changed"]) >= 4.5, "what has changed is in ink"
    shades = [colors[f"shade-{k}"] for k in range(len(palette.SHADES))]
    assert all(contrast(colors["ink"], shade) >= 4.5 for shade in shades)
    assert all(contrast(one, other) > 1.1 for one, other in pairwise(shades))
    assert contrast(colors["bad"], colors["bad-paper"]) >= 4.5
    for tag in ("accent", "bad"):
        assert contrast(colors["paper"], colors[tag]) >= 4.5


def test_every_colour_has_a_name_of_its_own_and_a_dark_one():
    light = palette.names()
    assert set(light) == set(palette.DARK)
    assert len(set(light.values())) == len(light), "one rule could not tell them apart"
    constants = {
        value
        for name, value in vars(palette).items()
        if name.isupper() and isinstance(value, str) and value.startswith("#")
    }
    assert constants | set(palette.SHADES) == set(light.values())


def colors_of(svg):
    return {
        each.get(part)
        for each in ElementTree.fromstring(svg).iter()
        for part in ("fill", "stroke")
        if each.get(part) not in (None, "none", "transparent")
    }


def test_the_pictures_use_no_other_colours():
    walk = scenario("talk_46_56_found_scenario")
    for svg in (sequence_diagram(walk), walk.model.spec.draw(walk.model, walk.row)):
        assert colors_of(svg) <= set(palette.names().values())


# --- The state graph around here -----------------------------------------------------------------


def graph_nodes(svg):
    root = ElementTree.fromstring(svg)
    return [each for each in root.iter(f"{SVG}g") if (each.get("class") or "").startswith("node")]


@pytest.mark.usefixtures("dot")
def test_the_graph_around_a_state_marks_it_and_names_the_steps_from_it():
    walk = along(request_reply.bind(), *LOST_REPLY[:2])
    svg = around(walk.model, walk.row, 1, path=walk.path, at=walk.moment.depth)
    written = texts(svg)
    assert written.count("▶ you are here") == 1
    steps = {each.action.name for each in walk.attempts() if each.taken}
    for step in steps:
        assert step.replace("_", " ") in written, step
    after = {each.row for each in walk.attempts() if each.taken}
    assert len(graph_nodes(svg)) == len(after | {moment.row for moment in walk.path})


def test_the_depth_is_chosen_so_that_the_graph_stays_readable():
    model = load("kafka.kip_320").bind()
    row = random_walk(model, 5, seed=2).row
    shown = len(graph_nodes(around(model, row)))
    sizes = [len(reachable(model, row, depth).rows) for depth in (1, 2, 3, 4, 5)]
    assert shown == max(each for each in sizes if each <= 250)
    assert len(graph_nodes(around(model, row, limit=30))) == max(x for x in sizes if x <= 30)
    with pytest.raises(LabError, match="more than 250 states here"):
        around(model, row, 9)
    assert len(graph_nodes(around(model, row, limit=3))) == 3
    assert "more states one step away than are drawn" in around(model, row, limit=3)


@pytest.mark.usefixtures("dot")
def test_the_way_that_was_walked_is_drawn_and_every_other_state_says_how_to_get_there():
    walk = random_walk(load("kafka.kip_320").bind(), 6, seed=2)
    walk.go_to(4)
    groups = graph_nodes(around(walk.model, walk.row, 1, path=walk.path, at=4))
    depths = {each.get("data-depth") for each in groups}
    assert {"1", "2", "3", "5"} <= depths
    assert [each.get("class") for each in groups].count("node lab-here") == 1
    others = [json.loads(each.get("data-steps")) for each in groups if each.get("data-steps")]
    assert others
    for steps in others:
        forked = Walk.begin(walk.model)
        for step in [*(str(moment.step) for moment in walk.path[1:4]), *steps]:
            forked.take(step)


@pytest.mark.usefixtures("dot")
def test_a_step_without_room_is_a_mark_at_its_state_and_no_error():
    walk = random_walk(letters.bind(slots=1), 1)
    svg = around(walk.model, walk.row, 2)
    assert "⚠ no room for a step" in texts(svg)
    assert "the model has no room" in svg


@pytest.mark.usefixtures("dot")
def test_a_lasso_shows_its_loop_within_the_width_of_a_page():
    path = next(
        each for each in scenarios_of("kraft") if "!loops_to" in each.read_text(encoding="utf-8")
    )
    walk = play(read_scenario(path))
    drawn = lasso_picture(walk)
    framed = [each for each in texts(drawn) if re.fullmatch(r"state \d+", each)]
    assert len(framed) == len({each.row for each in walk.path[walk.loop_from - 1 :]})
    assert float(ElementTree.fromstring(drawn).get("width")) < 900
    assert min(float(each) for each in re.findall(r'font-size="([\d.]+)"', drawn)) >= 11


# --- The state in columns, and against any other -------------------------------------------------


def spoken(pieces):
    return "".join(each.spoken for each in pieces)


def test_what_every_replica_has_stands_in_columns():
    walk = scenario("talk_46_56_found_scenario")
    (columns, *items), lines = state_columns(walk.model, walk.row, walk.start.row)
    assert all(each.name for each in items)
    assert columns.heads == ["broker 1", "broker 2", "broker 3"]
    rows = {name: [spoken(each) for each in cells] for name, cells in columns.rows}
    assert rows["replica_states.is_shutdown"] == ["no → yes", "no", "no"]
    assert rows["replica_states.local_log"][1] == (
        "[(leader_epoch 1, producer 1), +(leader_epoch 2, producer 2)]"
    )
    texts = {each.name: spoken(each.value) for each in lines}
    assert texts["zk_state.leader_epoch"] == "1 → 4"
    assert texts["inflight_producers"] == "{} → {1, 2}"


PAXOS = ROOT / "examples" / "paxos.py"


def paxos_walk():
    walk = Walk.begin(load(PAXOS).bind())
    for step in ("phase1a(b=0)", "phase1a(b=1)", "phase1b(a=2, m=Message(bal=1))"):
        walk.take(step)
    return walk


def test_messages_stand_one_a_line_with_a_column_a_field():
    walk = paxos_walk()
    tables, _ = state_columns(walk.model, walk.row, walk.moment.previous.row)
    (messages,) = [each for each in tables if each.name == "msgs"]
    assert messages.heads == ["kind", "acc", "bal", "mbal"]
    assert [[spoken(cell) for cell in cells] for _, cells in messages.rows] == [
        ["1a", "", "0", ""],
        ["1a", "", "1", ""],
        ["+1b", "+2", "+1", "+-1"],
    ]
    drawn = moment_picture(walk.model, walk.moment)
    assert all(f">{each}<" in drawn for each in ("msgs", "mbal", "+1b", "acceptor 2"))


# --- Two walks side by side ----------------------------------------------------------------------


def forked():
    walk = scenario("talk_46_56_found_scenario")
    walk.go_to(13)
    walk.fork("other")
    walk.take("unstable_replica_dies_when_leader()")
    walk.take("elect_new_leader(replica=3)")
    return walk


def test_branches_are_followed_from_their_fork():
    found = compare_branches(forked(), "main", "other", 2, 800)
    assert (found["fork"], found["at"], found["last"]) == (13, 2, 3)
    assert [each["depth"] for each in found["sides"]] == [15, 15]
    kinds = [tuple(each and each["kind"] for each in pair) for pair in found["steps"]]
    assert kinds == [("shared", "shared")] * 12 + [
        ("only here", "elsewhere"),
        ("elsewhere", "only here"),
        ("only here", None),
    ]
    zookeeper, replica = found["differences"]
    assert (zookeeper["name"], replica["name"]) == ("zk_state", "replica_states[3]")
    assert "leader none → 3" in spoken([MarkedText(**each) for each in zookeeper["value"]])
