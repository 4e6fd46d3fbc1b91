"""The benchmarks: what the command writes, and what TLC would be given."""

import re
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import other_checker, tlc
from benchmarks.growth import GROWTHS, Growth
from benchmarks.measurement import Measurement, measure
from benchmarks.plots import draw
from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.spec.constants import show
from tests import ROOT

pytestmark = pytest.mark.slow  # measures whole searches

SHIPPED = """\
CONSTANTS \\* a comment
    Bookies = {b1, b2, b3, b4}
    Clients = {c1, c2}
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
        assert growth.spec in tlc.ORIGINALS
        assert all(name in show(models[0].constants) for name in growth.changing)


def test_tlc_gets_the_originals_configuration_with_our_values():
    every = show(load("bookkeeper.protocol").bind(bookies=1, write_quorum=1).constants)
    text = tlc.configured(tlc.ORIGINALS["bookkeeper.protocol"], SHIPPED, every)
    assert [line.strip() for line in text.splitlines() if line.strip()] == [
        "CONSTANTS",
        "Bookies = {b1}",
        "Clients = {c1, c2}",
        "WriteQuorum = 1",
        "AckQuorum = 1",
        "Nil = Nil",
        "SPECIFICATION Spec",
    ]


def test_flags_are_written_as_tlc_reads_them():
    every = show(load("pulsar.compaction").bind().constants)
    text = "ModelProducer = FALSE,\nMaxCrashTimes = 3,\n"
    found = tlc.configured(tlc.ORIGINALS["pulsar.compaction"], text, every)
    assert found == "ModelProducer = TRUE\nMaxCrashTimes = 1\n"


def test_a_module_that_is_nowhere_gets_one_sentence(tmp_path):
    every = show(load("kafka.kip_320").bind().constants)
    with pytest.raises(LabError, match=r"Kip320\.tla is nowhere in"):
        tlc.run("kafka.kip_320", every, "tla2tools.jar", tmp_path, 1)


def test_the_model_for_another_checker_has_the_same_states():
    constants = other_checker.QUICK
    known, waiting = {((),) * constants["replicas"]}, [((),) * constants["replicas"]]
    while waiting:
        logs = waiting.pop()
        for _, after in other_checker.steps(logs, constants["log_records"], constants["log_size"]):
            if after not in known:
                known.add(after)
                waiting.append(after)
    assert len(known) == measure(other_checker.SPEC, constants, 1).distinct


def grown(*distinct: int) -> list[Measurement]:
    return [
        Measurement("kafka.id_sequence", {}, "native", "holds", each, each, 9, [0.1], 1, 8, None)
        for each in distinct
    ]


@pytest.mark.slow
def test_the_plot_is_the_same_for_the_same_figures(tmp_path):
    for name in ("a.svg", "b.svg"):
        draw({"Kafka": grown(10, 1_000), "KRaft": grown(20)}, tmp_path / name)
    first, second = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.svg", "b.svg"))
    assert first == second
    assert all(f">{word}<" in first for word in ("Kafka", "KRaft", "distinct states", "seconds"))


SMALL = Growth(
    "Kafka", "kafka.finite_replicated_log", ("replicas",), ({"replicas": 2}, {"replicas": 3})
)
"""A spec that is compiled in a few seconds, from the empty cache as well."""


@pytest.mark.rarely
def test_the_command_writes_a_table_and_a_plot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(bench, "GROWTHS", [SMALL])
    monkeypatch.setattr(bench, "ENGINES_OF", SMALL)
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--output", str(tmp_path)])
    assert bench.main() == 0
    assert "Written: " in capsys.readouterr().out
    table = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert re.search(r"\| `kafka.finite_replicated_log` \| 1 \| `replicas=2` \| 49 \| \d", table)
    assert "reference engine" in table
    assert (tmp_path / "growth.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_tlc_needs_both_words(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--tlc", "a.jar", "--output", str(tmp_path / "no")])
    assert bench.main() == 3
    assert capsys.readouterr().err == "TLC needs both: --tlc JAR and --originals FOLDER.\n"
    assert not (tmp_path / "no").exists()


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"has no constant 'nothing'"):
        measure("kafka.id_sequence", {"nothing": 1}, 1)
