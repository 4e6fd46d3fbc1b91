"""The mutants of the protocols: how they are made, and that the tests notice them."""

import ast
import linecache
import subprocess
import sys

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.compiler import building
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.semantics.step_text import find_step
from protocol_lab.semantics.transitions import initial
from tests.end_to_end import mutant_killing
from tests.end_to_end.mutant_killing import ROOT, Kept
from tests.end_to_end.mutants import chosen, equivalent_mutants, main
from tests.end_to_end.mutations import forget_variants, mutants_of, reached_functions, sources
from tests.seldom import one_in

pytestmark = pytest.mark.slow  # each outcome is of a process

CORES = {
    "pulsar": "pulsar.compaction",
    "kafka": "kafka.kip_320",
    "kraft": "kraft.kip_853",
    "bookkeeper": "bookkeeper.protocol",
}
SAMPLED = 6
"""How many mutants of KIP-320 are tried in the tests; `lab.py mutants` tries them all."""


@pytest.fixture(scope="module")
def mutants():
    """The mutants of each core, by the package."""
    return {package: mutants_of(name) for package, name in CORES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("package", one_in(4, CORES))
def test_names_are_unique_and_every_edit_is_a_program(mutants, package):
    names = [each.name for each in mutants[package]]
    assert len(set(names)) == len(names) > 100
    kinds = {each.kind for each in mutants[package]}
    assert kinds == {"drop guard", "drop operand", "negate", "off by one", "drop effect"}
    for each in mutants[package][::25]:
        ast.parse(each.text)
        assert each.old != each.new


def test_what_is_reached_is_the_protocol_and_not_its_picture():
    reached = reached_functions("kafka.kip_320")
    names = {each.__name__ for each in reached}
    # A guard, an effect, and a helper of another module.
    assert {"is_news", "adopt", "write_next"} <= names
    assert not any(".draw" in each.__module__ for each in reached)


def test_a_mutant_changes_what_its_function_does():
    [mutant] = chosen("kafka.id_sequence", None, 1, "next_id: drop effect")
    assert mutant.difference.endswith(": drop effect: s.next_id += 1  ->  pass")
    function, kept = mutant.loaded, mutant.loaded.__code__
    model = load("kafka.id_sequence").bind()
    [start] = initial(model)
    assert find_step(model, start.row, "next_id(id=0)").row != start.row
    try:
        mutant.apply()
        assert find_step(model, start.row, "next_id(id=0)").row == start.row
    finally:
        function.__code__ = kept
        forget_variants(function)
        linecache.clearcache()


def test_machine_code_of_a_mutant_is_not_kept(monkeypatch, tmp_path):
    [mutant] = chosen("kafka.id_sequence", None, 1, "next_id: drop effect")
    function, code = mutant.loaded, mutant.loaded.__code__
    explore(load("kafka.id_sequence").bind(), progress=False)  # the loops are loaded by now
    known = set(building.loaded)
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    try:
        mutant.apply()
        explore(load("kafka.id_sequence").bind(), progress=False)
        assert list((tmp_path / "kernels").iterdir())
        mutant_killing._forget_compiled(known)
        assert not list((tmp_path / "kernels").iterdir())
    finally:
        function.__code__ = code
        forget_variants(function)
        linecache.clearcache()


def test_a_sample_is_the_same_every_time():
    first, again = (chosen("kafka.kip_320", 5, 7, "") for _ in range(2))
    assert [each.name for each in first] == [each.name for each in again]
    assert len(first) == 5


@pytest.mark.slow
@pytest.mark.parametrize("package", CORES)
def test_equivalent_mutants_still_exist(package):
    """Who edits such a place looks at the reason again."""
    own = [name for name in spec_names() if name.startswith(f"{package}.")]
    every = [each for name in own for each in mutants_of(name)]
    found = {each.name for each in every} | {each.edit_anywhere for each in every}
    explained = equivalent_mutants(package)
    assert set(explained) <= found
    assert all(reason.endswith(".") for reason in explained.values())


def test_outcomes_are_kept_as_long_as_they_are_true(monkeypatch, tmp_path, mutants):
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    killed, survived = mutants["pulsar"][:2]
    kept = Kept("pulsar", "these specs", "these tests")
    kept.add(killed, {"outcome": "killed", "by": "a test", "why": "it differs", "seconds": 1.5})
    kept.add(survived, {"outcome": "survived", "by": "", "why": ""})
    with kept.path.open("a", encoding="utf-8") as file:
        file.write('{"mutant": "a line that was cut o')
    assert set(kept.read()) == {killed.name, survived.name}
    assert set(Kept("pulsar", "these specs", "other tests").read()) == {killed.name}
    assert Kept("pulsar", "other specs", "these tests").read() == {}


@pytest.mark.parametrize("package", CORES)
def test_outcomes_depend_on_every_file_with_a_mutant(mutants, package):
    assert {each.path for each in mutants[package]} <= set(sources(package))


@pytest.mark.rarely
def test_a_sample_of_mutants_is_noticed():
    """In a process of its own, since the tests are run on copies of a process without threads."""
    words = [CORES["kafka"], "--sample", str(SAMPLED), "--seed", "13", "--budget", "300"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.mutants", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f" {SAMPLED} tried, " in done.stdout
    assert " 0 unexplained" in done.stdout


@pytest.mark.rarely
def test_tests_that_cannot_be_collected_are_said_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(mutant_killing, "test_files", lambda package: [str(tmp_path / "none.py")])
    with pytest.raises(LabError, match="could not collect the tests of pulsar"):
        mutant_killing.with_tests("pulsar", lambda items: None)


def test_a_wrong_name_is_told_in_one_sentence(capsys):
    assert main(["kafka.kip_3200"]) == 3
    assert "did you mean kafka.kip_320" in capsys.readouterr().err
