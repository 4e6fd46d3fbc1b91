"""What is near some states of a walk, in plain Python; `test_golden_walks` compares it with TLC.

`tests/golden/walks.json` has the steps of the walks by our names, the numbers of the states that
TLC began from, and its counts. The states themselves were compared with what TLC printed, variable
by variable, when `golden_walks_from_tlc` read the walks; what is kept of them is a digest of our
own text. After a field was renamed,

    python -m tests.golden_walks

writes the digests again. Look then at the difference: nothing else may have changed.
"""

import hashlib
import json
from collections import Counter

from protocol_lab.catalog import load
from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.transitions import is_inside, successors
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.walk import Walk
from tests.golden_table import FOLDER, Golden, compact, golden_rows

LEVELS = 2
"""How many levels are expanded: the states of the walk, and their successors."""


def model_of(row: Golden) -> Model:
    """The model of the configuration that TLC walked through."""
    return load(row.spec_name).bind(**row.settings)


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


def write(rows: list[Golden]) -> None:
    """Write the file, with the digests of the states as they are now."""
    for row in rows:
        row.figures["digest"] = digest(*started(row, model_of(row)))
    (FOLDER / "walks.json").write_text(compact([row.figures for row in rows]), encoding="utf-8")


if __name__ == "__main__":
    write(golden_rows("walks"))
