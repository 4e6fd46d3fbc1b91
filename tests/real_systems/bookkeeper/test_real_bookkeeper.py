"""Stories on real bookies; what needs none is in tests/real_systems."""

import pytest

from tests.real_systems.runner.real_runs import cases_of, check_case


@pytest.mark.real
@pytest.mark.rarely
@pytest.mark.parametrize(("name", "release", "settings"), cases_of("bookkeeper"))
def test_every_story_on_real_bookies(name, release, settings):
    check_case(name, release, settings)
