"""Lessons: each is tested by being played, and bad files get a sentence with the line."""

import json
import re
import time
from html import escape, unescape

import pytest

from protocol_lab.errors import LabError
from protocol_lab.lessons.lesson_files import lesson_named, lesson_names, parse_lesson
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.site.deck import write_deck
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import resumed
from protocol_lab.stepper.static_view import printed_lesson, static_lesson
from protocol_lab.traces.scenarios import scenario
from tests import PATIENCE

LONGEST = 170
"""Characters of a caption."""


def played(name: str) -> PlayedLesson:
    return PlayedLesson(lesson_named(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", lesson_names())
def test_a_lesson_plays_and_its_questions_have_answers(name):
    lesson = played(name)
    lesson.settle_all()
    beats = lesson.values["beats"]
    json.dumps(beats)
    for each in beats:
        assert len(each["text"]) <= LONGEST, each["text"]
        if ask := each["ask"]:
            assert len(ask["options"]) > 1, ask["question"]
            assert not ask["options"][ask["right"]]["counter"], ask["question"]
            assert ask["why"], ask["question"]
    at = [(each["part"], each["depth"]) for each in beats]
    assert at == sorted(at)


def right_answers(name: str) -> list[str]:
    lesson = played(name)
    lesson.settle_all()
    asks = [each["ask"] for each in lesson.values["beats"] if each["ask"]]
    return [each["options"][each["right"]]["text"] for each in asks]


@pytest.mark.slow
def test_answers_are_those_of_the_notebooks():
    """Each was computed by the notebook's own cells, which settle the same questions."""
    assert right_answers("kafka/one_record") == [
        *("no", "no", "fenced_become_follower_and_truncate(follower=2)", "0", "1"),
        *("yes", "1", "no", "no"),
    ]
    assert right_answers("kafka/the_talk") == [
        *("nobody", "1", "3", "2", "2", "3", "nobody", "2", "later epoch"),
        *("it follows broker 3", "2", "2", "older", "3", "1"),
    ]


TOP = "# lesson: A   spec: kafka.kip_320  replicas=2\n"
STEP = "controller_elect_leader(new_leader=1)  # Elected.\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("# spec: kafka.kip_320\n", 1, "first line must be"),
        ("# lesson: A   spec: kafka.nothing\n" + STEP, 1, "kafka.nothing"),
        (TOP, 1, "no steps"),
        (TOP + STEP + "? why s.x  # What?\n", 3, "is not known; write ? can"),
        (TOP + STEP + "? can leader_write(replica=1)\n", 3, "question is missing"),
        (TOP + STEP + "? can  # Can it?\n", 3, "what is asked"),
        (TOP + STEP + "? can leader_write(replica=9)  # Can it?\n", 3, "replica"),
        (TOP + STEP + "? which never  # Which?\n", 3, "which next"),
        (TOP + STEP + "? say 1  # How many?\n - 1\n", 3, "at least two choices"),
        (TOP + STEP + "? say 3  # How many?\n - 1\n - 2\n", 3, "the run answers"),
        (TOP + STEP + "? say s.nothing  # How many?\n - 1\n - 2\n", 3, "can't be computed"),
        (TOP + STEP + "? where s.quorum_state.isr == 1  # Where?\n", 3, "not a number"),
        (TOP + STEP + "? last nothing  # Is it?\n", 3, "no invariant"),
        (TOP + STEP + "~ yes: no\n", 3, "belongs to a question"),
        (TOP + STEP + "? say 1  # How many?\n - 1\n ~ 2\n", 5, "write `~ CHOICE: SENTENCE`"),
        (TOP + STEP + "? say 1  # How many?\n - 1\n - 1\n", 5, "offered twice"),
        (TOP + "> first\n" + STEP, 2, "a note follows"),
        (TOP + STEP + "leader_write(replica=1)\n", 3, "can't happen here"),
        (TOP + STEP + "# part:\n" + STEP, 3, "a part has a title"),
        (TOP + STEP + "# part: B   after slide 3\n" + STEP, 3, "no slide 3"),
        (TOP + STEP + "# part: B   replicas\n" + STEP, 3, "NAME=VALUE"),
        (TOP + STEP + "# part: B   replicas=99\n" + STEP, 3, "replicas"),
    ],
)
def test_a_bad_file_gets_a_sentence_with_its_line(text, line, words):
    with pytest.raises(LabError) as error:
        PlayedLesson(parse_lesson(text)).settle_all()
    assert str(error.value).startswith(f"lesson, line {line}: ")
    assert words in str(error.value)


@pytest.mark.slow
def test_a_stepper_goes_from_beat_to_beat_and_resumes_there():
    stepper = PlainStepper(lesson_named("kafka/the_talk"))
    beats = stepper.lesson["beats"]
    for at, beat in enumerate(beats):
        stepper.answer({"command": "beat", "at": at})
        view = stepper.view
        assert (view["notice"], view["part"]) == ("", beat["part"])
        assert view["timeline"]["depth"] == beat["depth"]
    stepper.answer({"command": "beat", "at": 20})
    saved = {**stepper.view["origin"], "timeline": stepper.view["timeline"], "hints": None}
    session = resumed(saved)
    assert (session.part, session.walk.moment.depth) == (beats[20]["part"], beats[20]["depth"])
    assert (beats[session.beat]["part"], beats[session.beat]["depth"]) == (
        beats[20]["part"],
        beats[20]["depth"],
    )
    stepper.answer({"command": "beat", "at": len(beats)})
    assert "There is no beat" in stepper.view["notice"]


@pytest.mark.slow
def test_a_lesson_starts_within_a_second_and_a_beat_takes_60_ms():
    """Of the processor's time, until it is shown; what the next part needs comes afterwards."""
    began = time.process_time()
    stepper = PlainStepper(lesson_named("kafka/the_talk"))
    stepper.answer({"command": "room", "width": 700, "height": 440})
    assert time.process_time() - began < 1
    took = []
    stepper.show = lambda part, values: took.append(time.process_time() - began)
    for at in range(len(stepper.lesson["beats"])):
        began = time.process_time()
        stepper.answer({"command": "beat", "at": at})
    assert max(took) < 0.06


def test_an_answer_is_computed_when_it_is_asked_for(monkeypatch):
    """Some take a search: the lesson opens without them. If it fails, the card says why."""
    stepper = PlainStepper(lesson_named("kafka/the_talk"))
    asks = [each["ask"] for each in stepper.lesson["beats"] if each["ask"]]
    number = next(each["number"] for each in asks if each["question"].startswith("Suppose"))
    failing = "kafka_spec.exercises.the_talk.moves_before_the_loss"
    monkeypatch.setattr(failing, lambda: 1 / 0)
    told = answered(stepper, number)
    assert (told["right"], "can't be computed" in told["failed"]) == (None, True)
    monkeypatch.setattr(failing, lambda: 2)
    told = answered(stepper, number)
    assert told["options"][told["right"]]["text"] == "2"


def answered(stepper: PlainStepper, number: int) -> dict:
    """What the lesson says once a question was answered."""
    before = stepper.lesson
    stepper.answer({"command": "answered", "at": number, "chosen": 0})
    until = time.monotonic() + PATIENCE
    while stepper.lesson is before and time.monotonic() < until:
        time.sleep(0.01)
    return stepper.lesson["beats"][number]["ask"]


def test_another_way_leaves_the_lesson_and_a_beat_leads_back():
    stepper = PlainStepper(lesson_named("kafka/one_record"))
    stepper.answer({"command": "beat", "at": 1})
    stepper.answer({"command": "take_over"})
    stepper.answer({"command": "take", "step": stepper.view["can"][0]["choices"][0]["step"]})
    assert stepper.view["timeline"]["branch"] != "main"
    stepper.answer({"command": "beat", "at": 3})
    assert stepper.view["timeline"]["branch"] == "main"


def test_a_saved_notebook_folds_what_answers_a_question():
    """A static form of the lesson: its answers, and a picture that would tell one, are folded."""
    lesson = played("kafka/one_record")
    html = static_lesson(lesson)
    open_text = re.sub("<details>.*?</details>", "", html, flags=re.DOTALL)
    for beat in lesson.values["beats"]:
        if ask := beat["ask"]:
            assert escape(ask["question"]) in open_text
            assert escape(ask["why"]).partition("**")[0] not in open_text
    broken = static_lesson(played("pulsar/nothing_and_no_error"))
    assert escape("Broken: the context's ledger lacks what the horizon promises.") in broken
    assert "Refused: " not in broken
    before, after = open_text.split(escape("Put broker 2's high watermark where it is now."))
    assert "<img" not in before.rpartition("<div")[2] + after.partition("</div>")[0]


def test_a_lesson_is_printed_with_a_picture_a_beat():
    lesson = played("kafka/one_record")
    html = printed_lesson(lesson)
    assert html.count("<section>") == html.count("<img") == len(lesson.beats)
    assert all(escape(each["notes"]) in html for each in lesson.values["beats"])


def test_a_question_about_the_board_is_answered_by_its_cells():
    told = scenario("defect_1_diagram").file.read_text(encoding="utf-8")
    text = told.replace("# spec:", "# lesson: A board   spec:", 1)
    text += "? cell begins_to_read  # Who has told w2 that it is fenced?\n  = b3 was not asked.\n"
    lesson = PlayedLesson(parse_lesson(text))
    ask = lesson.values["beats"][-1]["ask"]
    right = ask["options"][ask["right"]]
    assert (ask["claim"], right["nodes"], right["label"]) == ("begins_to_read", (1, 2), "b1 and b2")


# --- A lesson as one file: nothing is fetched, and on paper there is a page a beat ---------------


@pytest.mark.rarely
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


@pytest.mark.slow
def test_an_unknown_lesson_and_a_file_that_can_not_be_written_get_a_sentence(tmp_path):
    with pytest.raises(LabError, match="no lesson 'kafka/away'"):
        write_deck("kafka/away", tmp_path / "deck.html")
    with pytest.raises(LabError, match="can't be written"):
        write_deck("kafka/away_and_back", tmp_path)
