"""What moves between two pictures, and in films."""

import io
import re
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageColor

from protocol_lab.catalog import load
from protocol_lab.drawing import Cluster, Entry, Flag, Lane, Text, draw_cluster, palette
from protocol_lab.drawing.animation import APPEARING, ARRIVING, FALLING, SLIDE, moves
from protocol_lab.drawing.arrangement import IN_FILMS, arranged
from protocol_lab.drawing.cluster_picture.grid import BOX_GAP, WIDE_BOX
from protocol_lab.drawing.picture_exports import to_animated_svg, to_gif
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.traces.scenarios import parse_scenario, play
from protocol_lab.traces.walk import Walk
from tests.stepper.test_stepper import TALK


@pytest.fixture(scope="module")
def walk():
    return play(parse_scenario(TALK))


@pytest.fixture(scope="module")
def pictures(walk):
    """The states of the talk by their depths."""
    with arranged(IN_FILMS):
        drawn = {each.depth: moment_picture(walk.model, each) for each in walk.path}
    return lambda depth: ElementTree.fromstring(drawn[depth])


def moved(pictures, depth):
    """What moves on the way to a state, by kind, with where it comes from."""
    found = moves(pictures(depth - 1), pictures(depth))
    return {(each.kind, each.element.get("data-part")): (each.x, each.y) for each in found}


def test_a_record_slides_from_the_replica_that_it_was_fetched_from(pictures):
    x, y = moved(pictures, 12)[SLIDE, "Replica 3 1"]
    assert x == 0
    assert y < 0  # replica 1 is above


def test_a_record_stays_at_its_offset_where_longer_names_move_its_column():
    def picture(role, offset):
        lane = Lane([[Text("A")], [Text(role)]], [Entry(0, "e1")], [Flag(offset, Text("hw"))])
        with arranged(IN_FILMS):
            return ElementTree.fromstring(draw_cluster(Cluster("A log", [lane], columns=3)))

    short, long = picture("follows", 1), picture("has become the leader of epoch 12", 1)
    assert moves(short, long) == moves(long, short) == []
    (glides,) = moves(short, picture("has become the leader of epoch 12", 2))
    assert glides.element.get("data-part") == "A flag 0"
    assert glides.x == -(WIDE_BOX + BOX_GAP)


def test_a_truncated_record_falls(pictures):
    assert FALLING in {kind for kind, _ in moved(pictures, 11)}
    after = pictures(11)
    (fallen,) = [each for each in moves(pictures(10), after) if each.kind == FALLING]
    assert fallen.element in after.iter()
    assert fallen.element.get("opacity") == "0"
    fallen.at(0.5)
    assert fallen.element.get("transform") == "translate(0.0 35.0)"
    assert not moves(after, pictures(11)), "what fell is no part of the picture"


def test_the_crown_moves_to_the_new_leader(pictures):
    assert (SLIDE, "crown") in moved(pictures, 5)


def test_a_crown_comes_from_above_where_nobody_led():
    def picture(badge):
        with arranged(IN_FILMS):
            lanes = [Lane([[Text(name)]], badge=badge * (name == "B")) for name in "AB"]
            return ElementTree.fromstring(draw_cluster(Cluster("A log", lanes)))

    (comes,) = moves(picture(""), picture("crown"))
    assert (comes.kind, comes.element.get("data-part")) == (APPEARING, "crown")
    assert comes.y < 0


def test_what_moves_between_lanes_is_never_behind_one(pictures):
    shapes = list(pictures(12).iter())
    parts = [k for k, each in enumerate(shapes) if each.get("data-part")]
    wide = [k for k, each in enumerate(shapes) if float(each.get("width") or 0) > 400]
    assert max(wide) < min(parts)


def test_the_same_picture_moves_nowhere(pictures):
    assert moves(pictures(5), pictures(5)) == []


def test_pictures_in_files_have_no_names(walk):
    assert "data-part" not in moment_picture(walk.model, walk.moment)


def test_an_animated_svg_moves_what_its_steps_change(walk):
    walk.go_to(12)
    film = to_animated_svg(walk)
    assert "prefers-reduced-motion" in film
    kinds = re.findall(r'class="lab-part lab-film-\w+-(\w+)"', film)
    assert {SLIDE, FALLING} <= set(kinds)
    # 300 ms of 12 frames of 4 seconds
    assert f"{100 * 0.3 / 48:.4f}%" in film


def test_a_gif_shows_every_moment_as_long_as_before_with_moves_in_between(walk):
    walk.go_to(5)
    gif = Image.open(io.BytesIO(to_gif(walk)))
    durations = []
    for k in range(gif.n_frames):
        gif.seek(k)
        durations.append(gif.info["duration"])
    assert sum(durations) == 5 * 4000
    assert durations.count(60) >= 5
    shown = {colour for _, colour in gif.convert("RGB").getcolors(1 << 20)}
    wanted = ImageColor.getrgb(palette.GOOD)  # of "in sync", which is little of the picture
    assert min(sum(abs(a - b) for a, b in zip(wanted, each)) for each in shown) < 30


def test_a_message_flies_from_its_sender_and_on_to_its_receiver():
    kinds = set()
    begun = Walk.begin(load("kraft.kip_853").bind("three_servers"))
    with arranged(IN_FILMS):
        for _ in range(12):
            sending = next((each for each in begun.attempts() if each.taken), None)
            before = ElementTree.fromstring(moment_picture(begun.model, begun.moment))
            begun.take(sending)
            after = ElementTree.fromstring(moment_picture(begun.model, begun.moment))
            flights = [
                each for each in moves(before, after) if each.element.get("data-kind") == "flight"
            ]
            kinds |= {each.kind for each in flights if each.x or each.y}
    assert {APPEARING, ARRIVING} <= kinds
