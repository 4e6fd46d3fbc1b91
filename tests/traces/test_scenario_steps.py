"""What can happen along the way of each scenario is what could happen when it was counted."""

import pytest

from protocol_lab.traces.scenarios import read_scenario
from tests.scenario_steps import counted, possible_steps
from tests.spec_checks import packages, scenario_files

SCENARIOS = {
    f"{package}/{path.stem}": read_scenario(path)
    for package in packages()
    for path in scenario_files(package)
}


def test_all_are_counted():
    assert list(counted()) == list(SCENARIOS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scenario"), [pytest.param(name, each, id=name) for name, each in SCENARIOS.items()]
)
def test_possible_steps(name, scenario):
    assert possible_steps(scenario) == counted()[name]
