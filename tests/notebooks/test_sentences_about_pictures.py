"""What a notebook says of a picture, or of a run, is so: it stands there, and the state agrees.

Each case names a notebook, words that stand in it, and a check of the state that they are about.
"""

import re
from html import unescape
from urllib.parse import unquote

import pytest

from kafka_spec.exercises import start
from kraft_spec.challenges import THREE_SERVERS
from kraft_spec.draw.servers import describe_servers
from protocol_lab.catalog import load
from protocol_lab.drawing.pictures import image_html, picture_strip
from protocol_lab.model.step_text import find_step
from protocol_lab.notebook import scenario, show
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.compact_pictures import EMBEDDED, compact, whole, with_compact_pictures
from tests.notebook_outputs import FOLDER, read


def at(name: str, depth: int = -1) -> Walk:
    """A scenario's walk, at its last state or at a depth."""
    walk = play(scenario(name))
    walk.go_to(depth if depth > 0 else len(walk.path))
    return walk


def is_solid(walk: Walk, text: str) -> set[bool]:
    """Are the copies of the KRaft entry that are drawn solid (known to be committed), or dashed?"""
    shown = describe_servers(walk.state, walk.model.constants)
    return {
        entry.committed for lane in shown.lanes for entry in lane.entries if entry.label == text
    }


def after_the_restart() -> Walk:
    """The walk of the lesson who_knows_it up to the restart of the leader that had committed A."""
    walk = Walk.begin(load("kraft.kip_853").bind(**THREE_SERVERS, max_epoch=2, max_restarts=1))
    for step in (
        "client_request(server=1, value=1)",
        "send_fetch_request(server=2, peer=1)",
        "accept_fetch_request_from_voter(message=FetchRequest(source=2))",
        "handle_fetch_response(message=FetchResponse(dest=2))",
        "send_fetch_request(server=2, peer=1)",
        "accept_fetch_request_from_voter(message=FetchRequest(source=2))",
    ):
        walk.take(step)
    assert is_solid(walk, "A") == {True}
    walk.take("restart_with_state(server=1)")
    return walk


def test_the_entry_that_nobody_knows_to_be_committed_is_dashed_as_the_lesson_says():
    told = (ROOT / "kraft_spec" / "lessons" / "who_knows_it.txt").read_text(encoding="utf-8")
    assert "so the picture dashes it" in told
    assert is_solid(after_the_restart(), "A") == {False}


def the_bookie_would_store_it() -> bool:
    walk = at("ledger_life")
    late = "bookie_sends_add_confirmed_response(bookie=2, writer=w1, entry=2, lac=1, lost={})"
    return find_step(walk.model, walk.row, late).reason == ""


def the_cursor_has_the_old_ledger() -> bool:
    walk = at("crash_before_the_cursor")
    return walk.state.compacted_topic_context == 1 and walk.state.compaction_horizon == 1


def each_recovery_has_a_version_of_its_own() -> bool:
    walk = at("protocol_two_recoveries", 13)
    return [walk.state.clients[client].meta_version for client in (2, 3)] == [2, 3]


@pytest.mark.parametrize(
    ("notebook", "words", "is_so"),
    [
        (
            "bookkeeper/11_where_the_entries_are",
            "The add of e1 to b2 has been on its way all the time.",
            the_bookie_would_store_it,
        ),
        (
            "bookkeeper/13_several_recoveries",
            "In this run c2 holds version 2,",
            each_recovery_has_a_version_of_its_own,
        ),
        (
            "pulsar/11_the_two_phases",
            "consumers that were served ledger 2 a moment ago are served ledger 1",
            the_cursor_has_the_old_ledger,
        ),
    ],
)
def test_it_is_as_the_notebook_says(notebook, words, is_so):
    said = "\n".join(cell.source for cell in read(FOLDER / f"{notebook}.ipynb").cells)
    assert words in re.sub(r'"\s*\n\s*"', "", said)
    assert is_so()


START = FOLDER / "00_start_here.ipynb"


def pictures_of(words: str) -> str:
    """The kept pictures of the cell of the first notebook whose code has these words."""
    for cell in read(START).cells:
        if cell.cell_type == "code" and words in cell.source:
            html = "".join(each.data["text/html"] for each in cell.outputs)
            return EMBEDDED.sub(lambda found: whole(unquote(found[1])), html)
    raise AssertionError(words)


def test_the_first_loss_ends_red():
    walk = Walk.begin(start.two_logs.bind(replicas=2, log_records=2, log_size=2))
    for step in (
        "append(replica=1, record=1)",
        "append(replica=2, record=2)",
        "truncate_to(replica=2, end_offset=0)",
        "replicate_to(source=1, target=2)",
    ):
        walk.take(step)
    shown = unquote(show(walk).data)
    assert "✗ B lost" in shown
    assert "✗ written records are kept" in shown


def test_commit_is_drawn_as_committed_in_its_last_frame_alone():
    *before, committed = (
        pictures_of("commit: A is on both").split("<details>")[0].split("<svg")[-4:]
    )
    assert "✓<" in committed
    assert not any("✓<" in each for each in before)


# --- Pictures that notebooks keep say the same in fewer bytes ------------------------------------


def test_a_compact_picture_has_all_words_and_places_and_stays_as_it_is():
    drawn = picture_strip(play(scenario("defect_1_diagram")), 2)
    html = image_html(drawn, "it's µ")
    made = with_compact_pictures(html)
    assert len(made) < 0.45 * len(html)
    assert with_compact_pictures(made) == made
    (kept,) = map(unquote, EMBEDDED.findall(made))
    assert kept == compact(drawn)

    def words(svg: str) -> list[str]:
        return [unescape(each) for each in re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", svg)]

    unfolded = whole(kept)
    assert words(unfolded) == words(drawn)
    for tag in ("rect", "line", "path", "text"):
        assert unfolded.count(f"<{tag}") == drawn.count(f"<{tag}")
