"""The catalog with modules that can't be loaded: the rest goes on, and each gets one sentence."""

import importlib
import json
import sys

import pytest

from protocol_lab import LabError
from protocol_lab.catalog import load, spec_names
from protocol_lab.cli import main
from protocol_lab.errors import SpecError

GOOD = """
\"\"\"Counts to three.\"\"\"
from protocol_lab import TAKEN, Int8, Spec, Struct


class State(Struct):
    n: Int8


spec = Spec("NAME", State, meaning=__doc__)


@spec.init
def start(s, c):
    return TAKEN


@spec.action
def count(s, c):
    if s.n == 3:
        return "three"
    s.n += 1
    return TAKEN
"""
TWINS = GOOD + GOOD[GOOD.index("@spec.action") :]

BROKEN = {
    "syntax": ("x = 1\ndef f(:\n", "SyntaxError: invalid syntax (trial_spec/syntax.py, line 2)"),
    "imports": (
        "import json\nimport no_such_module\n",
        "ModuleNotFoundError: No module named 'no_such_module' (trial_spec/imports.py, line 2)",
    ),
    "fails": ("\n\nsize = 1 // 0\n", "ZeroDivisionError: integer division or modulo by zero"),
    "leaves": ("raise SystemExit(0)\n", "SystemExit: 0 (trial_spec/leaves.py, line 1)"),
    "twins": (TWINS, "has two functions named 'count', in twins.py at lines 18 and 24: give"),
    "renamed": (
        GOOD.replace("NAME", "trial"),
        "calls its spec 'trial': write Spec('trial.renamed'",
    ),
}


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """A package of the catalog with one module that is right, and a function to add others."""
    folder = tmp_path / "trial_spec"
    folder.mkdir()

    def write(**modules: str) -> None:
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(
                text.replace("NAME", f"trial.{name}"), encoding="utf-8"
            )
        importlib.invalidate_caches()

    write(__init__="", good=GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for name in [each for each in sys.modules if each.split(".")[0] == "trial_spec"]:
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_module_is_told_by_file_and_line(trial, name, capsys):
    text, sentence = BROKEN[name]
    trial(**{name: text})
    with pytest.raises(SpecError) as error:
        load(f"trial.{name}")
    assert sentence in str(error.value)
    assert f"trial_spec/{name}.py" in str(error.value)
    assert "\n" not in str(error.value)
    assert load("trial.good").name == "trial.good"
    assert "trial.good" in spec_names()
    assert main(["specs", "--json"]) == 4
    said, told = capsys.readouterr()
    assert "trial.good" in [each["name"] for each in json.loads(said)["specs"]]
    assert json.loads(said)["broken"] == [str(error.value)]
    assert told == f"{error.value}\n"


def test_a_broken_folder_is_told_by_its_own_file(trial, tmp_path):
    (tmp_path / "trial_spec" / "family").mkdir()
    trial(**{"family/__init__": GOOD.replace("NAME", "trial")})
    sentence = (
        r"^trial_spec/family/__init__\.py calls its spec 'trial': write Spec\('trial\.family'"
    )
    with pytest.raises(SpecError, match=sentence):
        load("trial.family")


def test_a_broken_package_leaves_the_others(trial):
    trial(__init__="1 / 0\n")
    with pytest.raises(SpecError, match=r"^trial_spec/__init__\.py can't be loaded"):
        load("trial.good")
    with pytest.raises(SpecError, match=r"ZeroDivisionError: .*trial_spec/__init__.py, line 1"):
        load("trial.good")
    assert "kafka.kip_320" in spec_names()


@pytest.mark.parametrize(
    "name", ["trial", "trial.", "trial..good", "trial.good.spec", ".good", "trial.none", ""]
)
def test_a_name_that_is_none_is_told_the_known_ones(trial, name):
    trial(broken="def f(:")
    with pytest.raises(LabError, match="There is no spec"):
        load(name)


def test_a_spec_of_a_cell_needs_no_dot_in_its_name(trial):
    scope = {"__name__": "__main__"}
    exec(compile(GOOD.replace("NAME", "two_phase"), "<a cell>", "exec"), scope)
    assert str(scope["spec"].bind()).startswith("two_phase")
