"""What TLC prints, and ITF become walks; what does not fit is refused in a sentence."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import itf_py
import pytest

from protocol_lab import TAKEN, Int8, LabError, Spec, Struct
from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.readers import read_file, read_pasted
from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
    parse_output,
)
from protocol_lab.interchange.tlc_values import same_name
from protocol_lab.model.constants import NoConstants
from protocol_lab.model.spec import Model
from protocol_lab.notebook import replay
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.text_exports import to_itf
from protocol_lab.traces.walk import Walk
from tests.golden_table import SPECS, TRACES


def as_itf(value: Value) -> object:
    """A value as Apalache writes it."""
    match value:
        case bool():
            return value
        case int():
            return {"#bigint": str(value)}
        case Atom(name):
            return f"{name}_OF_NODE" if re.fullmatch(r"[bc]\d", name) else name
        case Sequence(items):
            return {"#tup": [as_itf(each) for each in items]} if items else []
        case SetOf(items):
            return {"#set": [as_itf(each) for each in items]}
        case Function(pairs) if all(isinstance(key, Atom) for key, _ in pairs):
            if not re.fullmatch(r"[bc]\d", str(pairs[0][0])):
                return {str(key): as_itf(each) for key, each in pairs}
    return {"#map": [[as_itf(key), as_itf(each)] for key, each in value.pairs]}


def as_itf_trace(trace: PrintedTrace) -> dict:
    """A trace as Apalache writes it, which does not name the actions."""
    found = {
        "#meta": {"format": "ITF", "description": "Created by Apalache on Wed May 1"},
        "vars": list(trace.states[0].variables),
        "states": [
            {"#meta": {"index": k}, **{name: as_itf(v) for name, v in each.variables.items()}}
            for k, each in enumerate(trace.states)
        ],
    }
    return found if trace.loop_to is None else {**found, "loop": trace.loop_to - 1}


CONSTANTS: dict[str, dict[str, Any]] = {
    "compaction_duplicate": {"compaction_times_limit": 2, "retain_null_key": True},
    "compaction_leak_all_messages_there": {"model_producer": False, "message_sent_limit": 1},
    "compaction_unseen": {"compaction_times_limit": 2, "retain_null_key": True},
    "finite_replicated_log_diverge": {"log_records": 3, "log_size": 3},
}
"""Constants that TLC had, and that are not our defaults."""


KIP_101, IDS = TRACES["kip_101_weak_isr"], TRACES["id_sequence_used_up"]


def model_of(name: str) -> Model | None:
    """The model that a trace is about, where TLC had other constants than our defaults."""
    if not (constants := CONSTANTS.get(name)):
        return None
    is_kafkas = name.startswith("finite")
    spec = "kafka.finite_replicated_log" if is_kafkas else "pulsar.compaction"
    return load(spec).bind(**constants)


@cache
def walk_of(name: str) -> Walk:
    """The walk of a file with a trace, read once; no test takes a step of it."""
    return read_pasted(TRACES[name], model_of(name))


def along(walk: Walk) -> list[tuple[bytes, str]]:
    return [(moment.row, str(moment.step)) for moment in walk.moment.path()]


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACES)
def test_what_a_tool_wrote_becomes_a_walk(name):
    """TLC's text, and ITF without the names of actions."""
    text, walk = TRACES[name], walk_of(name)
    assert name.startswith(walk.model.spec.name.partition(".")[2])
    assert walk.moment.depth == len(re.findall(r"^(?:State )?\d+: <", text, re.M)) or 1
    assert walk.start.caption.startswith("TLC's state 1")
    broken = re.search(r"Invariant (\w+) is violated", text).group(1)
    assert walk.moment.caption.endswith(f"Here TLC says: Invariant {broken} is violated.")
    assert not any(each.holds for each in walk.standings() if same_name(each.name, broken))
    trace = parse_output(text)
    found = read_pasted(json.dumps(as_itf_trace(trace)), walk.model)
    assert [row for row, _ in along(found)] == [row for row, _ in along(walk)]
    assert found.start.caption.startswith("Apalache's state 1")


def test_every_original_is_declared():
    # The records give them other names, and may say how the original was modified.
    modules = {"PulsarCompaction": "compaction", "kip_966": "kafka_replication_kip_966"}
    modules |= {name: f"kraft_{name}" for name in ("kip_853", "kip_996")}
    for record, (name, _) in SPECS.items():
        original = record.partition(":")[0]
        assert load(name).original == modules.get(original, original)


# --- Loops ---------------------------------------------------------------------------------------


class Turn(Struct):
    n: Int8
    rounds: Int8


def turning() -> Spec:
    spec = Spec("toy.turning", Turn, NoConstants, original="Turning")

    @spec.init
    def init(s: Turn, c):
        return TAKEN

    @spec.action
    def up(s: Turn, c):
        if s.n == 3:
            return "it is at the top"
        s.n += 1
        return TAKEN

    @spec.action
    def over(s: Turn, c):
        if s.n != 3:
            return "it is not at the top"
        s.n = 1
        return TAKEN

    return spec


UP_AND_OVER = (
    "Error: Temporal properties were violated.\n"
    "Error: The following behavior constitutes a counter-example:\n\n"
    + "".join(
        f"State {k + 1}: <{what}>\n/\\ n = {k}\n/\\ rounds = 0\n\n"
        for k, what in enumerate(["Initial predicate", *["Up line 1 of module Turning"] * 3])
    )
)
BACK = "Back to state 2: <Over line 9, col 3 to line 9, col 20 of module Turning>\n"


def quints(states: list[int], loop: int) -> str:
    """A trace of Quint, which names the actions in a variable."""
    return json.dumps(
        {
            "#meta": {"format": "ITF", "source": "turn.qnt", "description": "Created by Quint"},
            "vars": ["turn::n", "rounds", "mbt::actionTaken"],
            "states": [
                {
                    "#meta": {"index": k},
                    "turn::n": {"#bigint": str(n)},
                    "rounds": 0,
                    "mbt::actionTaken": "up" if n == k else "over",
                }
                for k, n in enumerate(states)
            ],
            "loop": loop,
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        UP_AND_OVER + BACK,
        UP_AND_OVER + "@!@!@STARTMSG 2122:4 @!@!@\n2: Back to state: <Over of module Turning>\n",
        quints([0, 1, 2, 3], loop=1),
        quints([0, 1, 2, 3, 1], loop=1),
        re.sub('"(up|over)"', '"step"', quints([0, 1, 2, 3], loop=1)),
    ],
    ids=["text", "-tool", "itf", "itf, closed", "itf, of any step"],
)
def test_a_loop_is_a_loop_of_the_walk(text):
    walk = read_pasted(text, turning().bind())
    assert (len(walk.path), walk.loop_from) == (5, 2)
    assert walk.steps[-1].action == "over"
    again = read_pasted(to_itf(walk), walk.model)
    assert (along(again), again.loop_from) == (along(walk), 2)


# --- What does not fit -------------------------------------------------------------------------

REFUSED = {
    "a changed value": (
        KIP_101.replace("LeaderWrite", "Next").replace("id |-> 0", "id |-> 1"),
        r"State 6 .* nearest step, leader_write, .* replica_log\[1\]\.records\[0\]\.id is 0,",
    ),
    "another beginning": (KIP_101.replace("nextRecordId = 0", "nextRecordId = 1"), "other const"),
    "a missing state": (KIP_101.replace("State 3:", "State 4:"), "State 3 of the trace is missing"),
    "a cut state": (
        KIP_101[: KIP_101.rindex("/\\ replicaState")],
        "state 12 lacks .*replica_state",
    ),
    "a cut value": (KIP_101[: KIP_101.rindex("]")], "State 12 of the trace is cut or damaged"),
    "another variable": (IDS.replace("nextId = ", "left = "), "state 1 lacks next_id"),
    "another action": (IDS.replace("<NextId(2)", "<Sleep"), "has no action Sleep"),
    "another module": (
        "State 1: <Initial predicate>\nx = 1\nState 2: <A of module Elsewhere>\nx = 2\n",
        "trace of Elsewhere does not say which spec",
    ),
    "no trace": ("State of the art", "This can't be played"),
    "a loop that does not close": (
        UP_AND_OVER + BACK.replace("state 2", "state 1"),
        "State 5 of the trace: over leads to another one: n is 1,",
    ),
    "a loop from nowhere": (
        UP_AND_OVER + BACK.replace("state 2", "state 9"),
        "goes back to state 9, but it has 4 states",
    ),
    "an empty state": ('{"vars": ["n"], "states": [{}]}', "not the trace that it seems to be"),
    "no states": ('{"vars": ["n"], "states": []}', "has no states"),
    "no value": ('{"vars": ["n"], "states": [{"n": null}]}', "not the trace that it seems to be"),
    "another JSON": ('[{"n": 0}, 3]', "This can't be played"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence(kind):
    text, sentence = REFUSED[kind]
    model = turning().bind() if "loop" in kind else None
    with pytest.raises(LabError, match=sentence) as raised:
        read_pasted(text, model)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("effort", "where"),
    [
        (Effort(tried=30), r"ended at state \d+ of \d+, after 31 tried steps .* named"),
        (Effort(seconds=0), r"ended at state 1 of \d+, after 1 tried steps"),
        (Effort(rows=0), "ended at state 1 of"),
        (Effort(stopped=lambda: True), "was stopped at state 1 of"),
    ],
)
def test_the_search_for_steps_has_bounds_and_can_be_stopped(effort, where):
    with pytest.raises(LabError, match=where):
        read_pasted(KIP_101, effort=effort)


# --- The doors -----------------------------------------------------------------------------------


@pytest.fixture
def trace(tmp_path) -> str:
    """A file with what TLC printed."""
    file = tmp_path / "printed.txt"
    file.write_text(IDS, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("ending", [".txt", ".json", ".link.txt"])
def test_the_command_line_turns_a_trace_into_any_format_and_reads_it(
    ending, trace, tmp_path, capsys
):
    saved = tmp_path / f"walk{ending}"
    assert main(["replay", trace, "--spec", "kafka.id_sequence", "--save", str(saved)]) == 0
    assert "next_id" in capsys.readouterr().out
    found = read_file(saved)
    walk = play(found) if isinstance(found, Scenario) else found
    assert along(walk) == along(walk_of("id_sequence_used_up"))
    assert main(["replay", str(saved)]) == 0


def test_the_command_line_takes_the_constants_that_tlc_had(tmp_path, capsys):
    file = str(tmp_path / "printed.txt")
    Path(file).write_text(TRACES["compaction_duplicate"], encoding="utf-8")
    words = ["replay", file, "--spec", "pulsar.compaction"]
    assert main(words) == 3
    constants = CONSTANTS["compaction_duplicate"].items()
    sets = [word for name, value in constants for word in ("--set", f"{name}={value}")]
    assert main([*words, *sets]) == 0
    capsys.readouterr()
    assert main(["replay", file, *sets]) == 3
    assert capsys.readouterr().err.startswith("--set needs --spec NAME")


def test_a_trace_of_another_spec_than_was_named_is_refused(trace, tmp_path, capsys):
    assert main(["replay", trace, "--spec", "kafka.kip_320"]) == 3
    assert "does not fit kafka.kip_320: state 1 lacks" in capsys.readouterr().err
    scenario = tmp_path / "one.txt"
    scenario.write_text("# spec: kafka.id_sequence\nnext_id()\n", encoding="utf-8")
    assert main(["replay", str(scenario), "--spec", "kafka.kip_320"]) == 3
    assert "is about kafka.id_sequence, not about kafka.kip_320" in capsys.readouterr().err


def test_notebooks_read_the_same_files(trace, tmp_path):
    stepper = replay(trace)
    assert (stepper.walk.moment.depth, len(stepper.walk.path)) == (1, 5)
    stepper.walk.last()
    saved = tmp_path / "walk.itf.json"
    saved.write_text(to_itf(stepper.walk), encoding="utf-8")
    assert len(replay(str(saved), spec="kafka.id_sequence").walk.path) == 5
    with pytest.raises(LabError, match="scenario 'nothing'"):
        replay("nothing")


@pytest.mark.parametrize("data", [b"", b"\0" * 99, b"\x89PNG\r\n\x1a\n", "é".encode()[:1]])
def test_a_file_that_is_no_text_is_told_in_one_sentence(data, tmp_path, capsys):
    path = Path(tmp_path / "trace.txt")
    path.write_bytes(data)
    assert main(["replay", str(path)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_that_powershell_wrote_is_read(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text(IDS, encoding="utf-16")
    assert len(read_file(path).path) == 5


def test_another_reader_of_itf_reads_what_we_write():
    walk = walk_of("kip_101_weak_isr")
    trace = itf_py.trace_from_json(json.loads(to_itf(walk)))
    assert len(trace.states) == len(walk.path)
    assert all(set(each.values) == set(trace.vars) for each in trace.states)
    assert along(read_pasted(to_itf(walk))) == along(walk)


def test_of_several_traces_the_first_is_read():
    assert len(parse_output(KIP_101 + KIP_101).states) == 12


@pytest.mark.parametrize(
    ("option", "name", "known"),
    [
        ("--save", "walk.pptx", ".txt, .link.txt, .json, .mmd, .svg"),
        ("--save", "walk.html", ".txt, "),
        ("--draw", "walk.gif", "--draw writes .svg"),
    ],
)
def test_an_ending_that_nothing_has_is_refused(trace, tmp_path, capsys, option, name, known):
    path = tmp_path / name
    assert main(["replay", trace, option, str(path)]) == 3
    assert known in capsys.readouterr().err
    assert not path.exists()


def test_a_trace_with_an_ending_that_nothing_has_is_refused_before_the_search(tmp_path, capsys):
    assert main(["check", "kafka.id_sequence", "--trace", str(tmp_path / "trace.html")]) == 3
    assert "nothing is written with the ending .html" in capsys.readouterr().err
