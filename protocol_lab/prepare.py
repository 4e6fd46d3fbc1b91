"""`lab.py prepare`: compiles and checks everything in advance, so that the kit works offline."""

import time

from protocol_lab.catalog import load, package_folder, spec_names
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.liveness.claims import claims_something
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import initial
from protocol_lab.system.programs import find_dot, find_java
from protocol_lab.teaching.challenges import challenges_of, shortest
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of


def prepare() -> int:
    """Compile every spec for the layouts that the kit uses, play every scenario, solve every
    challenge, and look for Java and dot.

    Prints a line for each; returns 0 if all is well, 3 if something is missing.
    """
    problems = []
    for name in spec_names():
        problems += _report(f"{name}: compiled and explored", lambda name=name: compile_all(name))
    for package in sorted({name.partition(".")[0] for name in spec_names()}):
        count = len(list(package_folder(package).glob("scenarios/*.txt")))
        problems += _report(f"{package}: {count} scenarios played", lambda p=package: _play_all(p))
        count = len(challenges_of(package))
        problems += _report(
            f"{package}: {count} challenges solved", lambda p=package: _solve_all(p)
        )
    problems += _report("Java for Spark", find_java)
    problems += _report("Graphviz", find_dot)
    for problem in problems:
        print(problem)
    print(
        "Everything is ready and works without a network."
        if not problems
        else "Not everything works."
    )
    return 3 if problems else 0


def _report(title: str, work) -> list[str]:
    began = time.perf_counter()
    try:
        work()
    except LabError as error:
        print(f"✗ {title}")
        return [str(error)]
    print(f"✓ {title} ({time.perf_counter() - began:.1f} s)")
    return []


def compile_all(name: str) -> None:
    """Compile a spec for the layouts that the kit uses, by small searches. Raises LabError."""
    models = {tuple(model.layout.offsets.items()): model for model in _models(name)}
    for model in models.values():
        explore(model, max_states=10_000, progress=False)
        Nearness(model, max_states=10_000).ask(next(initial(model)).row)
        for each in model.spec.properties:
            if claims_something(model, each):
                check_property(model, each.name, max_states=1_000, progress=False)


def _models(name: str) -> list[Model]:
    """The spec with its defaults and with the constants of each of its scenarios."""
    return [load(name).bind(), *(read_scenario(path).model() for path in scenarios_of(name))]


def _play_all(package: str) -> None:
    for path in scenarios_of(package):
        play(read_scenario(path))


def _solve_all(package: str) -> None:
    for each in challenges_of(package):
        if shortest(each) is None:
            raise LabError(f"The challenge {each.name!r} can't be solved.")
