"""Every door reads and writes the same formats: TLC's, ITF, and our own; a loop stays a loop."""

import json
import re

import itf_py
import pytest

from protocol_lab import TAKEN, Int8, Spec, Struct
from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.diagrams.state_graph import lasso_graph
from protocol_lab.drawing.picture_exports import save_walk
from protocol_lab.errors import LabError
from protocol_lab.interchange.readers import names_no_steps, read_file, read_pasted
from protocol_lab.interchange.tlc_output import parse_output
from protocol_lab.interchange.tlc_traces import read_tlc_trace
from protocol_lab.notebook import replay, save
from protocol_lab.spec.constants import NoConstants
from protocol_lab.traces.itf import to_itf
from protocol_lab.traces.scenarios import Scenario, play
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.interchange.other_tools import MARKS, as_dump, as_itf_trace, as_module, marked

TRACES = ROOT / "tests" / "tlc_traces"
SHAPES = [
    "async_isr_isr_grows",  # a set of nodes in a record
    "finite_replicated_log_diverge",  # a function from 0 on
    "kip_101_weak_isr",  # several records by node
    "ledger_chaining_open_by_position",  # sequences of records, and variables of another shape
    "unclean_leader_election_committed_messages_never_lost",  # nodes that are numbers
]


def text_of(name: str) -> str:
    return (TRACES / f"{name}.txt").read_text(encoding="utf-8")


def states_of(walk: Walk) -> list[bytes]:
    return [moment.row for moment in walk.path]


# --- What logs, terminals and mails add ----------------------------------------------------------


@pytest.mark.parametrize("name", MARKS)
def test_what_logs_add_to_each_line_is_removed(name):
    for trace in ("kip_101_weak_isr", "id_sequence_used_up", "async_isr_type_ok"):
        text = marked(text_of(trace), name)
        assert parse_output(text) == parse_output(text_of(trace))
        assert names_no_steps(text)


def test_the_parts_of_a_long_line_are_joined():
    first, second = "State 1: <Initial predicate>\n/\\ next", "Id = 7\n"
    log = "".join(
        f"2024-05-01T12:00:01Z stderr {'F' if line.endswith(chr(10)) else 'P'} {line.rstrip()}\n"
        for part in (first, second)
        for line in part.splitlines(keepends=True)
    )
    assert parse_output(log).states[0].variables == {"nextId": 7}


# --- TLC's own formats ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_what_tlc_dumps_as_json_is_the_same_walk(name):
    trace, printed = parse_output(text_of(name)), read_tlc_trace(text_of(name))
    dump = as_dump(trace)
    vars_too = {"vars": list(trace.states[0].variables), "counterexample": dump}
    for found in (dump, vars_too):
        assert states_of(read_pasted(json.dumps(found), printed.model)) == states_of(printed)
    only_states = json.dumps([state for _, state in dump["state"][::-1]])
    assert states_of(read_pasted(only_states, printed.model)) == states_of(printed)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_the_module_that_tlc_writes_is_the_same_walk(name):
    trace, printed = parse_output(text_of(name)), read_tlc_trace(text_of(name))
    text = as_module(trace, printed.model.spec.original)
    assert names_no_steps(text)
    assert states_of(read_pasted(text)) == states_of(printed)


# --- ITF -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_trace_of_apalache_is_read_without_the_names_of_actions(name):
    trace, printed = parse_output(text_of(name)), read_tlc_trace(text_of(name))
    walk = read_pasted(json.dumps(as_itf_trace(trace)), printed.model)
    assert states_of(walk) == states_of(printed)
    assert walk.start.caption.startswith("Apalache's state 1")


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
        UP_AND_OVER
        + "@!@!@STARTMSG 2122:4 @!@!@\n2: Back to state: <Over line 9 of module Turning>\n",
        json.dumps(as_dump(parse_output(UP_AND_OVER + BACK))),
        as_module(parse_output(UP_AND_OVER + BACK), "Turning"),
        quints([0, 1, 2, 3], loop=1),
        quints([0, 1, 2, 3, 1], loop=1),
        re.sub('"(up|over)"', '"step"', quints([0, 1, 2, 3], loop=1)),
    ],
    ids=["text", "-tool", "json", "module", "itf", "itf, closed", "itf, of any step"],
)
def test_a_loop_is_a_loop_of_the_walk_and_in_the_picture(text):
    walk = read_pasted(text, turning().bind())
    assert (len(walk.path), walk.loop_from) == (5, 2)
    assert walk.steps[-1].action == "over"
    assert walk.path[-1].going_on.startswith("This is state 2 again")
    assert "over" in lasso_graph(walk)
    again = read_pasted(to_itf(walk), walk.model)
    assert (states_of(again), again.loop_from) == (states_of(walk), 2)


def test_stuttering_is_a_loop_of_one_state():
    for text in (UP_AND_OVER + "State 5: Stuttering\n", quints([0, 1, 2, 3], loop=3)):
        walk = read_pasted(text, turning().bind())
        assert (len(walk.path), walk.loop_from) == (4, 4)


def test_a_loop_that_does_not_close_is_no_walk():
    text = UP_AND_OVER + BACK.replace("state 2", "state 1")
    with pytest.raises(LabError, match="State 5 of the trace: over leads to another one: n is 1,"):
        read_pasted(text, turning().bind())
    with pytest.raises(LabError, match="goes back to state 9, but it has 4 states"):
        read_pasted(UP_AND_OVER + BACK.replace("state 2", "state 9"), turning().bind())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["kip_101_weak_isr", "compaction_leak", "kip_853_nobody_has_voted"]
)
def test_another_reader_of_itf_reads_what_we_write(name):
    walk = read_tlc_trace(text_of(name))
    trace = itf_py.trace_from_json(json.loads(to_itf(walk)))
    assert len(trace.states) == len(walk.path)
    assert all(set(each.values) == set(trace.vars) for each in trace.states)
    found = trace.states[-1].values
    state = walk.state
    for field in trace.vars:
        if isinstance(found[field], int):
            assert found[field] == getattr(state, field)
    again = read_pasted(to_itf(walk))
    assert [(each.row, each.caption) for each in again.path] == [
        (each.row, each.caption) for each in walk.path
    ]


def test_a_changed_state_of_our_own_itf_is_noticed():
    found = json.loads(to_itf(read_tlc_trace(text_of("id_sequence_used_up"))))
    found["states"][2]["next_id"] = {"#bigint": "3"}
    with pytest.raises(LabError, match="State 3 of the JSON is not the one that its steps lead to"):
        read_pasted(json.dumps(found))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"vars": ["n"], "states": [{}]}', "not the trace that it seems to be"),
        ('{"vars": ["n"], "states": []}', "has no states"),
        ('{"vars": [], "states": [{}]}', "some without variables"),
        ('{"state": [[2, {"n": 0}]], "action": []}', "some numbers are missing"),
        ('{"state": [[1, {"n": null}]], "action": []}', "not the trace that it seems to be"),
        ('[{"n": 0}, 3]', "This JSON is not a walk"),
        ('[{"n": 0}, {"n": 1}]', "a trace of a module that is not named"),
        ('{"vars": ["n"], "states": [{"n": 0}], "loop": 7}', "state 8, but it has 1 state"),
        ('{"state": [[1, {"n": 0}]], "action": [[[1, {}], {"name": "a"}, [9, {}]]]}', "state 9"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_damaged_json_is_told_in_one_sentence(text, sentence):
    with pytest.raises(LabError, match=sentence) as raised:
        read_pasted(text)
    assert "\n" not in str(raised.value)


# --- The doors -----------------------------------------------------------------------------------

TRACE = TRACES / "id_sequence_used_up.txt"


@pytest.mark.parametrize("ending", [".txt", ".json", ".itf.json", ".link.txt"])
def test_the_command_line_turns_a_trace_into_any_format_and_reads_it(ending, tmp_path, capsys):
    saved = tmp_path / f"walk{ending}"
    assert main(["replay", str(TRACE), "--spec", "kafka.id_sequence", "--save", str(saved)]) == 0
    assert "next_id" in capsys.readouterr().out
    found = read_file(saved)
    walk = play(found) if isinstance(found, Scenario) else found
    assert states_of(walk) == states_of(read_tlc_trace(TRACE.read_text(encoding="utf-8")))
    assert main(["replay", str(saved)]) == 0


def test_a_trace_of_another_spec_than_was_named_is_refused(tmp_path, capsys):
    assert main(["replay", str(TRACE), "--spec", "kafka.kip_320"]) == 3
    assert "not of kafka.kip_320: it lacks the variables" in capsys.readouterr().err
    scenario = tmp_path / "one.txt"
    scenario.write_text("# spec: kafka.id_sequence\nnext_id()\n", encoding="utf-8")
    assert main(["replay", str(scenario), "--spec", "kafka.kip_320"]) == 3
    assert "is about kafka.id_sequence, not about kafka.kip_320" in capsys.readouterr().err


def test_check_writes_its_trace_in_the_format_of_the_file(tmp_path):
    wanted = tmp_path / "trace.itf.json"
    words = ["--set", "replicas=2", "--invariant", "weak_isr", "--trace", str(wanted)]
    assert main(["check", "kafka.kip_101", *words]) == 1
    assert read_file(wanted).model.spec.name == "kafka.kip_101"


def test_notebooks_read_and_write_the_same_files(tmp_path):
    stepper = replay(str(TRACE))
    assert (stepper.walk.moment.depth, len(stepper.walk.path)) == (1, 5)
    stepper.walk.last()
    saved = save(stepper, str(tmp_path / "walk.itf.json"))
    assert len(replay(str(saved), spec="kafka.id_sequence").walk.path) == 5
    assert save_walk(stepper.walk, tmp_path / "walk.svg").read_bytes().startswith(b"<svg")
    with pytest.raises(LabError, match="can't be written"):
        save(stepper, str(tmp_path / "no folder" / "walk.txt"))
    with pytest.raises(LabError, match="scenario 'nothing'"):
        replay("nothing")


def test_a_file_that_powershell_wrote_is_read(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text(TRACE.read_text(encoding="utf-8"), encoding="utf-16")
    assert len(read_file(path).path) == 5
    assert isinstance(read_file(path, load("kafka.id_sequence").bind()), Walk)
