"""What can happen along the way of each scenario: how often each action was possible.

`tests/scenario_steps.json` has the counts, summed over the states of a scenario, as the
kit's reference engine found them. They reach deep states of every variant and constant, also of
those that no original has and TLC never counted: an edit of a guard shows here. Whoever changes a
protocol, or adds a scenario, looks at the difference after

    python -m tests.traces.test_scenario_steps
"""

import json

import pytest

from protocol_lab.model.transitions import attempts
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.scenarios import play, read_scenario
from tests.golden_table import FOLDER
from tests.spec_checks import packages, scenario_files

FILE = FOLDER.parent / "scenario_steps.json"

SCENARIOS = {
    f"{package}/{path.stem}": read_scenario(path)
    for package in packages()
    for path in scenario_files(package)
}


def possible_steps(scenario: Scenario) -> dict[str, int]:
    """How many steps of each action can be taken, summed over a scenario's states."""
    walk = play(scenario)
    counts = {action.name: 0 for action in walk.model.spec.actions}
    for moment in walk.path:
        for each in attempts(walk.model, moment.row):
            counts[each.action.name] += each.taken
    return counts


def counted() -> dict[str, dict[str, int]]:
    """The counts in the file, by "package/scenario"."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_all_are_counted():
    assert list(counted()) == list(SCENARIOS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scenario"), [pytest.param(name, each, id=name) for name, each in SCENARIOS.items()]
)
def test_possible_steps(name, scenario):
    assert possible_steps(scenario) == counted()[name]


if __name__ == "__main__":
    lines = [
        f"{json.dumps(name)}: {json.dumps(possible_steps(each))}"
        for name, each in SCENARIOS.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
