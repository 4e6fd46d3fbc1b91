"""Mutation testing of the protocols: is every guard and every effect needed by some test?

    python3 lab.py mutants SPEC [--sample N] [--seed S] [--only TEXT] [--list]

makes the mutants of everything that the spec's actions reach (see `mutations`), runs the tests on
each until one fails (see `mutant_killing`), and lists those that survive. Survivors that can't be
noticed, because they do what the original does, are in equivalent_mutants.json with the reason.
What is done is kept; Ctrl-C ends the run, and the next one goes on from there. Exit code 1: there
are survivors that nothing explains.
"""

import argparse
import hashlib
import json
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import tqdm

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from tests.end_to_end.mutant_killing import (
    ROOT,
    Kept,
    Killing,
    Outcome,
    test_files,
    with_tests,
)
from tests.end_to_end.mutations import Mutant, mutants_of, source_hash

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.json")


EXPECTED_SHARE = 1 / 6
"""How much of the time a mutant gets that is known to be equivalent: nothing should kill it."""


def equivalent_mutants(package: str) -> dict[str, str]:
    """Why a mutant of the package can't be told from the original, by the mutants' names.

    Where the same edit is equivalent in every function, its name has "*" instead of a function.
    """
    return json.loads(EQUIVALENT.read_text(encoding="utf-8")).get(package, {})


def why_equivalent(mutant: Mutant, explained: dict[str, str]) -> str | None:
    """Why a mutant can't be told from the original; None if nobody has said so."""
    return explained.get(mutant.name) or explained.get(mutant.edit_anywhere)


def chosen(spec_name: str, sample: int | None, seed: int, only: str) -> list[Mutant]:
    """The spec's mutants, those with the text in their names, or so many of them at random."""
    found = [each for each in mutants_of(spec_name) if only in each.name]
    if sample is None or sample >= len(found):
        return found
    picked = set(random.Random(seed).sample(range(len(found)), sample))
    return [each for k, each in enumerate(found) if k in picked]


def tests_hash(package: str) -> str:
    """A hash of the tests that are run on a package's mutants."""
    paths = [*map(Path, test_files(package)), *sorted((ROOT / "tests" / "golden").glob("*.json"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def judged(
    package: str, mutants: list[Mutant], processes: int, budget: float
) -> dict[str, Outcome]:
    """What became of the mutants, by their names; of all that were done, if interrupted."""
    kept = Kept(package, source_hash(package), tests_hash(package))
    known = kept.read()
    left = [each for each in mutants if each.name not in known]
    explained = equivalent_mutants(package)
    expected = [each for each in left if why_equivalent(each, explained)]
    others = [each for each in left if each not in expected]

    def work(items: list) -> None:
        with tqdm.tqdm(total=len(left), desc="mutants") as bar:

            def done(mutant: Mutant, told: dict) -> None:
                known[mutant.name] = kept.add(mutant, told)
                bar.update()

            Killing(package, items, budget).run(others, processes, done)
            Killing(package, items, budget * EXPECTED_SHARE).run(expected, processes, done)

    if left:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with_tests(package, work)
        except KeyboardInterrupt:
            print("Interrupted; what is done is kept.", file=sys.stderr)
    return {each.name: known[each.name] for each in mutants if each.name in known}


def report(spec_name: str, mutants: list[Mutant], outcomes: dict[str, Outcome]) -> int:
    """Print the survivors and the counts; the number of survivors that nothing explains."""
    explained = equivalent_mutants(spec_name.partition(".")[0])
    unexplained = 0
    for mutant in mutants:
        if mutant.name in outcomes and outcomes[mutant.name].outcome == "survived":
            reason = why_equivalent(mutant, explained)
            unexplained += reason is None
            print(f"{'equivalent' if reason else 'SURVIVED'}  {mutant.name}")
            print(f"    {mutant.difference}" + (f"\n    {reason}" if reason else ""))
    counts = Counter(each.outcome for each in outcomes.values())
    equivalent = counts["survived"] - unexplained
    needed = len(outcomes) - equivalent
    share = (needed - unexplained) / needed if needed else 1.0
    print(
        f"{spec_name}: {len(mutants)} mutants, {len(outcomes)} tried,"
        f" {counts['killed']} killed, {counts['timeout']} stopped after too long,"
        f" {equivalent} equivalent, {unexplained} unexplained ({share:.1%} noticed)"
    )
    return unexplained


def main(words: list[str] | None = None) -> int:
    """Carry out one command line."""
    parser = argparse.ArgumentParser(prog="lab.py mutants", description=__doc__.split("\n")[0])
    parser.add_argument("spec", help="as in kafka.kip_320")
    parser.add_argument("--sample", type=int, help="so many of them, at random")
    parser.add_argument("--seed", type=int, default=1, help="for the sample")
    parser.add_argument("--only", default="", help="those with this text in their name")
    parser.add_argument("--list", action="store_true", help="print the mutants and do nothing")
    parser.add_argument("--processes", type=int, default=2, help="how many run at once")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant")
    options = parser.parse_args(words)
    try:
        load(options.spec)
        mutants = chosen(options.spec, options.sample, options.seed, options.only)
        if options.list:
            for mutant in mutants:
                print(f"{mutant.name}\n    {mutant.difference}")
            return 0
        package = options.spec.partition(".")[0]
        outcomes = judged(package, mutants, options.processes, options.budget)
    except LabError as error:
        print(error, file=sys.stderr)
        return 3
    return 1 if report(options.spec, mutants, outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
