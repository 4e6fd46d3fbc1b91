"""Each option of a search is declared once, and all that take it agree with its declaration."""

import inspect
import re

import pytest

from protocol_lab.checker.options import ENGINES, SIMULATION, SPARK, TEMPORAL, options_of
from protocol_lab.checker.request import SearchRequest
from protocol_lab.cli import main
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.simulation.simulate import simulate
from protocol_lab.simulation.simulation_request import SimulationRequest
from tests import ROOT
from tests.spec_checks import bind

OPTIONS = list(options_of(SearchRequest).values())
PROPERTY = "everybody_learns_who_leads"


def called(each):
    return each.name


@pytest.fixture(scope="module")
def small():
    return bind("kafka.kip_320", replicas=1)


@pytest.fixture
def check_help(capsys) -> str:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("each", OPTIONS, ids=called)
def test_what_takes_an_option_says_so(each, check_help):
    assert each.supported_by
    assert set(each.supported_by) <= {*ENGINES, TEMPORAL, SIMULATION}
    words = " ".join(explore.__doc__.split())
    assert f"{each.name}: {' '.join(each.help.split())}" in words
    assert inspect.signature(explore).parameters[each.name].default is each.unset
    asked = inspect.signature(check_property).parameters
    assert (each.name in asked) == (TEMPORAL in each.supported_by)
    if each.word:
        assert re.search(rf"{each.word}( {each.metavar})? {re.escape(each.help)}", check_help)


@pytest.mark.parametrize("each", options_of(SimulationRequest).values(), ids=called)
def test_a_simulation_takes_what_says_so_and_refuses_the_rest(each, small, capsys):
    asked = inspect.signature(simulate).parameters
    assert (each.name in asked) == (SIMULATION in each.supported_by)
    if SIMULATION not in each.supported_by:
        with pytest.raises(LabError, match=f"{each.name} is an option of a search, not of a"):
            simulate(small, progress=False, **{each.name: True})
        return
    assert asked[each.name].default is each.unset
    assert f"{each.name}: {each.help}" in " ".join(simulate.__doc__.split())
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert not each.word or each.help in words


def test_a_simulation_names_its_options_for_an_unknown_one(small):
    with pytest.raises(LabError, match=r"simulate has no option 'depth'.*walks") as raised:
        simulate(small, depth=3)
    assert "symmetry" not in str(raised.value)


@pytest.mark.parametrize("each", OPTIONS, ids=called)
def test_an_engine_refuses_what_it_does_not_support_in_one_sentence(each, small):
    for engine in {*ENGINES} - {*each.supported_by}:
        with pytest.raises(LabError, match=r"\.$") as raised:
            explore(small, engine=engine, progress=False, **{each.name: True})
        assert str(raised.value).count("\n") == 0
    if TEMPORAL not in each.supported_by:
        with pytest.raises(LabError, match=r"--property"):
            check_property(small, PROPERTY, progress=False, **{each.name: True})


def test_an_unknown_option_is_answered_with_those_of_the_engine(small):
    with pytest.raises(LabError, match=r"no option 'depth'.*max_states") as raised:
        explore(small, depth=3)
    assert "driver_below" not in str(raised.value)
    with pytest.raises(LabError, match=r"no option 'depth'.*driver_below"):
        explore(small, engine=SPARK, depth=3)
    with pytest.raises(LabError, match=r"no option 'depth'.*fairness"):
        check_property(small, PROPERTY, depth=3)


def test_the_docs_name_no_option_that_is_not_there(check_help):
    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    commands = [each for each in text.splitlines() if each.startswith("python3 lab.py check")]
    words = {word for each in commands for word in re.findall(r"--[a-z-]+", each)}
    assert words
    assert all(word in check_help for word in words)
