"""The stage of a walk: an arrangement and a scale for all of its pictures."""

import re
from itertools import combinations

import pytest

from protocol_lab.notebook import replay
from protocol_lab.stepper.stage import Stage
from tests.browser.test_stepper_on_a_page import LARGEST
from tests.drawing.test_arrangement import are_apart, places
from tests.spec_checks import take_random_steps
from tests.work_units import one_of

pytestmark = pytest.mark.slow

BESIDE_THE_FILE_BROWSER = (662, 417)
"""The picture's room in JupyterLab at 1280x720, with its file browser open, in pixels."""

FOR_AN_AUDIENCE = (1278, 578)
"""Its room in the presenter's view at 1280x720."""


def walked(name, seed, steps):
    """A stepper's walk from its start, so many random steps long."""
    walk = LARGEST[name]().walk
    walk.first()
    take_random_steps(walk, steps, seed)
    return walk


@pytest.mark.parametrize("name", one_of(LARGEST))
def test_beside_an_open_file_browser_random_walks_have_type_of_full_size(name):
    """And are not scrolled sideways; those of three clients are, a little, up and down."""
    across, down = BESIDE_THE_FILE_BROWSER
    for seed in range(4):
        drawn = Stage(BESIDE_THE_FILE_BROWSER).draw(walked(name, seed, 14))
        sizes = [float(each) for each in re.findall(r'font-size="([^"]+)"', drawn["svg"])]
        assert min(sizes) >= 13, seed
        assert drawn["width"] <= across, seed
        assert drawn["height"] <= (1.3 if name == "bookkeeper" else 1.15) * down, seed


@pytest.mark.parametrize("name", LARGEST)
def test_a_walk_has_one_scale_as_far_as_it_goes(name):
    walk = walked(name, 1, 14)
    stage, sizes = Stage(FOR_AN_AUDIENCE, for_audience=True), set()
    for depth in (1, *range(1, len(walk.path) + 1)):
        walk.go_to(depth)
        drawn = stage.draw(walk)
        sizes.add((drawn["width"], drawn["height"]))
    assert len(sizes) == 1


def smallest_type(walk):
    """In pixels, over all of a walk; the pictures have one scale. Fails if one does not fit."""
    stage = Stage(FOR_AN_AUDIENCE, for_audience=True)
    drawn = [stage.draw(walk)]
    for depth in range(1, len(walk.path) + 1):
        walk.go_to(depth)
        drawn.append(stage.draw(walk))
    (size,) = {(each["width"], each["height"]) for each in drawn}
    sizes = [float(each) for at in drawn for each in re.findall(r'font-size="([^"]+)"', at["svg"])]
    return min(sizes) * min(FOR_AN_AUDIENCE[0] / size[0], FOR_AN_AUDIENCE[1] / size[1])


@pytest.mark.parametrize("name", one_of(LARGEST))
def test_from_the_last_row_the_type_of_random_walks_can_be_read(name):
    for seed in range(4):
        assert smallest_type(walked(name, seed, 14)) >= 20, seed


LARGE_SCENARIOS = {
    "talk_46_56_found_scenario": 20,
    "async_isr_pending_expand": 20,
    "defect_1_diagram": 20,
    "defect_2_diagram": 16.9,  # six bookies
    "protocol_two_recoveries": 19,  # three clients
    "protocol_recovery_replaces_a_bookie": 20,
    "leaked_ledger_two_crashes": 20,
    "failed_value_is_committed": 20,
    "resigned_leader_says_so": 19,
    "hwm_over_earlier_epoch": 19,
    "disk_is_replaced": 17.5,  # four servers
}
"""The smallest type of what is shown in talks, in pixels: 20 wherever it fits."""


@pytest.mark.parametrize("name", one_of(LARGE_SCENARIOS))
def test_from_the_last_row_the_type_of_scenarios_can_be_read(name):
    walk = replay(name).walk
    walk.last()
    assert smallest_type(walk) >= LARGE_SCENARIOS[name]


@pytest.mark.parametrize("name", one_of(LARGEST))
def test_for_an_audience_nothing_overlaps_or_is_cut(name):
    walk = walked(name, 2, 20)
    stage = Stage(FOR_AN_AUDIENCE, for_audience=True)
    for depth in range(len(walk.path), 0, -1):
        walk.go_to(depth)
        (left, top, right, bottom), found = places(stage.draw(walk)["svg"])
        assert all(left <= each[0] and each[2] <= right for each in found)
        assert all(top <= each[1] and each[3] <= bottom for each in found)
        assert all(are_apart(*pair) for pair in combinations(found, 2))


_CARD = re.compile(r'data-part="(card [^"]*)"[^>]*><rect x="([-\d.]+)" y="([-\d.]+)"')
_AXIS = re.compile(r'<text x="([-\d.]+)" y="([-\d.]+)"[^>]*text-anchor="middle"[^>]*>offset 0<')


@pytest.mark.parametrize(
    "name", ["talk_46_56_found_scenario", "talk_57_eligible_leader_replicas", "kip_101_weak_isr"]
)
def test_panels_and_offsets_keep_their_places_for_a_whole_scenario(name):
    walk = replay(name).walk
    walk.go_to(1)
    stage = Stage((864, 441))
    places = set()
    for depth in range(1, len(walk.path) + 1):
        walk.go_to(depth)
        svg = stage.draw(walk)["svg"]
        assert _AXIS.search(svg)
        places.add((tuple(_AXIS.findall(svg)[:1]), tuple(_CARD.findall(svg))))
    assert len(places) == 1
