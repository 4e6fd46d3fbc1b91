"""The examples have the counts that their projects publish; each is loaded by its path."""

import pytest

from protocol_lab.catalog import load
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.work_units import one_of

pytestmark = pytest.mark.slow

FOLDER = ROOT / "examples"

TLC_MANIFESTS = [
    ("two_phase_commit", {}, (288, 1_146, 11)),
    ("paxos", {}, (3_921, 23_563, 17)),
    ("ewd998", {"pluscal": True}, (321_370, 2_808_396, 47)),
    ("lamport_mutex", {"max_clock": 6}, (724_274, 2_729_079, 61)),
]
"""Distinct states, states generated and depth, as manifest.json of tlaplus/Examples has them."""


def explored(name: str, **constants):
    return explore(load(FOLDER / f"{name}.py").bind(**constants), progress=False)


@pytest.mark.parametrize(("name", "constants", "counts"), one_of(TLC_MANIFESTS))
def test_counts_are_those_of_tlc(name, constants, counts):
    found = explored(name, **constants)
    assert found.verdict == "holds"
    assert (found.distinct, found.generated, found.depth) == counts
    assert found.never_reached == []
    docstring = " ".join(load(FOLDER / f"{name}.py").meaning.split())
    assert all(f"{each:,}" in docstring for each in counts)


def test_counts_of_two_phase_commit_are_those_of_stateright():
    assert explored("two_phase_commit", rms=5).distinct == 8_832


@pytest.mark.rarely
def test_symmetry_leaves_the_verdicts():
    for name in ("two_phase_commit", "paxos"):
        whole = explored(name)
        model = load(FOLDER / f"{name}.py").bind()
        reduced = explore(model, symmetry=True, progress=False)
        assert reduced.verdict == "holds"
        assert reduced.distinct < whole.distinct / 3


def test_the_defects_that_the_examples_have_are_found():
    assert explored("paxos", any_value=True).violated == "one_value_is_chosen"
    mutex = explored("lamport_mutex", keeps_order=False)
    assert mutex.violated == "mutex"
    assert Walk.along(mutex).path[-1].depth == len(mutex.trace) + 1


@pytest.mark.parametrize(
    ("fairness", "verdict", "assumed"),
    [
        ("declared", "holds", ["weak fairness of initiate_probe or pass_token"]),
        ("none", "violated", []),
    ],
)
def test_termination_is_detected_only_if_the_token_goes_on(fairness, verdict, assumed):
    model = load(FOLDER / "ewd998.py").bind(nodes=2, max_counter=1, max_pending=1, max_q=2)
    found = check_property(model, "liveness", fairness=fairness, progress=False)
    assert (found.verdict, found.fairness) == (verdict, assumed)
