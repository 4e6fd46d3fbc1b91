"""Messages as arrows between lanes, links that are down, and a message's own words in diagrams."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

from protocol_lab.drawing import Cluster, CutLink, Lane, Message, Messages, Text, draw_cluster
from protocol_lab.drawing.changes import with_changes
from protocol_lab.drawing.traffic import ROOM, tracks_of
from protocol_lab.spec.layout import Node
from protocol_lab.spec.spec import Spec
from protocol_lab.traces.events import DELIVERED, SENT, Arrow, Note, events, lifelines
from protocol_lab.traces.walk import Walk
from tests.drawing.test_drawing import SVG, boxes, described, texts
from tests.toy_specs import letters


def cluster(*messages, lanes=4, cut=()):
    named = [Lane(lines=[[Text(f"Server {k + 1}", bold=True)]]) for k in range(lanes)]
    return Cluster(
        lanes=named,
        messages=[Messages("In flight", list(messages))],
        cut_links=[CutLink(each) for each in cut],
    )


def message(source, dest, **more):
    return Message(f"{source} to {dest}", ends=(source, dest), short=f"m{source}{dest}", **more)


def in_tracks(found):
    return [[each.short for each in track.items] for track in tracks_of(found).tracks]


def test_messages_share_a_track_only_where_they_have_no_stretch_in_common():
    assert in_tracks(cluster(message(0, 1), message(2, 1), message(1, 0))) == [
        ["m01", "m21"],
        ["m10"],
    ]
    assert in_tracks(cluster(message(0, 2), message(1, 2), message(3, 2))) == [
        ["m02", "m32"],
        ["m12"],
    ]


def test_a_crowd_keeps_what_is_new_and_what_has_an_effect():
    crowd = [message(0, 1, faded=k < 20) for k in range(40)]
    found = cluster(*crowd, replace(message(3, 0), mark="new"), cut=[(0, 2)])
    tracks = tracks_of(found)
    assert tracks.width <= ROOM
    shown = [each for track in tracks.tracks for each in track.items]
    assert isinstance(shown[0], CutLink)
    assert shown[1].mark == "new"
    assert not any(getattr(each, "faded", False) for each in shown)


def test_arrows_go_from_lane_to_lane_and_their_labels_stay_apart():
    pairs = [message(a, b) for a in range(4) for b in range(4) if a != b]
    svg = draw_cluster(cluster(*pairs[:5], cut=[(2, 3)]))
    assert {"m01", "m02", "link", "down"} <= set(texts(svg))
    root = ElementTree.fromstring(svg)
    places = list(boxes(svg))
    for one, other in combinations(places, 2):
        apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
        assert apart, (one[4], other[4])
    _, _, width, _ = map(float, root.get("viewBox").split())
    assert max(right for _, _, right, _, _ in places) <= width
    titles = {each.findtext(f"{SVG}title") for each in root.iter(f"{SVG}g")}
    assert {"0 to 1", "this link is down"} <= titles


def test_a_link_that_has_just_gone_down_is_marked_and_said():
    before, now = cluster(), cluster(cut=[(0, 1)])
    changed = with_changes(now, before)
    assert changed.cut_links == [CutLink((0, 1), "new")]
    assert with_changes(now, now).cut_links == now.cut_links
    said = described(draw_cluster(changed))
    assert "The link between Server 1 and Server 2 is down, new." in said


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
