"""What the kit says about real systems, and where that was seen: `docs/claims.csv`.

A row: the file that says it (`place`), its words there (`claim`), the releases it is true of, the
source, the date on which that was read or run, and how it was checked. A sentence that changes has
to change its row, so that the next round of checks is a diff.
"""

import csv
import datetime
import json
import re
from functools import cache
from pathlib import Path

import pytest

from real_systems.runner.stories import stories
from tests import ROOT

COLUMNS = ["place", "claim", "release", "source", "date", "checked"]
PAGES = sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("*_spec/in_real_*.md"))

with (ROOT / "docs/claims.csv").open(encoding="utf-8", newline="") as file:
    READER = csv.DictReader(file)
    CLAIMS = list(READER)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def words_of(place: str) -> str:
    """A file's text, or a notebook's cells, in one line."""
    text = (ROOT / place).read_text(encoding="utf-8")
    if Path(place).suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return in_one_line(text)


def table_rows(page: str) -> list[str]:
    """The rows of a page's tables, without the header and the line below it."""
    tables = re.findall(r"(?:^\|.*\n)+", lines_of(page), re.M)
    return [row for table in tables for row in table.splitlines()[2:]]


def lines_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8") + "\n"


def test_the_columns():
    assert READER.fieldnames == COLUMNS


@pytest.mark.parametrize("place", sorted({row["place"] for row in CLAIMS}))
def test_every_place_says_what_its_rows_quote(place):
    quoted = [row["claim"] for row in CLAIMS if row["place"] == place]
    assert [claim for claim in quoted if in_one_line(claim) not in words_of(place)] == []


def test_every_claim_has_a_source_a_date_and_a_check():
    for row in CLAIMS:
        assert all(row[column] for column in ("claim", "source", "checked")), row
        datetime.date.fromisoformat(row["date"])


def test_no_claim_stands_twice():
    keys = [(row["place"], in_one_line(row["claim"])) for row in CLAIMS]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_page_is_a_claim_with_a_source(page):
    claims = [in_one_line(row["claim"]) for row in CLAIMS if row["place"] == page]
    rows = [in_one_line(row) for row in table_rows(page)]
    assert [row for row in rows if not any(claim in row for claim in claims)] == []


def test_a_story_that_checks_a_claim_exists():
    named = {name for row in CLAIMS for name in re.findall(r"lab.py real (\w+)", row["checked"])}
    assert named - set(stories()) == set()
