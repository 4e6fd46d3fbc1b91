"""Deep states of large configurations: the kit finds near them what TLC finds.

A golden run searches a whole configuration, so that it must be small. Here TLC walked at random
through larger ones (`-simulate`), and then searched from some states of each walk: they were its
initial states, with the constraint `TLCGet("level") < 3`, so that it expanded them and their
successors. `tests/golden/walks.json` has the steps of the walks by our names, the numbers of the
states it began from, and its counts. The kit must be able to take the same steps, come to the same
states, and count the same; the uncompiled functions do, so that no kernel is compiled.

The states were compared with what TLC printed, variable by variable, when `read_tlc_trace` read the
walks. What is kept of them is a digest of our own text; after a field was renamed,

    python -m tests.test_golden_walks

writes the digests again. Look then at the difference: nothing else may have changed.
"""

import hashlib
import json
from collections import Counter

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.transitions import is_inside, successors
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.walk import Walk
from tests.golden_table import FOLDER, SPECS, Golden, as_told, compact, golden_rows

pytestmark = pytest.mark.slow

LEVELS = 2
"""How many levels are expanded: the states of the walk, and their successors."""


@pytest.mark.parametrize("row", golden_rows("walks"), ids=lambda row: row.id)
def test_near_a_walk(row):
    model, starts = started(row, load(row.spec_name).bind(**row.settings))
    assert digest(model, starts) == row.digest
    distinct, generated = counted(row, model)
    assert as_told(generated, row.per_action) == row.per_action
    assert distinct == row.distinct


def test_every_original_that_has_large_configurations_was_walked():
    small = {"FiniteReplicatedLog", "IdSequence", "QuorumCoverageFencing"}
    small |= {"QuorumCoverageRecoveryReads"} | {name for name in SPECS if ":" in name}
    assert {row.spec for row in golden_rows("walks")} == set(SPECS) - small


def started(row: Golden, model: Model) -> tuple[Model, list[bytes]]:
    """Play the walk: the states that TLC began from, in a model that has room for them."""
    walk = Walk.begin(model)
    for step in row.steps:
        walk.take(step)
    path = walk.path
    return walk.model, [path[number - 1].row for number in row.starts]


def digest(model: Model, rows: list[bytes]) -> str:
    """A digest of states as they are printed."""
    states = [plain(view(model.layout, row)) for row in rows]
    text = json.dumps(states, default=sorted, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def counted(row: Golden, model: Model) -> tuple[int, dict[str, int]]:
    """The distinct states near the walk, and the states that each action generated there."""
    model, starts = started(row, model)
    try:
        return near(model, starts)
    except CapacityExceeded as error:
        return counted(row, model.widened(error.size))


def near(model: Model, starts: list[bytes]) -> tuple[int, dict[str, int]]:
    """What a search from these states counts; successors on the last level are not stored."""
    found, generated = set(starts), Counter()
    level = found
    for depth in range(1, LEVELS + 1):
        after = set()
        for row in level:
            for each in successors(model, row):
                generated[each.action.name] += each.multiplicity
                if depth < LEVELS and is_inside(model, each.row):
                    after.add(each.row)
        level = after - found
        found = found | level
    return len(found), dict(generated)


if __name__ == "__main__":
    rows = golden_rows("walks")
    for row in rows:
        row.figures["digest"] = digest(*started(row, load(row.spec_name).bind(**row.settings)))
    (FOLDER / "walks.json").write_text(compact([row.figures for row in rows]), encoding="utf-8")
