"""Damages the run folder of a search on Spark, and looks at what the resumed search says.

It has to end with the counts of a search that nothing happened to, or be refused in one sentence.
No Spark is needed: the driver makes all levels.
"""

import itertools
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from protocol_lab.checker.request import SearchRequest
from protocol_lab.errors import LabError
from protocol_lab.model.spec import Model
from tests.spec_checks import NO_SESSION, spark_search
from tests.toy_specs import letters

INTERRUPTED_AT = 5
PARTITIONS = 2
COUNTS = ("verdict", "distinct", "generated", "per_depth", "per_action", "never_reached")
KINDS = ("manifest.json", "level-*.json", "level-*/*.parquet", "seen/*.run", "lock")
REFUSED = "refused"


def model() -> Model:
    """The model that is searched."""
    return letters.bind(servers=2, starts=1)


def search(folder: Path, interrupted_at: int | None = None) -> dict:
    """The counts of a search in this folder, begun or resumed."""

    def progress(result, frontier, seconds) -> None:
        if result.depth == interrupted_at:
            raise KeyboardInterrupt

    asked = SearchRequest(*model().choose(None), progress=progress)
    options = {"driver_below": 10**9, "partitions": PARTITIONS}
    found = spark_search(model(), asked, NO_SESSION, folder, **options).run()
    return {name: getattr(found, name) for name in COUNTS}


def after(begun: Path, harm: Callable[[Path], object]) -> dict | str:
    """What a search says that is resumed in a harmed copy of its folder: its counts, or REFUSED.

    Whatever else it raises, and a refusal that is longer than a sentence, is raised here.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        shutil.copytree(begun, folder, symlinks=True)
        harm(folder)
        try:
            return search(folder)
        except LabError as refusal:
            said = str(refusal)
    assert "\n" not in said
    assert said.endswith(".")
    return REFUSED


def flips(folder: Path, seed: int) -> Iterator[tuple[str, int]]:
    """Files of every kind in turn, by their paths in the folder, and a bit of each."""
    chance = random.Random(seed)
    for kind in itertools.cycle(KINDS):
        file = chance.choice(sorted(folder.glob(kind)))
        if file.stat().st_size:
            yield str(file.relative_to(folder)), chance.randrange(8 * file.stat().st_size)


def flip(file: Path, bit: int) -> None:
    """Turn one bit of a file round."""
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)
