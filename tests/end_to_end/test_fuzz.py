"""Random specs give the same answers in the engines of one process: see `tests/end_to_end/fuzz`.

On Spark one is tried in `tests/spark/test_spark.py`, and every 20th by `lab.py fuzz`.
"""

from collections import Counter

import pytest

from protocol_lab.checker import reference
from tests.end_to_end.fuzz import command
from tests.end_to_end.fuzz.comparison import compare
from tests.end_to_end.fuzz.generator import family_name, generate, spec_name

SEED = 7

WITH_FAULTS = (3,)
"""Hundreds of which some states have a step without a value: such faults are rare."""

WITHOUT_SYMMETRY = (9,)
"""Hundreds none of whose pools of declarations claims a symmetry."""


def fuzzed(numbers, folder) -> list[dict]:
    """What comes out of these specs, compared in a process of its own."""
    found = command.reports(SEED, folder, list(numbers), processes=1, spark=False)
    return sorted(found, key=lambda each: each["number"])


@pytest.mark.slow
def test_a_spec_depends_on_its_seed_and_number_only():
    assert generate(SEED, 3) == generate(SEED, 3)
    assert generate(SEED, 3) != generate(SEED, 4)
    assert generate(SEED, 3) != generate(SEED + 1, 3)


@pytest.mark.slow
def test_four_specs(tmp_path):
    reports = fuzzed(range(4), tmp_path)
    assert [each for each in reports if each["differences"]] == []
    assert sum(each["compared"] for each in reports) > 120


@pytest.mark.rarely
@pytest.mark.parametrize("hundred", range(10))
def test_a_thousand_specs(tmp_path, hundred):
    reports = fuzzed(range(100 * hundred, 100 * hundred + 100), tmp_path)
    assert [each for each in reports if each["differences"]] == []
    assert sum(each["states"] for each in reports) > 2000
    met = Counter()
    for each in reports:
        met.update(each["verdicts"])
    assert {"holds", "violated", "undecided"} <= {*met}
    assert ("symmetry used" in met) == (hundred not in WITHOUT_SYMMETRY)
    assert "error" in met or hundred not in WITH_FAULTS


@pytest.mark.slow
def test_a_difference_is_kept(tmp_path, monkeypatch, capsys):
    """What a process says is taken over, and one that ends early counts as a difference."""
    broken = 'import os, sys; print(\'{"number": 0, "compared": 1, "differences": []}\')'
    monkeypatch.setattr(command, "WORKER", ["-c", f"{broken}; sys.stdout.flush(); os.abort()"])
    words = ["--specs", "2", "--seed", "7", "--processes", "1", "--no-spark"]
    words += ["--folder", str(tmp_path)]
    assert command.main(words) == 1
    told = capsys.readouterr().out
    assert "2 specs of seed 7: 1 comparisons" in told
    assert "1 with differences: 1" in told
    kept = tmp_path / "seed_7" / "differences" / "seed_7_spec_1"
    assert (kept / "differences.txt").read_text(encoding="utf-8") == "the process ended: SIGABRT"
    assert (kept / "spec.py").read_text(encoding="utf-8") == generate(7, 1)


@pytest.mark.rarely
def test_a_difference_between_engines_is_seen(here, monkeypatch):
    """A step that the reference engine does not take is told by what is counted."""
    original = reference.successors

    def one_step_less(model, row):
        return list(original(model, row))[1:]

    text = generate(SEED, 0)
    monkeypatch.setattr(reference, "successors", one_step_less)
    report = compare(text, spec_name(SEED, 0), family_name(SEED, 0), here)
    assert any("generated of native and python" in each for each in report.differences)
