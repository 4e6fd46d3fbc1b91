"""What runs without Numba imports without Numba: a page has plain Python and nothing else.

The packages below are made unimportable in a fresh process, which then imports every spec, steps,
explains, draws, plays scenarios, answers an exercise and searches on the reference engine.
"""

import subprocess
import sys

from tests import ROOT

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


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_specs_and_exercises_are_imported_without_numba():
    run(WITHOUT_THEM)


def test_a_walk_is_stepped_explained_and_drawn_and_a_search_runs_without_numba():
    run(WITHOUT_THEM + IN_USE)
