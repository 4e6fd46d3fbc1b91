"""Pictures on screens: as large as the room allows; in a narrow one names are above the logs."""

from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from protocol_lab.catalog import load
from protocol_lab.drawing import Card, Cluster, Entry, Lane, Message, Messages, Text, draw_cluster
from protocol_lab.drawing.arrangement import (
    AUDIENCE,
    SCREEN,
    arranged,
    best,
    best_for_audience,
    current,
)
from protocol_lab.drawing.palette import CHANGED
from protocol_lab.drawing.pictures import picture
from tests.drawing.test_drawing import are_apart, boxes, texts, walk
from tests.toy_specs import letters

TEXT = "{http://www.w3.org/2000/svg}text"

PHONE = 368
"""Pixels that a phone which is 390 wide leaves to a picture."""

ON_A_PHONE = replace(SCREEN, below=True, narrow=True, stacked=True, width=PHONE)

USUAL = [
    ("kafka.kip_320", {}),
    ("kafka.async_isr", {}),
    ("kafka.unclean_leader_election", {}),
    ("bookkeeper.protocol", {}),
    ("pulsar.compaction", {}),
    ("kraft.kip_853", {"init_cluster_size": 3, "max_spawned_servers": 3, "max_restarts": 1}),
]


def places(svg):
    """The room of a picture, and where its texts are."""
    left, top, width, height = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    return (left, top, left + width, top + height), list(boxes(svg))


@pytest.mark.parametrize(("name", "constants"), USUAL)
def test_on_a_phone_a_picture_has_the_width_of_the_screen_and_nothing_overlaps(name, constants):
    model = load(name).bind(**constants)
    rows = walk(model, 10)
    for before, row in pairwise(rows):
        with arranged(ON_A_PHONE):
            svg = picture(model, row, before)
        room, found = places(svg)
        assert room[2] - room[0] == PHONE
        assert all(room[0] <= each[0] for each in found)
        assert all(each[2] <= room[2] for each in found)
        assert all(each[3] <= room[3] for each in found)
        assert all(are_apart(*pair) for pair in combinations(found, 2))


def test_what_a_lane_says_stands_above_its_log():
    lane = Lane(
        [[Text("Broker 1", bold=True)], [Text("follows broker 2")], [Text("its ISR {1, 2}")]],
        [Entry(0, "p1")],
        notes=[Text("differs from the leader")],
    )
    with arranged(ON_A_PHONE):
        found = {each[-1]: each for each in boxes(draw_cluster(Cluster("A log", [lane])))}
    said = [found[each] for each in ("Broker 1", "follows broker 2", "differs from the leader")]
    assert all(each[3] < found["p1"][1] for each in said)
    assert found["Broker 1"][2] < found["follows broker 2"][0], "they stand side by side"


def test_a_long_log_is_as_wide_as_it_must_be():
    lane = Lane([[Text("Broker 1")]], [Entry(9, "p1")])
    with arranged(ON_A_PHONE):
        room, found = places(draw_cluster(Cluster("A log", [lane])))
    assert room[2] > PHONE
    assert all(each[2] <= room[2] for each in found)


def test_the_table_of_a_spec_without_a_drawing_takes_the_width_of_the_screen():
    model = letters.bind()
    (row,) = walk(model, 0)
    with arranged(ON_A_PHONE):
        assert ElementTree.fromstring(picture(model, row)).get("width") == str(PHONE)


def test_the_arrangement_is_the_one_with_the_largest_type():
    def measure():
        return [(300, 300) if current().below else (600, 150)]

    assert not best(measure, (1200, 300), SCREEN).below
    assert best(measure, (300, 300), SCREEN) == replace(SCREEN, below=True)


def test_a_picture_that_does_not_fit_takes_the_width_that_there_is():
    def measure():
        at = current()
        return [(max(at.width, 360 if at.stacked else 600), 500 if at.stacked else 300)]

    stacked = replace(SCREEN, below=True, narrow=True, stacked=True, width=400)
    assert best(measure, (400, 2000), SCREEN) == stacked
    assert best(measure, (700, 250), SCREEN).stacked is False


def test_bars_have_fewer_lines_in_a_picture_as_wide_as_the_room():
    def measure():
        return [(max(current().width, 300), 200 if current().width >= 400 else 250)]

    assert best(measure, (400, 200), SCREEN) == replace(SCREEN, width=400)


def test_a_long_name_of_a_record_stays_inside_its_box():
    lane = Lane([[Text("Server 1")]], [Entry(0, "{1,2,3}", "e1")])
    with arranged(replace(SCREEN, narrow=True)):
        found = {each[-1]: each for each in boxes(draw_cluster(Cluster("Config", [lane])))}
    left, _, right, _, _ = found["{1,2,3}"]
    assert right - left < 60


def test_a_room_that_is_only_too_low_gets_a_dense_picture_that_counts_messages_if_it_must():
    def measure(fixed=200):
        at = current()
        return [(max(at.width, 300), (fixed if at.dense else fixed + 80) + 20 * (at.listed or 5))]

    assert best(measure, (400, 310), SCREEN) == replace(
        SCREEN, narrow=True, few_messages=True, width=400, dense=True
    )
    assert best(measure, (400, 260), SCREEN).listed == 3
    assert best(measure, (200, 310), SCREEN).dense is False, (
        "it is too wide, which this does not mend"
    )


def test_in_a_dense_picture_lines_are_joined_and_nothing_is_lost_but_what_is_counted():
    lane = Lane([[Text("b1")], [Text("fenced")], [Text("LAC 0")]])
    lines = [Text("writes", "muted"), Text("metadata of version 1", "muted"), Text("LAC", was="no")]
    groups = [Messages("Adds", [Message(f"add e{k}") for k in (1, 2, 3)]), Messages("Reads", [])]
    cluster = Cluster("A", [lane], cards=[Card("w1", lines)], messages=groups, card_width=260)
    with arranged(replace(SCREEN, dense=True, listed=1)):
        told = texts(draw_cluster(cluster))
        heights = {each[-1]: each[1] for each in boxes(draw_cluster(cluster))}
    assert heights["b1"] - 4 < heights["fenced"] < heights["LAC 0"] + 4
    assert "writes · metadata of version 1" in told
    assert "LAC" in told
    assert [each for each in told if "add" in each] == ["add e3"]
    assert "2 older, not shown" in told
    assert "Reads" not in told


@pytest.mark.parametrize(("listed", "shown"), [(1, "adf"), (4, "adef"), (6, "abcdef")])
def test_an_audience_is_shown_what_is_new_and_then_what_has_an_effect(listed, shown):
    marks = {"a": "new", "d": "new", "f": "new"}
    sent = [Message(name, mark=marks.get(name, ""), faded=name == "b") for name in "abcdef"]
    cluster = Cluster("Mail", [Lane([[Text("Server 1")]])], messages=[Messages("Mail", sent)])
    with arranged(replace(AUDIENCE, listed=listed)):
        told = texts(draw_cluster(cluster))
    assert [each for each in told if each in set("abcdef")] == list(shown)
    assert (f"{6 - len(shown)} more, not shown" in told) == (len(shown) < 6)


def test_for_an_audience_no_type_is_small_and_what_a_text_was_is_only_a_tooltip():
    lines = [[Text("Server 1")], [Text("follows server 2", was="knows no leader")]]
    lane = Lane(lines, [Entry(0, "a", "epoch 1", mark="new")])
    cluster = Cluster("A", [lane], cards=[Card("c", [Text("waits")])])
    with arranged(AUDIENCE):
        svg = draw_cluster(cluster)
    sizes = [float(each.get("font-size")) for each in ElementTree.fromstring(svg).iter(TEXT)]
    assert min(sizes) >= 12
    assert "was knows no leader" not in texts(svg)
    assert "<title>was knows no leader</title>" in svg
    assert svg.count(CHANGED) == 2, "of the text and of the record"


def test_an_audience_gets_the_largest_scale_and_fewer_messages_only_where_type_is_small():
    def chosen(height):
        def sizes():
            at = current()
            all_or_few = 100 + 150 * at.listed if at.listed else height
            return [(at.width, all_or_few * (0.5 if at.below else 1))]

        return best_for_audience(sizes, (1000, 400))

    assert chosen(400).below
    assert chosen(400).listed == 0
    assert chosen(400).width < chosen(600).width
    assert chosen(3000).listed == 3


def test_what_moves_between_lanes_is_never_behind_one():
    """A screen's parts have names by which the next picture finds them; a file's have none."""
    model = load("kafka.kip_320").bind()
    before, row = walk(model, 12)[-2:]
    with arranged(SCREEN):
        shapes = list(ElementTree.fromstring(picture(model, row, before)).iter())
    parts = [k for k, each in enumerate(shapes) if each.get("data-part")]
    wide = [k for k, each in enumerate(shapes) if float(each.get("width") or 0) > 400]
    assert max(wide) < min(parts)
    assert "data-part" not in picture(model, row, before)
