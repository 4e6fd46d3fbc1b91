"""The pictures: well-formed, complete, nothing overlapping, and readable without their colours."""

import random
import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_spec.draw.logs import logs_label
from protocol_lab import LabError, drawing
from protocol_lab.catalog import load
from protocol_lab.diagrams.state_graph import around, reachable, state_graph
from protocol_lab.drawing import Cluster, Entry, Lane, Text, draw_cluster, palette
from protocol_lab.drawing.pictures import film_strip, moment_picture, picture_strip
from protocol_lab.drawing.svg import text_width
from protocol_lab.model import transitions as stepping
from protocol_lab.traces import scenarios
from tests.work_units import one_in

SVG = "{http://www.w3.org/2000/svg}"

WALKS = [
    ("kafka.truncate_to_high_watermark", {}),
    ("kafka.kip_101", {"replicas": 2, "max_leader_epoch": 4}),
    ("kafka.kip_279", {"replicas": 3, "max_leader_epoch": 2}),
    ("kafka.kip_320_first_try", {"replicas": 3, "log_size": 4, "max_records": 6}),
    ("kafka.kip_320", {"replicas": 5, "log_size": 8, "max_records": 12, "max_leader_epoch": 9}),
    ("kafka.kip_320", {"replicas": 7, "log_size": 32, "max_records": 99, "max_leader_epoch": 39}),
    ("kafka.async_isr", {}),
    ("kafka.async_isr", {"replicas": 5}),
    ("kafka.unclean_leader_election", {}),
    (
        "kafka.unclean_leader_election",
        {"replicas": 5, "producers": 7, "election_rule": "eligible_leader_replicas"},
    ),
    ("kafka.unclean_leader_election", {"first_record_committed": "false", "producers": 1}),
    ("kafka.finite_replicated_log", {"replicas": 3, "log_size": 3}),
    ("kafka.finite_replicated_log", {"replicas": 7, "log_size": 32, "log_records": 99}),
    ("kafka.finite_replicated_log", {"replicas": 0}),
    ("kafka.id_sequence", {"max_id": 40}),
    (
        "kraft.kip_853",
        {"init_cluster_size": 3, "max_spawned_servers": 3, "max_epoch": 3, "max_restarts": 1},
    ),
    (
        "kraft.kip_853",
        {
            "init_cluster_size": 3,
            "max_spawned_servers": 5,
            "max_cluster_size": 5,
            "max_epoch": 4,
            "max_crashes": 1,
            "max_add_reconfigs": 2,
            "max_remove_reconfigs": 1,
            "max_connectivity_changes": 2,
            "max_disconnected_pairs": 4,
            "vote_slots": 20,
            "fetch_slots": 24,
        },
    ),
    ("bookkeeper.v4_13", {}),
    ("bookkeeper.v4_13", {"bookies": 4, "write_quorum": 2, "ack_quorum": 1, "send_limit": 4}),
    (
        "bookkeeper.protocol",
        {"bookies": 3, "clients": 3, "write_quorum": 3, "ack_quorum": 2, "send_limit": 2},
    ),
    ("bookkeeper.with_limbo", {}),
    ("bookkeeper.guaranteed_write_quorum", {"bookies": 3}),
    ("bookkeeper.unbounded_ledgers", {}),
    ("bookkeeper.ledger_chaining", {}),
    ("bookkeeper.ledger_chaining", {"clients": 5, "ledger_limit": 12, "ledger_slots": 32}),
    ("bookkeeper.quorum_coverage_fencing", {"all_bookies": 7}),
    ("bookkeeper.quorum_coverage_recovery_reads", {"all_bookies": 7}),
    (
        "pulsar.compaction",
        {
            "retain_null_key": True,
            "model_consumer": True,
            "consume_times_limit": 3,
            "consumer_reads": "ledger_then_topic",
        },
    ),
    (
        "pulsar.compaction",
        {
            "message_sent_limit": 12,
            "compaction_times_limit": 5,
            "key_space": 12,
            "model_consumer": True,
            "consume_times_limit": 1,
            "consumer_reads": "by_position",
        },
    ),
    ("pulsar.compaction_leak_fixed", {"max_crash_times": 3}),
    ("pulsar.compaction_duplicate_fixed", {"retain_null_key": True}),
]

KIP_101_LOSS = "kip_101_weak_isr_two_replicas"
TALK = "talk_46_56_found_scenario"


def walk(model, steps, seed=7):
    """States of a random walk, the initial one first."""
    rng = random.Random(seed)
    rows = [rng.choice([each.row for each in stepping.initial(model)])]
    for _ in range(steps):
        choices = [each.row for each in stepping.attempts(model, rows[-1]) if each.taken]
        if not choices:
            break
        rows.append(rng.choice(choices))
    return rows


def played(name):
    """The model of a scenario, and its states."""
    walk = scenarios.play(scenarios.scenario(name))
    return walk.model, [each.row for each in walk.path]


def texts(svg):
    """Everything that is written in a picture, in its order, tooltips and alternative left out."""
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text") if each.text]


def described(svg):
    return ElementTree.fromstring(svg).findtext(f"{SVG}desc")


def tooltips(svg):
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}title")][1:]


def boxes(svg):
    """Where each text is at most: (left, top, right, bottom, text)."""
    for each in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        if not each.text:
            continue
        size, x, y = (float(each.get(name)) for name in ("font-size", "x", "y"))
        width = text_width(each.text, size, bold=each.get("font-weight") is not None)
        left = x - width * {"middle": 0.5, "end": 1}.get(each.get("text-anchor"), 0)
        yield left, y - 0.75 * size, left + width, y + 0.15 * size, each.text


def are_apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "constants"), one_in(16, WALKS))
def test_every_picture_is_well_formed_and_nothing_overlaps(name, constants):
    model = load(name).bind(**constants)
    rows = walk(model, 60)
    for k, row in enumerate(rows):
        svg = model.spec.draw(model, row, rows[k - 1] if k else None)
        root = ElementTree.fromstring(svg)
        assert root.find(f"{SVG}title").text
        assert described(svg)
        assert not any(each.get("id") for each in root.iter()), "ids collide on a page"
        x, y, width, height = map(float, root.get("viewBox").split())
        found = list(boxes(svg))
        for left, top, right, bottom, text in found:
            assert x <= left <= right <= x + width, text
            assert y <= top <= bottom <= y + height, text
        for one, other in combinations(found, 2):
            assert are_apart(one, other), (one, other)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "constants"), WALKS)
def test_every_step_can_be_read_without_marks_and_colours(name, constants):
    model = load(name).bind(**constants)
    rows = walk(model, 40, seed=11)
    for before, after in pairwise(rows):
        if before != after:
            assert texts(model.spec.draw(model, before)) != texts(model.spec.draw(model, after))


def test_the_alternative_names_leader_isr_logs_and_watermarks():
    model, rows = played(KIP_101_LOSS)
    text = described(model.spec.draw(model, rows[8]))
    assert "Controller: leader epoch 2, leader 1, ISR {1, 2}" in text
    assert "Broker 1: believes it leads, epoch 0 ● in ISR, its ISR {1, 2}." in text
    assert "offset 0: A epoch 0, committed" in text
    assert "hw 1." in text
    assert "hw 0." in text


def test_a_loss_is_shown_and_said():
    model, rows = played(KIP_101_LOSS)
    written = texts(model.spec.draw(model, rows[-1], rows[-2]))
    assert "✗ cut off" in written, "the committed record, which a replica that can lead still has"
    assert "truncated" in written, "the uncommitted one"
    assert {"A e0", "B e1"} <= set(written)
    assert any("weak_isr is broken" in each for each in written)
    assert "follows broker 1" in written


def test_an_invariant_that_can_not_be_computed_is_said_and_drawn():
    spec = replace(load("kafka.kip_320"), invariants=[])

    @spec.invariant
    def inverse_is_small(s, c):
        return "" if 1 // s.next_record_id <= 1 else "it is not"

    model = spec.bind()
    row = next(stepping.initial(model)).row
    assert "inverse_is_small can't be computed: " in described(spec.draw(model, row))


def test_new_records_and_new_commits_are_marked():
    model, rows = played(KIP_101_LOSS)
    told = [described(model.spec.draw(model, rows[k], rows[k - 1])) for k in (5, 7, 8)]
    assert [each.count(", new") for each in told] == [1, 1, 0]
    assert told[2].count("committed just now") == 2
    assert ", new" not in described(model.spec.draw(model, rows[5]))


def test_the_talk_slide_by_slide():
    model, rows = played(TALK)
    pictures = [model.spec.draw(model, after, before) for before, after in pairwise(rows)]
    shown, told = [texts(each) for each in pictures], [described(each) for each in pictures]
    assert "waits for offset 1 (was may" in told[0], "slide 46"
    assert "○ out of sync" in shown[1], "slide 47"
    assert "has offset 1, which the leader lacks" in told[3], "slide 48"
    assert "differs from the leader at offset 1" in told[4], "slide 49"
    assert "truncated" in shown[9], "slide 51"
    assert "committed just now" in told[10], "slide 52"
    assert "high watermark 2 (was 1)" in told[10]
    assert any("2 needed" in each for each in shown[12]), "slide 54"
    assert "dead" in shown[13], "slide 55"
    assert "lost here: A e0" in told[14], "slide 56"
    assert "✗ lost: 1" in shown[14]
    assert any("committed_messages_never_lost is broken" in each for each in shown[14])
    assert not any("lost" in each for picture in shown[:14] for each in picture)


def channels(color):
    return [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]


HALF_TURN = ((-0.574, 1.43, 0.144), (0.426, 0.43, 0.144), (0.426, 1.43, -0.856))
"""What hue-rotate(180deg) does, as the Filter Effects specification defines it."""


def in_the_dark(color):
    """What becomes of a colour where dark.css turns the whole picture round."""
    style = Path(palette.__file__).with_name("dark.css").read_text(encoding="utf-8")
    share = float(re.search(r"invert\(([\d.]+)\) hue-rotate\(180deg\)", style)[1])
    inverted = [each * (1 - 2 * share) + share for each in channels(color)]
    mixed = [sum(weight * x for weight, x in zip(row, inverted)) for row in HALF_TURN]
    return "#" + "".join(f"{round(255 * min(1, max(0, x))):02x}" for x in mixed)


def luminance(color):
    """The relative luminance of WCAG 2, 0 for black to 1 for white."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in channels(color)]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_first_column_may_have_another_number():
    log = Lane([[Text("b1")]], [Entry(0, "e1"), Entry(1, "e2")])
    svg = draw_cluster(Cluster("A ledger", [log], columns=3, axis="entry", first=1))
    assert texts(svg)[:3] == ["entry 1", "2", "3"]
    assert "entry 1: e1, not committed; entry 2: e2, not committed." in described(svg)
    assert tooltips(svg)[0].startswith("entry 1: e1")


def test_neighbouring_epochs_differ_in_lightness_and_have_their_numbers():
    assert all(contrast(one, other) > 1.1 for one, other in pairwise(palette.SHADES))
    lane = Lane([[Text("Broker 1")]], [Entry(k, "r", f"epoch {k}", f"e{k}", k) for k in range(9)])
    written = texts(draw_cluster(Cluster("epochs", [lane])))
    assert all(f"e{k}" in written or f"epoch {k}" in written for k in range(9))


def test_text_has_the_contrast_that_wcag_asks_for_on_a_dark_page():
    pairs = [(tone, paper) for tone in palette.TONES.values() for paper in PAPERS]
    pairs += [(palette.INK, shade) for shade in palette.SHADES]
    pairs += [(palette.BAD, palette.BAD_PAPER), (palette.PAPER, palette.ACCENT)]
    for text, paper in pairs:
        assert contrast(in_the_dark(text), in_the_dark(paper)) >= 4.5, (text, paper)


PAPERS = (palette.PAPER, palette.PANEL, palette.CHANGED, palette.HERE)


def test_text_is_escaped():
    svg = draw_cluster(Cluster("<b> & more", [Lane([[Text("a < b & 'c'")]])]))
    assert "a < b & 'c'" in texts(svg)
    assert ElementTree.fromstring(svg).findtext(f"{SVG}title") == "<b> & more"


def test_many_messages_are_folded_into_their_number():
    items = [drawing.Message(f"message {k}") for k in range(30)]
    cluster = Cluster(
        "many", [Lane([[Text("Node 1")]])], messages=[drawing.Messages("Sent", items)]
    )
    written = texts(draw_cluster(cluster))
    assert "18 older, not shown" in written
    assert "message 29" in written
    assert "message 2" not in written
    items[2] = drawing.Message("message 2", mark="new")  # what the step is about
    cluster = replace(cluster, messages=[drawing.Messages("Sent", items)])
    written = texts(draw_cluster(cluster))
    assert "18 older, not shown" in written
    assert {"message 2", "message 19", "message 29"} <= {*written}
    assert "message 18" not in written
    assert "message 29" in written
    assert "message 17" not in written


def test_a_film_strip_holds_every_picture_and_caption():
    model, rows = played(TALK)
    pictures = [model.spec.draw(model, row) for row in rows[:4]]
    for columns in (1, 2):
        strip = film_strip(
            pictures, ["one", "two", "three", "four"], columns=columns, width=900, title="T"
        )
        root = ElementTree.fromstring(strip)
        assert len(root.findall(f"{SVG}svg")) == 4
        assert {"one", "two", "three", "four", "1", "2", "3", "4"} <= set(texts(strip))
        assert described(strip) == "1. one 2. two 3. three 4. four"
        width, height = float(root.get("width")), float(root.get("height"))
        for picture in root.findall(f"{SVG}svg"):
            x, y, w, h = (float(picture.get(name)) for name in ("x", "y", "width", "height"))
            assert x + w <= width
            assert y + h <= height


# --- State graphs ------------------------------------------------------------------------------


def nodes_of(root):
    return [each for each in root.iter(f"{SVG}g") if each.get("class", "").startswith("node")]


@pytest.mark.usefixtures("dot")
def test_the_49_states_are_drawn_whole():
    model = load("kafka.finite_replicated_log").bind()
    graph = reachable(model)
    assert len(graph.rows) == 49
    assert max(graph.depths) == 4
    svg = state_graph(model, label=logs_label)
    assert len(nodes_of(ElementTree.fromstring(svg))) == 49
    written = texts(svg)
    assert {"start", "1 step", "4 steps", "append", "truncate_to", "A B", "–"} <= set(written)
    assert "49 states" in described(svg)
    assert not any(each.get("id") for each in ElementTree.fromstring(svg).iter())


def test_a_graph_that_is_too_large_says_what_to_do():
    model = load("kafka.kip_320").bind()
    with pytest.raises(LabError, match=r"more than 250 states here.*smaller constants"):
        state_graph(model)
    with pytest.raises(LabError, match="with less than depth=6"):
        reachable(model, depth=6)


@pytest.mark.usefixtures("dot")
def test_the_states_around_one_with_broken_invariants_marked():
    model, rows = played(KIP_101_LOSS)
    svg = around(model, rows[-2], 1)
    written = texts(svg)
    assert "✗ weak_isr" in written
    assert "▶ you are here" in written
    assert "…" in written, "states that lead further"
    assert len(nodes_of(ElementTree.fromstring(svg))) == 1 + len(
        {each.row for each in stepping.attempts(model, rows[-2]) if each.taken} - {rows[-2]}
    )


SEEN_AT = 890
"""Pixels of an output in JupyterLab on a screen of 1280."""


def sizes_seen(svg):
    """The sizes of all letters of a strip, in pixels, where it is shown that wide."""
    root = ElementTree.fromstring(svg)
    outer = min(1, SEEN_AT / float(root.get("width")))
    own = [(outer, each) for each in root.findall(f"{SVG}text")]
    for picture in root.iter(f"{SVG}svg"):
        if picture is not root:
            scale = outer * float(picture.get("width")) / float(picture.get("viewBox").split()[2])
            own += [(scale, each) for each in picture.iter(f"{SVG}text")]
    return [scale * float(each.get("font-size")) for scale, each in own if each.text]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "talk_46_56_found_scenario",
        "kip_966_last_replica_standing",
        "defect_1_diagram",
        "chaining_takeover",
        "failed_value_is_committed",
        "leaked_ledger_two_crashes",
    ],
)
@pytest.mark.parametrize("columns", [1, 2])
def test_no_letter_of_a_strip_is_too_small_to_read(name, columns):
    walk = scenarios.play(scenarios.scenario(name))
    strip = picture_strip(walk, columns, walk.path[-3:])
    assert min(sizes_seen(strip)) >= 12


def test_lost_is_said_only_where_nobody_who_can_lead_has_the_record():
    """In the first two stories a member of the ISR has it; in the others none has."""
    for name, word in {
        "truncate_to_high_watermark_away_and_back": "✗ cut off",
        "kip_101_admits_an_empty_log": "✗ cut off",
        "kip_966_last_replica_standing": "✗ lost",
    }.items():
        walk = scenarios.play(scenarios.scenario(name))
        walk.last()
        written = set(texts(moment_picture(walk.model, walk.moment)))
        assert written & {"✗ lost", "✗ cut off"} == {word}, name
