"""The parts of the site: its first page and the order of lessons, frames, state diagrams."""

import json
import re
import zlib
from base64 import b64decode

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.notebook import scenario
from protocol_lab.site.build import moved_pages, write_moved_pages
from protocol_lab.site.front_page import contents, in_reading_order, page
from protocol_lab.site.scripts import script
from protocol_lab.site.sessions import ROOMS, Sessions, as_script, frames_of
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import begin
from tests import ROOT
from tests.spec_checks import read_link

SOURCES = {
    "notebooks/00_start_here.ipynb": json.dumps({"cells": [{"source": "# Start\nhere"}]}),
    "notebooks/kafka/01_one_power_cut.ipynb": json.dumps(
        {"cells": [{"source": "# *Logs* & epochs"}]}
    ),
    "docs/glossary.md": "# Terms\n",
}


def put(template):
    return page(template, SOURCES, str.capitalize, Sessions())


def test_the_protocols_come_in_the_order_of_their_cards():
    template = (ROOT / "docs" / "front_page.html").read_text(encoding="utf-8")
    names = [f"notebooks/{each}/01.ipynb" for each in ("bookkeeper", "kraft", "spark", "kafka")]
    listed = ["docs/glossary.md", *names, "notebooks/00_start_here.ipynb"]
    ordered = in_reading_order(template, listed)
    assert [each.split("/")[1] for each in ordered] == [
        "00_start_here.ipynb",
        "kafka",
        "kraft",
        "bookkeeper",
        "glossary.md",
        "spark",
    ]


def test_places_in_braces_name_lessons():
    assert put("{start} {first kafka} {size kafka} {count}") == (
        "notebooks/00_start_here.html notebooks/kafka/01_one_power_cut.html 1 lesson 2"
    )
    assert put("catch { return null; } {other}") == "catch { return null; } {other}"


def test_lessons_are_listed_by_their_titles():
    listed = put("{contents}")
    assert '<h3>Kafka</h3><ul><li><a href="notebooks/kafka/01_one_power_cut.html">' in listed
    assert ">Logs &amp; epochs</a>" in listed
    assert '<a href="docs/glossary.html">Terms</a>' in listed
    assert ":caption: Begin here\n\nnotebooks/00_start_here.ipynb\n" in contents(
        list(SOURCES), str.capitalize
    )


def test_a_films_pictures_have_one_size_so_that_its_scale_does_not_change():
    film = put("{film min_isr_1_latest_offset_loses_data\n1\n2\n3\n4\n5\n6}")
    told = re.search(r'<script type="application/json">(.*?)</script>', film)[1]
    frames = json.loads(told.replace("<\\/", "</"))["frames"]
    for width in ("wide", "narrow"):
        assert len({re.search(r'viewBox="[^"]*"', each[width])[0] for each in frames}) == 1


def test_a_film_needs_a_caption_for_each_state():
    with pytest.raises(LabError, match="has 6 states, and the film 2 captions"):
        put("{film min_isr_1_latest_offset_loses_data\nOne.\nTwo.}")


# --- Frames of a path ----------------------------------------------------------------------------

SHOWN = ("title", "constants", "invariants", "caption", "can", "cannot", "timeline", "scenario")


@pytest.mark.slow
def test_each_frame_shows_what_the_stepper_shows_in_its_state():
    told = scenario("talk_46_56_found_scenario")
    frames = frames_of(begin(told))
    stepper = PlainStepper(told)
    assert len(frames) == stepper.view["timeline"]["length"] > 5
    for frame in frames:
        kit = json.loads(json.dumps(stepper.view))
        assert {part: frame[part] for part in SHOWN} == {part: kit[part] for part in SHOWN}
        assert [*frame["panel"]] == [*ROOMS]
        stepper.answer({"command": "redo"})
    assert len(read_link(frames[-1]["link"]).path) == len(frames)
    widths = {name: frames[-1]["panel"][name]["width"] for name in ROOMS}
    assert all(widths[name] <= width for name, (width, _) in ROOMS.items())
    assert widths["narrow"] < widths["small"] < widths["wide"]


@pytest.mark.slow
def test_a_session_stands_where_it_did():
    session = begin(scenario("talk_46_56_found_scenario"))
    session.walk.go_to(3)
    frames_of(session)
    assert session.walk.moment.depth == 3


def test_no_two_parts_of_the_pages_script_give_a_function_the_same_name():
    names = re.findall(r"^(?:async )?function (\w+)", script(), re.MULTILINE)
    assert names
    assert sorted(names) == sorted(set(names))


def test_a_script_has_the_values_of_one_part_side_by_side():
    frames = frames_of(begin(load("kafka.finite_replicated_log").bind()))
    name, script = as_script(frames)
    told, packed = re.fullmatch(r'labReceive\("(\w+)", "([^"]+)"\);\n', script).groups()
    columns = json.loads(zlib.decompress(b64decode(packed), wbits=-zlib.MAX_WBITS))
    assert told == name
    assert {part: values[0] for part, values in columns.items()} == frames[0]


def test_no_notebook_keeps_a_diagram_that_a_page_would_show_as_text():
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        assert "```mermaid" not in path.read_text(encoding="utf-8"), path


# --- Old addresses of pages lead to pages that exist ---------------------------------------------

MOVED = moved_pages(ROOT)


def test_what_has_moved_is_gone_and_where_it_went_exists():
    assert MOVED
    assert [old for old in MOVED if (ROOT / f"{old}.ipynb").exists()] == []
    pages = {new: [*ROOT.glob(f"{new}.ipynb"), *ROOT.glob(f"{new}.md")] for new in MOVED.values()}
    assert [new for new, found in pages.items() if not found] == []


def test_an_old_page_leads_to_the_new_one(tmp_path):
    new = tmp_path / "notebooks" / "kafka" / "01_one_power_cut.html"
    new.parent.mkdir(parents=True)
    new.write_text("new", encoding="utf-8")
    write_moved_pages(ROOT, tmp_path)
    leading = [old for old, to in MOVED.items() if to == "notebooks/kafka/01_one_power_cut"]
    assert len(leading) == 2
    for old in leading:
        page = tmp_path / f"{old}.html"
        to = page.read_text(encoding="utf-8").partition("url=")[2].partition('"')[0]
        assert (page.parent / to).resolve() == new
    assert not (tmp_path / "notebooks" / "kafka" / "02_truncation.html").exists()
