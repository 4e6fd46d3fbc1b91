"""Deep states of large configurations: the kit finds near them what TLC finds.

A golden run searches a whole configuration, so that it must be small. Here TLC walked at random
through larger ones, or took steps that were chosen, and then searched from some states of each walk
(`golden_walks_from_tlc`). The kit must be able to take the same steps, find the same states, and
count the same; the uncompiled functions do, so that no kernel is compiled.
"""

import pytest

from tests.golden_table import SPECS, as_told, golden_rows
from tests.golden_walks import near

pytestmark = pytest.mark.slow


ROWS = golden_rows("walks")
OFTEN = [
    each
    for spec in {row.spec for row in ROWS}
    for each in [row for row in ROWS if row.spec == spec][:1]
]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.id, marks=() if row in OFTEN else pytest.mark.rarely)
        for row in ROWS
    ],
)
def test_near_a_walk(row):
    found = near(row)
    assert as_told(found.generated, row.per_action) == row.per_action
    assert len(found.rows) == row.distinct
    assert found.digest == row.digest


def test_every_original_that_has_large_configurations_was_walked():
    small = {"FiniteReplicatedLog", "IdSequence", "QuorumCoverageFencing"}
    small |= {"QuorumCoverageRecoveryReads"} | {name for name in SPECS if ":" in name}
    assert {row.spec for row in golden_rows("walks")} == set(SPECS) - small
