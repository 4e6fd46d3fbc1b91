"""The first page: its places, and the order of the lessons."""

import json
import re

import pytest

from protocol_lab.errors import LabError
from protocol_lab.site.front_page import contents, in_reading_order, page
from protocol_lab.site.sessions import Sessions
from tests import ROOT

SOURCES = {
    "notebooks/00_start_here.ipynb": json.dumps({"cells": [{"source": "# Start\nhere"}]}),
    "notebooks/kafka/01_replication.ipynb": json.dumps(
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
        "notebooks/00_start_here.html notebooks/kafka/01_replication.html 1 lesson 2"
    )
    assert put("catch { return null; } {other}") == "catch { return null; } {other}"


def test_lessons_are_listed_by_their_titles():
    listed = put("{contents}")
    assert '<h3>Kafka</h3><ul><li><a href="notebooks/kafka/01_replication.html">' in listed
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
