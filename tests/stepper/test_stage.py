"""The stage of a walk: an arrangement and a scale for all of its pictures."""

import pytest

from protocol_lab.stepper.stage import Stage
from tests.browser.test_stepper_on_a_page import LARGEST
from tests.spec_checks import take_random_steps

BESIDE_THE_FILE_BROWSER = (662, 417)
"""The picture's room in JupyterLab at 1280x720, with its file browser open, in pixels."""

FOR_AN_AUDIENCE = (1270, 570)
"""Its room in the presenter's view at 1280x720."""


def walked(name, seed, steps):
    """A stepper's walk from its start, so many random steps long."""
    walk = LARGEST[name]().walk
    walk.first()
    take_random_steps(walk, steps, seed)
    return walk


@pytest.mark.parametrize("name", LARGEST)
def test_beside_an_open_file_browser_random_walks_fit(name):
    for seed in range(4):
        drawn = Stage(BESIDE_THE_FILE_BROWSER, can_rearrange=True).draw(walked(name, seed, 14))
        assert drawn["width"] <= BESIDE_THE_FILE_BROWSER[0], seed
        assert drawn["height"] <= BESIDE_THE_FILE_BROWSER[1], seed


@pytest.mark.parametrize("name", LARGEST)
def test_a_walk_has_one_scale_as_far_as_it_goes(name):
    walk = walked(name, 1, 14)
    stage, sizes = Stage(FOR_AN_AUDIENCE, can_rearrange=True, for_audience=True), set()
    for depth in (1, *range(1, len(walk.path) + 1)):
        walk.go_to(depth)
        drawn = stage.draw(walk)
        sizes.add((drawn["width"], drawn["height"]))
    assert len(sizes) == 1


def test_an_audience_gets_the_arrangement_with_the_largest_type():
    walk = walked("bookkeeper", 1, 14)
    plain, large = (Stage(FOR_AN_AUDIENCE, for_audience=each).draw(walk) for each in (False, True))
    assert large["height"] < plain["height"]
