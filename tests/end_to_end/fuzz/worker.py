"""Compares specs one after the other, and prints a line of JSON about each.

A process of its own, since compiled code that is wrong may end it: whoever started it then knows
which spec it was at.
"""

import json
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

from protocol_lab.spark.session import local_session
from tests.end_to_end.fuzz.comparison import Report, compare
from tests.end_to_end.fuzz.generator import family_name, generate, spec_name


def compare_one(seed: int, number: int, folder: Path, spark: Any = None) -> Report:
    """Generate a spec and compare everything about it; a failure of the kit is a difference."""
    name = spec_name(seed, number)
    try:
        return compare(generate(seed, number), name, family_name(seed, number), folder, spark)
    except Exception as error:
        cause = "".join(traceback.format_exception(error))
        return Report(differences=[f"{type(error).__name__}: {error}\n{cause}"])


def main(words: list[str]) -> None:
    """words: the seed, the folder, "spark" to search there, too, and the numbers of the specs."""
    warnings.simplefilter("ignore")
    seed, folder, numbers = int(words[0]), Path(words[1]), words[2:]
    session = None
    if numbers[0] == "spark":
        session = local_session()
        del numbers[0]
    for number in map(int, numbers):
        report = compare_one(seed, number, folder, session)
        told = {"number": number, **vars(report)}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
