"""A lesson as one file: nothing is fetched, and on paper there is a page a beat."""

import re
from html import unescape

import pytest

from protocol_lab.errors import LabError
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.site.deck import write_deck


def test_a_deck_needs_no_other_file_and_has_the_notes(tmp_path):
    file = tmp_path / "deck.html"
    write_deck("kafka/02_away_and_back", file)
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"(?!data:)", text)
    beats = PlayedLesson(lesson_named("kafka/away_and_back")).values["beats"]
    paper = unescape(text.partition('<div class="lab-paper">')[2].partition("</div>\n<script>")[0])
    assert paper.count("<section>") == len(beats)
    notes = [each["notes"] for each in beats if each["notes"]]
    assert notes
    assert [each for each in notes if each not in paper] == []
    [frames] = re.findall(r'labReceive\("(\w+)", "', text)
    assert f'"frames": "{frames}"' in unescape(text)


def test_an_unknown_lesson_and_a_file_that_can_not_be_written_get_a_sentence(tmp_path):
    with pytest.raises(LabError, match="no lesson 'kafka/away'"):
        write_deck("kafka/away", tmp_path / "deck.html")
    with pytest.raises(LabError, match="can't be written"):
        write_deck("kafka/away_and_back", tmp_path)
