"""The benchmarks: what the command writes, and what TLC would be given."""

import re
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import lines, tlc
from benchmarks.growth import GROWTHS, Growth
from benchmarks.measurement import measure
from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show
from tests import ROOT

pytestmark = pytest.mark.slow  # measures whole searches

SHIPPED = """\
CONSTANTS \\* a comment
    Bookies = {b1, b2, b3, b4}
    WriteQuorum = 3
    AckQuorum = 2,
    Nil = Nil
SYMMETRY Symmetry
VIEW view
SPECIFICATION Spec
"""


def test_every_configuration_is_a_model_and_larger_than_the_one_before():
    for growth in GROWTHS:
        models = [load(growth.spec).bind(**each) for each in growth.configurations]
        assert len({model.constants for model in models}) == len(models)
        assert all(name in show(models[0].constants) for name in growth.changing)


def test_every_search_beside_tlc_has_an_original():
    for spec, constants, _ in tlc.BESIDE:
        every = show(load(spec).bind(**constants).constants)
        assert tlc.configured(tlc.ORIGINALS[spec][1], "", every) == ""


def test_tlc_gets_the_originals_configuration_with_our_values():
    every = show(load("bookkeeper.v4_13").bind(bookies=1, write_quorum=1, ack_quorum=1).constants)
    text = tlc.configured(tlc.ORIGINALS["bookkeeper.v4_13"][1], SHIPPED, every)
    assert [line.strip() for line in text.splitlines() if line.strip()] == [
        "CONSTANTS",
        "Bookies = {b1}",
        "WriteQuorum = 1",
        "AckQuorum = 1",
        "Nil = Nil",
        "SPECIFICATION Spec",
    ]


def test_a_module_that_is_nowhere_gets_one_sentence(tmp_path):
    every = show(load("kafka.kip_320").bind().constants)
    with pytest.raises(LabError, match=r"Kip320\.tla is nowhere in"):
        tlc.run("kafka.kip_320", every, "tla2tools.jar", tmp_path)


SMALL = Growth("kafka.finite_replicated_log", ("replicas",), ({"replicas": 2}, {"replicas": 3}))
"""A spec that is compiled in a few seconds, from the empty cache as well."""


@pytest.mark.rarely
def test_the_command_writes_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "GROWTHS", [SMALL])
    monkeypatch.setattr(bench, "ENGINES_OF", SMALL)
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--output", str(tmp_path)])
    assert bench.main() == 0
    assert "Written: " in capsys.readouterr().out
    table = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert re.search(r"\| `kafka.finite_replicated_log` \| 1 \| `replicas=2` \| 49 \| \d", table)
    assert "reference engine" in table


def test_tlc_needs_both_words(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--tlc", "a.jar", "--output", str(tmp_path / "no")])
    assert bench.main() == 3
    assert capsys.readouterr().err == "TLC needs both: --tlc JAR and --originals FOLDER.\n"
    assert not (tmp_path / "no").exists()


def test_a_process_that_fails_says_why():
    with pytest.raises(LabError, match=r"has no constant 'nothing'"):
        measure("kafka.id_sequence", {"nothing": 1}, 1)


def test_lines_are_counted_by_room():
    found = lines.counted("HEAD")
    own = len((ROOT / "protocol_lab" / "errors.py").read_text(encoding="utf-8").splitlines())
    assert found["protocol_lab"] > own
    assert found["protocol_lab/compiler"] + found["tests"] < found.total()
