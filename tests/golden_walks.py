"""What is near some states of a walk, in plain Python; `test_golden_walks` compares it with TLC.

`tests/golden/walks.json` has the steps of the walks by our names, the numbers of the states that
TLC began from, and its counts. The states themselves, those of the walk and those near it, were
compared with what TLC printed, variable by variable, when `golden_walks_from_tlc` made the rows;
what is kept of those near it is a digest of our own text. After a field was renamed,

    python -m tests.golden_walks

writes the digests again. Look then at the difference: nothing else may have changed.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass

from protocol_lab.catalog import load
from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.transitions import is_inside, successors
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.walk import Walk
from tests.golden_table import FOLDER, Golden, compact, golden_rows

LEVELS = 2
"""How many levels are expanded: the states of the walk, and their successors."""


def played(row: Golden, model: Model) -> Walk:
    """Play the walk, in a model that has room for it."""
    walk = Walk.begin(model)
    for step in row.steps:
        walk.take(step)
    return walk


@dataclass(frozen=True)
class Near:
    """What a search from some states of a walk finds: the distinct states, in a model that has room
    for them, and how many states each action generated. Successors on the last level are counted,
    not kept."""

    model: Model
    rows: list[bytes]
    generated: dict[str, int]

    @property
    def digest(self) -> str:
        """A digest of the states as they are printed."""
        states = (plain(view(self.model.layout, row)) for row in self.rows)
        texts = sorted(json.dumps(each, default=sorted, sort_keys=True) for each in states)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def model_of(row: Golden) -> Model:
    """The model of the configuration that TLC walked through."""
    return load(row.spec_name).bind(**row.settings)


def near(row: Golden) -> Near:
    """Play the walk, and search from the states that TLC began from."""
    return _near(row, model_of(row))


def _near(row: Golden, model: Model) -> Near:
    walk = played(row, model)
    model, path = walk.model, walk.path
    try:
        return _search(model, [path[number - 1].row for number in row.starts])
    except CapacityExceeded as error:
        return _near(row, model.widened(error.size))


def _search(model: Model, starts: list[bytes]) -> Near:
    found, generated = dict.fromkeys(starts), Counter()
    level = list(found)
    for depth in range(1, LEVELS + 1):
        after = {}
        for row in level:
            for each in successors(model, row):
                generated[each.action.name] += each.multiplicity
                if depth < LEVELS and each.row not in found and is_inside(model, each.row):
                    after[each.row] = None
        level = list(after)
        found |= after
    return Near(model, list(found), dict(generated))


def save(rows: list[Golden]) -> None:
    """Write the file."""
    (FOLDER / "walks.json").write_text(compact([row.figures for row in rows]), encoding="utf-8")


def main() -> None:
    """Write the digests of the states as they are now."""
    rows = golden_rows("walks")
    for row in rows:
        row.figures["digest"] = near(row).digest
    save(rows)


if __name__ == "__main__":
    main()
