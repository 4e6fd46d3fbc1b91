"""Messages on their way, links that are down, and a message's own words in diagrams."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

from protocol_lab.drawing import Card, Cluster, Lane, Message, Messages, Text, draw_cluster
from protocol_lab.drawing.arrangement import SCREEN, arranged
from protocol_lab.model.layout import Node
from protocol_lab.model.spec import Spec
from protocol_lab.traces.events import DELIVERED, SENT, Arrow, Note, events, lifelines
from protocol_lab.traces.walk import Walk
from tests.drawing.test_drawing import SVG, are_apart, boxes, texts
from tests.toy_specs import letters


def cluster(*messages, lanes=4, clients=()):
    """Lanes named Server 1 and so on, and clients, of which the first stands on the left."""
    return Cluster(
        lanes=[Lane([[Text(f"Server {k + 1}", bold=True)]]) for k in range(lanes)],
        cards=[Card(f"{each}, a client", [], is_left=each == clients[0]) for each in clients],
        messages=[Messages("In flight", list(messages), flies=True)],
    )


def message(source, dest, **more):
    """From one server to another, by their numbers, or to or from a client, by its name."""
    ends = tuple(f"Server {each}" if isinstance(each, int) else each for each in (source, dest))
    return Message(f"{source} to {dest}", ends=ends, short=f"m{source}{dest}", **more)


def found(svg):
    return {each[-1]: each for each in boxes(svg)}


def test_a_message_between_nodes_is_a_card_in_the_lane_of_its_receiver():
    places = found(draw_cluster(cluster(message(1, 3), message(2, 3), message(3, 1))))
    assert places["from server 1"][1] > places["m13"][1]
    tops = {name: places[name][1] for name in ("Server 1", "Server 2", "Server 3")}
    assert tops["Server 1"] - 20 < places["m31"][1] < tops["Server 2"]
    assert min(places["m13"][1], places["m23"][1]) > tops["Server 3"] - 20
    assert "on its way here" in places
    assert "In flight" not in places, "it has no other messages"


def test_a_message_of_a_client_is_on_an_arrow_between_it_and_the_node():
    sent = [message("w1", 2), message(2, "w2"), message("w3", 1)]
    svg = draw_cluster(cluster(*sent, clients=("w1", "w2", "w3")))
    places = found(svg)
    assert places["w1, a client"][2] < places["mw12"][0]
    assert places["mw12"][2] < places["Server 2"][0]
    assert places["Server 2"][2] < places["w2: m2w2"][0], "of two clients, whose it is is said"
    assert places["w2: m2w2"][2] < places["w2, a client"][0]
    assert places["w3: mw31"][1] < places["Server 2"][1]


def test_a_lost_message_has_no_arrowhead_but_a_cross():
    def drawn(**more):
        return draw_cluster(cluster(message("w1", 1, **more), clients=("w1",)))

    assert "l8 8m0 -8l-8 8" in drawn(faded=True)
    assert "l8 8m0 -8l-8 8" not in drawn()


def test_a_crowd_keeps_what_is_new_and_what_has_an_effect_and_counts_the_others():
    crowd = [message(1, 2, topic=str(k), faded=k < 20) for k in range(40)]
    new = replace(message(4, 2), mark="new")
    with arranged(replace(SCREEN, few_messages=True, width=640)):
        svg = draw_cluster(cluster(*crowd, new))
    told = texts(svg)
    shown = [each for each in told if each in ("m12", "m42")]
    assert "m42" in shown
    assert f"+{41 - len(shown)}" in told
    assert "stroke-dasharray" not in svg, "those without an effect are left out first"
    assert float(ElementTree.fromstring(svg).get("width")) == 640


def test_what_has_no_place_is_listed():
    def listed(at):
        with arranged(at):
            return "In flight" in texts(draw_cluster(cluster(message("w1", 1), clients=("w1",))))

    assert not listed(SCREEN)
    assert listed(replace(SCREEN, below=True, width=400))
    assert listed(replace(SCREEN, below=True, narrow=True, stacked=True, width=374))
    assert "the controller" in str(texts(draw_cluster(cluster(message(1, "the controller")))))


def test_messages_stay_apart():
    pairs = [message(a, b) for a in range(1, 5) for b in range(1, 5) if a != b]
    clients = [message("w1", k) for k in (1, 2)]
    svg = draw_cluster(cluster(*pairs, *clients, clients=("w1",)))
    assert {"m12", "m43"} <= set(texts(svg))
    places = list(boxes(svg))
    for one, other in combinations(places, 2):
        assert are_apart(one, other), (one[4], other[4])
    _, _, width, _ = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    assert max(right for _, _, right, _, _ in places) <= width
    titles = {each.findtext(f"{SVG}title") for each in ElementTree.fromstring(svg).iter(f"{SVG}g")}
    assert "1 to 2" in titles


def test_a_flight_says_where_it_comes_from_and_where_it_goes():
    with arranged(SCREEN):
        svg = draw_cluster(cluster(message("w1", 2), message(3, 1), clients=("w1",)))
    parts = ElementTree.fromstring(svg).iter(f"{SVG}g")
    ways = {
        each.get("data-part"): [tuple(map(float, each.get(f"data-{end}").split())) for end in ends]
        for ends in [("from", "to")]
        for each in parts
        if each.get("data-kind") == "flight"
    }
    (left, y), (right, still) = ways["flight w1 to 2"]
    assert left < 0 < right, "from the client to the server on its right"
    assert y == still == 0
    (x, below), (to_its_words, _) = ways["flight 3 to 1"]
    assert x == 0 < below, "from the server below"
    assert to_its_words < 0


def test_a_diagram_uses_the_declared_words_and_nouns_and_adds_the_own_notes():
    server = Node("servers", noun="host")

    def notes(before, after, c, step):
        if step.action != "receive":
            return None
        return [Note("host 2", "reads it")]

    spec = Spec("toy.words", letters.state, letters.constants, events=notes, lifelines=(server,))
    spec.inits, spec.actions = letters.inits, letters.actions
    spec.messages(
        "messages",
        source=lambda message, c: f"host {message.source}",
        dest=lambda message, c: f"host {message.dest}",
        label=lambda message: f"letter {message.value}",
    )
    walk = Walk.begin(spec.bind(starts=1))
    walk.take("broadcast(source=1, lost={})")
    walk.take("receive(message=Message(dest=2))")
    sent, received = walk.path[1:]
    model = walk.model
    assert events(model, walk.path[0].row, sent.step, sent.row) == [
        Arrow(SENT, "host 1", "host 2", "letter 0")
    ]
    assert events(model, sent.row, received.step, received.row) == [
        Arrow(DELIVERED, "host 1", "host 2", "letter 0"),
        Note("host 2", "reads it"),
    ]
    assert lifelines(model) == ["host 1", "host 2"]
