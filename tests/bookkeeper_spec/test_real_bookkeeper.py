"""Stories on real bookies; what needs none is in tests/real."""

import pytest

from tests.real.real_runs import cases_of, check_case


@pytest.mark.real
@pytest.mark.rarely
@pytest.mark.parametrize(("name", "release", "settings"), cases_of("bookkeeper_spec"))
def test_every_story_on_real_bookies(name, release, settings):
    check_case(name, release, settings)
