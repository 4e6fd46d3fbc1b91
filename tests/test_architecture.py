"""The rooms of the tree: which imports which, what each says of its modules, and the map in docs/;
what a verdict rests on, and what needs no Numba.

Rooms are the folders of protocol_lab and its single modules. Nothing here is listed by hand: the
arrows come from the imports, and docs/architecture.md must show the same ones.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from protocol_lab.checker.reference import PythonSearch
from protocol_lab.checker.request import SearchRequest
from tests import ROOT
from tests.spec_checks import bind

KIT = ROOT / "protocol_lab"
MAP = ROOT / "docs" / "architecture.md"

PACKAGES = [KIT, *sorted(ROOT.glob("*_spec")), ROOT / "real_systems"]

MOST_MODULES = 14
"""A room with more modules than this is split by subject."""


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def modules(folder: Path = KIT) -> dict[str, Path]:
    """The modules below a folder, by dotted name."""
    return {module_name(path): path for path in sorted(folder.rglob("*.py"))}


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of `known` that a file imports, wherever in the file it does so."""
    found = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif node.module:
            both = {f"{node.module}.{each.name}": node.module for each in node.names}
            found |= {full if full in known else module for full, module in both.items()}
    return found & set(known)


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def room_of(module: str) -> str:
    """ "checker" for protocol_lab.checker.progress, "errors" for protocol_lab.errors."""
    return module.split(".")[1] if "." in module else ""


def room_graph() -> dict[str, set[str]]:
    """For each room the rooms that it imports. The package's own __init__ is left out."""
    known = modules()
    graph: dict[str, set[str]] = {}
    for module, path in known.items():
        here = room_of(module)
        there = {room_of(each) for each in imported(path, known)}
        graph.setdefault(here, set()).update(there - {here, ""})
    graph.pop("")
    return graph


def reduced(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The arrows that are not implied by a longer path: those that a drawing needs."""

    below: dict[str, set[str]] = {}
    for room in TopologicalSorter(graph).static_order():  # raises CycleError, naming the cycle
        below[room] = graph[room].union(*(below[each] for each in graph[room]))
    return {
        (room, other)
        for room, others in graph.items()
        for other in others
        if not any(other in below[each] for each in others - {other})
    }


def level(package: str) -> int:
    """How far up a top-level package is: what it imports is below it, or it itself."""
    return 1 if package.endswith("_spec") else ("protocol_lab", "", "real_systems").index(package)


def test_packages_depend_one_way():
    """real_systems -> *_spec -> protocol_lab, and no protocol imports another."""
    known = {each: path for package in PACKAGES for each, path in modules(package).items()}
    upward = [
        (module, other)
        for module, path in known.items()
        for other in imported(path, known)
        if (here := module.partition(".")[0]) != (there := other.partition(".")[0])
        and level(there) >= level(here)
    ]
    assert upward == []


def test_modules_of_a_package_depend_one_way():
    """Also where a file imports another for its annotations only."""
    for package in PACKAGES:
        known = modules(package)
        graph = {module: imported(path, known) - {module} for module, path in known.items()}
        for module, path in known.items():
            if path.name == "__init__.py":  # importing a module runs its package's __init__ first
                graph[module] = {each for each in graph[module] if not each.startswith(module)}
        list(TopologicalSorter(graph).static_order())


def test_rooms_depend_one_way_and_the_map_shows_it():
    drawn = set(re.findall(r"^ +(\w+) --> (\w+)$", MAP.read_text(encoding="utf-8"), re.MULTILINE))
    assert drawn == reduced(room_graph())


ROOMS = sorted(
    path.parent
    for package in (KIT, ROOT / "real_systems")
    for path in package.rglob("__init__.py")
    if path.parent != KIT
)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_a_room_lists_its_modules_in_its_docstring(room):
    docstring = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    listed = re.findall(r"^ *(\w+) {2,}\S", docstring, re.MULTILINE)
    there = [path.stem for path in room.glob("*.py") if path.stem != "__init__"]
    there += [path.parent.name for path in room.glob("*/__init__.py")]
    assert sorted(listed) == sorted(there)
    assert len(there) <= MOST_MODULES


def test_module_names_are_unique():
    """One name, one meaning: no two modules of the kit share a base name."""
    names = [path.stem for path in KIT.rglob("*.py") if path.stem not in ("__init__", "__main__")]
    assert sorted({each for each in names if names.count(each) > 1}) == []


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*_spec/*.md")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_files_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    assert [each for each in links if not (document.parent / each).exists()] == []


# --- The files that a verdict rests on, and their length, as docs/decisions.md has them ----------

TEXT = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("\n## ")[0]
TRUSTED = {ROOT / each for each in re.findall(r"`(protocol_lab/[\w/]+\.py)`", TEXT)}

AROUND = {
    *(ROOT / "protocol_lab" / "checker" / each for each in ("request.py", "counterexample.py")),
    *(ROOT / "protocol_lab" / "system" / each for each in ("memory.py", "operating_system.py")),
}
"""What gives the initial states, measures memory, and tells a verdict's trace."""


@pytest.mark.slow
def test_a_plain_search_runs_the_files_that_are_to_be_read_and_no_others():
    model, entered = bind("kafka.kip_966"), set()
    request = SearchRequest([*model.spec.invariants], [*model.spec.step_invariants], max_states=60)

    def note(frame, event, _):
        if event == "call":
            entered.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        result = PythonSearch(model, request).run()
    finally:
        sys.setprofile(None)
    assert result.distinct == 60
    kit = {each for each in entered if each.is_relative_to(ROOT / "protocol_lab")}
    assert kit - AROUND == TRUSTED


def test_these_files_are_as_short_as_it_says():
    lines = sum(len(each.read_text(encoding="utf-8").splitlines()) for each in TRUSTED)
    [most] = re.findall(r"fewer\s+than ([\d,]+)\s+lines", TEXT)
    assert 0 < int(most.replace(",", "")) - lines < 200


# --- What runs without Numba imports without Numba: a page has plain Python and nothing else ------

# These packages are made unimportable in a fresh process, which then imports every spec, steps,
# explains, draws, plays scenarios, answers an exercise and searches on the reference engine.
REFUSED = (
    *("numba", "llvmlite", "numpy", "scipy", "pandas", "pyarrow", "pyspark", "matplotlib"),
    *("psutil", "graphviz", "IPython", "ipykernel", "anywidget", "traitlets", "ipywidgets"),
)

MADE_OF_THEM = {
    "kafka_spec.exercises.the_talk",
    "pulsar_spec.exercises.compaction",  # the exercise is to use pandas
}

WITHOUT_THEM = f"""
import sys
for name in {REFUSED}:
    sys.modules[name] = None  # an import of it fails
import importlib, pkgutil
from protocol_lab.catalog import load, packages, spec_names
for name in spec_names():
    load(name)
for package in packages():
    folder = importlib.import_module(package + ".exercises")
    for each in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
        if each.name not in {MADE_OF_THEM}:
            importlib.import_module(each.name)
"""

IN_USE = """
from protocol_lab.diagrams.comparison import compare_branches
from protocol_lab.diagrams.sequence import sequence_diagram
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.explore import explore
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.teaching.challenges import challenge_named, par
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of

walk = play(read_scenario(scenarios_of("kafka.kip_101")[0]))
assert "<svg" in moment_picture(walk.model, walk.moment) and "<svg" in sequence_diagram(walk)

stepper = PlainStepper(load("kafka.kip_320").bind(replicas=2))
stepper.answer({"command": "take", "step": "controller_elect_leader(new_leader=1)"})
assert not stepper.view["notice"] and len(stepper.walk.path) == 2
assert all(why["reason"] for each in stepper.view["cannot"] for why in each["reasons"])
for tab in stepper.view["tabs"]:
    if tab != "graph":  # Graphviz draws it
        stepper.answer({"command": "open", "tab": tab})
        assert not stepper.view["notice"]
stepper.answer({"command": "open", "tab": "code"})
stepper.answer({"command": "choose", "tla": True})
assert "controller_elect_leader(new_leader) ==" in stepper.view["panel"]["tla"]["text"]

found = explore(load("examples/two_phase_commit.py").bind(), engine="python")
assert found.verdict == "holds" and found.distinct == 288
broken = explore(load("pulsar.compaction").bind(message_sent_limit=1), engine="python")
assert broken.verdict == "violated" and broken.violation_reason
"""


@pytest.mark.slow
def test_all_is_imported_and_a_walk_and_a_search_run_without_numba():
    words = [sys.executable, "-c", WITHOUT_THEM + IN_USE]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
