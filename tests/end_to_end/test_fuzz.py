"""Random specs give the same answers in every engine: see `tests.end_to_end.fuzz`."""

import pytest

from tests.end_to_end.fuzz import command
from tests.end_to_end.fuzz.generator import generate

SEED = 7


def fuzzed(numbers, folder) -> list[dict]:
    """What comes out of these specs, compared in processes of their own."""
    return list(command._Run(SEED, folder, 1).reports(list(numbers)))


def test_a_spec_depends_on_its_seed_and_number_only():
    assert generate(SEED, 3) == generate(SEED, 3)
    assert generate(SEED, 3) != generate(SEED, 4)
    assert generate(SEED, 3) != generate(SEED + 1, 3)


def test_ten_specs(tmp_path):
    reports = fuzzed(range(10), tmp_path)
    assert [each for each in reports if each["differences"]] == []
    assert sum(each["compared"] for each in reports) > 500


@pytest.mark.slow
def test_ninety_more(tmp_path):
    reports = fuzzed(range(10, 100), tmp_path)
    assert [each for each in reports if each["differences"]] == []
    assert sum(each["states"] for each in reports) > 2000
