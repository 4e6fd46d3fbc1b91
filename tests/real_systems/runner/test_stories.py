"""Stories are found, run, recorded, compared with what is known and told; on a stub."""

import json
import re
import sys
from contextlib import contextmanager

import pytest

from protocol_lab.cli import main
from protocol_lab.drawing import Cluster, Lane, Text
from protocol_lab.errors import LabError
from protocol_lab.notebook import scenario
from real_systems.runner import command
from real_systems.runner import stories as all_stories
from real_systems.runner.processes import DidNotHappen
from real_systems.runner.recordings import Outcome, Recording, read_recordings, write_recordings
from real_systems.runner.stories import Staging, Story, recorded, recordings_file, run, stories
from real_systems.runner.story_views import StoryRun, decisive


@contextmanager
def stub(run):
    """A system in which acts do nothing but are recorded."""
    run.say("starting")
    yield run


def loss(run) -> None:
    """Two values are acknowledged, and one is left."""
    run.act("a is sent", "acknowledged", {"copies": 1})
    run.act("b is sent", "acknowledged", {"copies": 2}, step="send(value=2)")
    run.act("nothing happens", seen={"copies": 2})
    run.outcome.acknowledged += ["a", "b"]
    run.outcome.readable += ["a"]
    run.outcome.facts["colour"] = "red"


def describe(seen) -> Cluster:
    return Cluster(lanes=[Lane([[Text(f"{seen['copies']} copies")]])])


STAGING = Staging(stub, describe, lambda before, after: before != after)

LOSS = Story(loss, STAGING, settings={"kept": ("no", "yes")}, lesson="kafka/01_one_power_cut")


@pytest.fixture
def stubbed(monkeypatch, tmp_path):
    """The kit's only story; one run of it is known, and another with another outcome."""
    runs = [
        Recording("loss", "1.0.0", {"kept": "yes"}),
        Recording("loss", "1.0.0", {"kept": "no"}, outcome=run_quietly(LOSS).outcome),
    ]
    file = tmp_path / "recordings.json"
    write_recordings(runs, file)
    for module in (command, all_stories):
        monkeypatch.setattr(module, "stories", lambda: {"loss": LOSS})
        monkeypatch.setattr(module, "recordings_file", lambda story: file)
    return file


def run_quietly(story: Story, settings=None, keep=None, told=None) -> Recording:
    told = [] if told is None else told
    return run(story, "1.0.0", settings or {}, told.append, lambda sentence: None, keep)


def test_a_run_is_recorded_as_it_is_told(tmp_path):
    told = []
    recording = run_quietly(LOSS, keep=tmp_path / "kept", told=told)
    assert told == recording.acts
    assert [each.text for each in told] == ["a is sent", "b is sent", "nothing happens"]
    assert recording.settings == {"kept": "no"}
    assert read_recordings(tmp_path / "kept" / "recording.json") == [recording]


def test_an_outcome_is_compared_with_what_is_known():
    outcome = run_quietly(LOSS).outcome
    assert outcome.lost == ["b"]
    assert outcome.differences(outcome) == []
    known = Outcome(facts={"colour": "blue", "size": "1"})
    assert known.differences(outcome) == [
        "b was lost, not nothing",
        "colour: red, not blue",
        "size: not seen, not 1",
    ]


def test_turns_are_drawn_and_the_last_moment(stubbed):
    recording = run_quietly(LOSS)
    drawn = decisive(LOSS, recording.acts)
    assert [each.text for _, each in drawn] == ["a is sent", "b is sent", "nothing happens"]
    assert [before and before.text for before, _ in drawn] == [None, "a is sent", "b is sent"]
    shown = StoryRun(LOSS, recording, is_live=True)
    assert "2 copies" in shown.strip()
    page = shown._repr_html_()
    assert "run here" in page
    assert "ended in the same way" in page


def test_a_file_that_is_no_recording_gets_a_sentence(tmp_path):
    for text in ("", "1", "[{}]", '[{"acts": 1}]', '[{"acts": [], "outcome": {"lost": []}}]'):
        (tmp_path / "r.json").write_text(text, encoding="utf-8")
        with pytest.raises(LabError, match="no recordings"):
            read_recordings(tmp_path / "r.json")


# --- The command ---------------------------------------------------------------------------------


def test_a_run_is_told_as_it_happens(stubbed, capsys):
    assert main(["real", "loss", "--release", "1.0.0"]) == 0
    out, err = capsys.readouterr()
    assert "b is sent -> acknowledged" in out
    assert "lost: b" in out
    assert "ended in the same way" in out
    assert err == "starting\n"


@pytest.mark.parametrize(("typed", "is_kept"), [("y", True), ("", False)])
def test_a_run_without_a_recording_is_kept_if_that_is_wanted(
    stubbed, capsys, monkeypatch, typed, is_kept
):
    assert main(["real", "loss", "--release", "2.0.0"]) == 0
    assert f"in a terminal it asks to keep it in {stubbed}." in capsys.readouterr().out
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: typed)
    for release in ("2.0.0", "3.0.0"):
        assert main(["real", "loss", "--release", release]) == 0
    kept = [each.release for each in read_recordings(stubbed)[2:]]
    assert kept == ["2.0.0", "3.0.0"] * is_kept


@pytest.fixture
def own_story(here):
    """A story in a file of one's own, which goes on as the text given says."""

    def write(*acts: str) -> None:
        (here / "mine.py").write_text(
            "from real_systems.runner.stories import Story\n"
            "from tests.real_systems.runner.test_stories import STAGING\n\n\n"
            "def mine(stage):\n"
            + "".join(f"    {each}\n" for each in acts)
            + "\n\nstory = Story(mine, STAGING)\n",
            encoding="utf-8",
        )

    return write


def test_a_story_in_a_file_of_ones_own_is_run(own_story, capsys):
    own_story('stage.act("it happens")')
    assert main(["real", "mine.py"]) == 3
    assert "mine has no recording: name a release" in capsys.readouterr().err
    assert main(["real", "mine.py", "--release", "1.0.0"]) == 0
    assert "it happens" in capsys.readouterr().out


def test_a_story_that_fails_says_where(own_story, capsys):
    own_story('stage.act("it happens")', "stage.produce()")
    assert main(["real", "mine.py", "--release", "1.0.0"]) == 3
    err = capsys.readouterr().err
    assert "mine can't go on: AttributeError: 'Run' object has no attribute 'produce'" in err
    assert "(mine.py, line 7)" in err


def test_another_outcome_than_the_known_one_exits_with_1(stubbed, capsys):
    assert main(["real", "loss", "--release", "1.0.0", "--set", "kept=yes"]) == 1
    assert "Not as known: b was lost, not nothing." in capsys.readouterr().out


def test_a_story_that_did_not_come_about_is_no_pass(stubbed, capsys, monkeypatch):
    def too_slow(*_):
        raise DidNotHappen("It did not come about.")

    monkeypatch.setattr(command, "run", too_slow)
    assert main(["real", "loss", "--release", "1.0.0"]) == 2
    assert main(["real", "--all"]) == 0
    assert "b is lost; colour: red" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing"], "There is no story 'nothing'"),
        (["loss", "--set", "kept"], "--set kept: write NAME=VALUE."),
        (["loss", "--recorded", "--release", "9"], "No run of loss on 9"),
        (["loss", "--keep", "."], "the folder is not empty"),
    ],
)
def test_bad_input_gets_one_sentence(stubbed, capsys, here, words, sentence):
    (here / "mine.txt").write_text("mine", encoding="utf-8")
    assert main(["real", *words]) == 3
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


# --- What travels with the kit -------------------------------------------------------------------

CASES = [(story, case) for story in stories().values() for case in story.cases]


def case_id(pair) -> str:
    story, case = pair
    return "-".join([story.name, case.release, *case.settings.values()])


@pytest.mark.parametrize("pair", CASES, ids=case_id)
def test_every_recording_is_whole_and_drawn(pair):
    story, recording = pair
    assert recorded(story, recording.release, recording.settings) == recording
    assert recording.settings == story.chosen(recording.settings)
    assert recording.seconds > 0
    assert StoryRun(story, recording, is_live=False).strip().startswith("<svg")


@pytest.mark.parametrize("story", stories().values(), ids=lambda story: story.name)
def test_a_story_has_recordings_that_are_small_and_scrubbed(story):
    assert story.cases
    text = recordings_file(story).read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert "/tmp/" not in text
    assert "protocol-lab-" not in text


def test_no_recordings_are_of_something_else():
    files = {recordings_file(story) for story in stories().values()}
    assert {each.story for file in files for each in read_recordings(file)} == {*stories()}


def test_stories_are_listed(capsys):
    assert main(["real"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}  " in out for name in stories())
    assert main(["real", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(stories())


def test_every_story_names_a_lesson_that_is_there():
    from tests import ROOT

    for story in stories().values():
        assert (ROOT / "notebooks" / f"{story.lesson}.ipynb").exists(), story.name


def test_every_scenario_that_a_story_names_is_there():
    from tests import ROOT

    for story in stories().values():
        if story.scenario:
            assert list(ROOT.glob(f"*_spec/scenarios/{story.scenario}.txt")), story.name


def test_every_story_has_a_scenario_or_says_that_there_is_none():
    for story in stories().values():
        says = re.search("No (model|scenario) of the kit", " ".join(story.play.__doc__.split()))
        assert bool(story.scenario) != bool(says), story.name


@pytest.mark.parametrize("story", stories().values(), ids=lambda each: each.name)
def test_an_act_stands_for_a_step_of_the_scenario(story):
    steps = [{act.step for act in each.acts if act.step} for each in story.cases]
    assert all(bool(each) == bool(story.scenario) for each in steps)
    if story.scenario:
        run_of_model = scenario(story.scenario)
        lines = {each.text for each in run_of_model.lines}
        assert all(each & lines for each in steps)
        for step in set().union(*steps):  # one that is no line has other values of its parameters
            action, words = re.fullmatch(r"(\w+)\((.*)\)", step).groups()
            parameters = run_of_model.model().action(action).domains
            assert {*re.findall(r"(\w+)=", re.sub(r"\w+\([^)]*\)", "", words))} <= {*parameters}
