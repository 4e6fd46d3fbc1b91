"""What the kit says to a hundred mistakes that people make in a first spec of their own."""

import pytest

from tests.end_to_end.typical_mistakes import MISTAKES, said


@pytest.mark.slow
@pytest.mark.parametrize(("where", "code", "wanted"), MISTAKES)
def test_a_mistake_is_one_sentence_that_says_what_to_write(where, code, wanted):
    told = said(where, code)
    assert wanted in told
    assert not told.startswith(("(0)", "(1)"))
    assert "Traceback" not in told
    assert "The kit failed" not in told
    assert "..\n" not in f"{told}\n".replace("...", "")


def test_there_are_a_hundred():
    assert len({code for _, code, _ in MISTAKES}) >= 100
