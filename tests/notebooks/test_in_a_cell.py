"""What a cell shows: the line while a search works, its outcome, and a sentence for a mistake."""

import sys
import time
from types import ModuleType, SimpleNamespace
from urllib.parse import unquote

import pytest

from protocol_lab.catalog import load
from protocol_lab.checker import progress
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.notebook import frames, scenario, solution
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.walk import Walk

LOGS = load("kafka.finite_replicated_log").bind()


@pytest.fixture
def cell_line(monkeypatch):
    """The lines that stood under the cell, one after the other, in a notebook without patience."""
    lines = []

    class Handle:
        def update(self, content, raw):
            lines.append(content["text/plain"])

    def display(content, raw, display_id):
        assert not lines, "a second output for the same line"
        lines.append(content["text/plain"])
        return Handle()

    monkeypatch.setattr(progress, "get_ipython", lambda: SimpleNamespace(kernel=None))
    monkeypatch.setattr(progress, "display", display)
    monkeypatch.setattr(progress, "_DELAY", 0.01)
    return lines


@pytest.mark.slow
def test_a_cell_says_that_it_compiles_then_counts_then_nothing(cell_line, capsys):
    with ProgressBar("kafka.some") as bar:
        time.sleep(0.2)
        bar.compiling("some_action", 2, 7)
        told = list(cell_line)
        for count in range(1, 5):
            time.sleep(0.4)
            bar.update(Result(LOGS, "native", [], per_depth=[count * 1000]), 7)
    assert told == ["kafka.some: compiling 3 of 7, some_action (once; then it is kept)"]
    assert any("k states" in line and "frontier 7" in line for line in cell_line)
    assert cell_line[-1] == ""
    assert capsys.readouterr().err == ""  # JupyterLab shows that as a red line


def test_outside_a_kernel_nothing_is_displayed(capsys, monkeypatch):
    """Not even where something has imported ipykernel: the output may be read by a program."""
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    with ProgressBar("kafka.some") as bar:
        bar.compiling("some_action", 2, 7)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("wrong", [LOGS.spec, "kafka.finite_replicated_log", None])
@pytest.mark.parametrize("use", [explore, simulate, Walk.begin])
def test_what_needs_a_model_says_so(use, wrong):
    with pytest.raises(LabError, match=r"bind\(\)"):
        use(wrong)


def test_an_option_that_explore_does_not_have_is_named():
    with pytest.raises(LabError, match=r"no option 'max_state'; it has: .*max_states"):
        explore(LOGS, max_state=3)
    with pytest.raises(LabError, match=r"no option 'pieces'; it has: .*partitions"):
        explore(LOGS, engine="spark", pieces=3)


def test_of_many_names_the_most_alike_are_told():
    with pytest.raises(LabError, match=r"no scenario 'talk_46'; did you mean talk_46_56_found"):
        scenario("talk_46")
    with pytest.raises(LabError, match=r"no spec 'kip_320'; did you mean kafka.kip_320 or"):
        load("kip_320")


def test_decisive_frames_are_shown_and_the_rest_is_folded():
    page = frames("ledger_life", 7, -1).data
    shown, folded = page.split("<details>")
    assert "LAC 1" in shown
    assert "closes the ledger" in shown
    assert "chooses b1, b2 and b3" not in shown
    assert "chooses b1, b2 and b3" in folded
    assert "All 15 states" in folded
    for depth in (0, 16, -16):
        with pytest.raises(LabError, match="depths from 1 to 15"):
            frames("ledger_life", depth)


def test_a_solution_lists_its_steps_and_tells_them_in_words():
    steps, _, pictures = unquote(solution("one_copy_is_enough").data).partition("</pre>")
    assert "unstable_replica_dies_when_leader()" in steps
    assert "The unstable leader dies for good." in pictures
    assert "<summary>A shortest way: 5 steps</summary>" in steps
