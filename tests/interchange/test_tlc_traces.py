"""TLC's printed counterexamples become walks, and what does not fit is refused in a sentence."""

import re
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import TAKEN, Int8, Limits, Spec, Struct
from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import LabError
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.interchange.tlc_output import parse_output
from protocol_lab.interchange.tlc_traces import read_tlc_trace
from protocol_lab.interchange.tlc_values import same_name
from protocol_lab.spec.constants import NoConstants, show
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.golden_table import SPECS, golden_rows
from tests.seldom import one_in

TRACES = ROOT / "tests" / "tlc_traces"
KIP_101 = (TRACES / "kip_101_weak_isr.txt").read_text(encoding="utf-8")
IDS = (TRACES / "id_sequence_used_up.txt").read_text(encoding="utf-8")
LOG_TRACE = (TRACES / "finite_replicated_log_diverge.txt").read_text(encoding="utf-8")


class Count(Struct):
    n: Int8


def along(walk: Walk) -> list[tuple[bytes, str]]:
    """What has to survive: the states and the captions so far."""
    return [(moment.row, moment.caption) for moment in walk.moment.path()]


@cache
def printed(path: Path) -> Walk:
    """The walk of a file with a trace, read once; no test takes a step of it."""
    return read_tlc_trace(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", one_in(3, sorted(TRACES.glob("*.txt"))), ids=lambda path: path.stem
)
def test_what_tlc_printed_becomes_a_walk(path):
    text, walk = path.read_text(encoding="utf-8"), printed(path)
    assert path.stem.startswith(walk.model.spec.name.partition(".")[2])
    assert walk.moment.depth == len(re.findall(r"^(?:State )?\d+: <", text, re.M)) or 1
    assert [moment.caption.split(":")[0] for moment in walk.path] == [
        f"TLC's state {number}" for number in range(1, walk.moment.depth + 1)
    ]
    broken = re.search(r"Invariant (\w+) is violated", text).group(1)
    assert walk.moment.caption.endswith(f"Here TLC says: Invariant {broken} is violated.")
    for each in walk.standings():
        if same_name(each.name, broken):
            assert not each.holds


def test_a_trace_of_a_spec_of_ones_own_without_docstrings():
    spec = Spec("counting", Count, NoConstants, original="Counting")

    @spec.init
    def init(s, c):
        return TAKEN

    @spec.action
    def up(s, c):
        s.n += 1
        return TAKEN

    walk = read_pasted(
        "Error: Invariant Low is violated.\n"
        "Error: The behavior up to this point is:\n"
        "State 1: <Initial predicate>\n/\\ n = 0\n\n"
        "State 2: <Up line 5, col 3 to line 6, col 10 of module Counting>\n/\\ n = 1\n",
        spec.bind(),
    )
    assert [moment.caption for moment in walk.path] == [
        "TLC's state 1.",
        "TLC's state 2. Here TLC says: Invariant Low is violated.",
    ]


@pytest.mark.rarely
@pytest.mark.slow
def test_every_original_has_a_trace_and_kafkas_golden_ones_are_as_long():
    walks = [printed(path) for path in sorted(TRACES.glob("*.txt"))]
    known = {walk.model.spec.name for walk in walks}
    assert known >= {name for name in spec_names() if load(name).original}
    lengths = {
        (row.spec_name, row.invariant): row.trace_len
        for row in golden_rows("kafka")
        if row.invariant and not row.complete
    }
    for name, invariant, depth in [
        ("truncate_to_high_watermark", "StrongIsr", 10),
        ("kip_101", "WeakIsr", 12),
        ("kip_279", "WeakIsr", 11),
        ("kip_320_first_try", "WeakIsr", 12),
        ("kip_320", "LeaderInIsr", 1),
        ("unclean_leader_election", "CommittedMessagesNeverLost", 16),
    ]:
        assert (f"kafka.{name}", invariant) in lengths
        of_spec = [walk for walk in walks if walk.model.spec.name == f"kafka.{name}"]
        assert depth in [walk.moment.depth for walk in of_spec]


def test_every_original_is_declared():
    # The records give them other names, and may say how the original was modified.
    modules = {"PulsarCompaction": "compaction"}
    modules |= {name: f"kraft_{name}" for name in ("kip_853", "kip_996")}
    modules["kip_966"] = "kafka_replication_kip_966"
    for record, (name, _) in SPECS.items():
        original = record.partition(":")[0]
        assert load(name).original == modules.get(original, original)


def test_all_three_ways_of_printing_are_one_walk():
    walks = [printed(path) for path in sorted(TRACES.glob("truncate*"))]
    assert len(walks) == 3
    assert along(walks[0]) == along(walks[1]) == along(walks[2])


def test_the_toolboxs_export_is_read():
    trace = parse_output(LOG_TRACE)
    lines = ["00:00:03\t11\t203846", ""]
    for state, value in zip(trace.states, re.findall(r"^logs = (.*\n.*)", LOG_TRACE, re.M)):
        action = f"FiniteReplicatedLog:{state.action}" if state.action else "Initial predicate"
        lines += [f"{state.number}. {action}", "logs\t" + " ".join(value.split())]
    walk = read_tlc_trace("\n".join(lines))
    assert [row for row, _ in along(walk)] == [row for row, _ in along(read_tlc_trace(LOG_TRACE))]


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["> ", "  ", "# ", "| > "])
def test_quoted_text_with_words_around_it_is_read(mark):
    quoted = "\n".join((mark + line).rstrip() for line in KIP_101.splitlines())
    walk = read_tlc_trace(f"Look what TLC found:\n\n{quoted}\n\nWhat do you think?\n")
    assert along(walk) == along(read_tlc_trace(KIP_101))


def test_constants_are_inferred():
    """Sizes from the values; the leader from who may not leave the ISR; bounds from the steps."""
    path = TRACES / "async_isr_isr_grows.txt"
    assert read_tlc_trace(path.read_text(encoding="utf-8")).model.constants.leader == 2
    assert show(read_tlc_trace(LOG_TRACE).model.constants) == {
        "replicas": 2,
        "log_records": 3,
        "log_size": 3,
    }


@pytest.mark.slow
def test_servers_that_never_start_are_told_by_the_links():
    """Three servers run, but TLC has links between four: the fourth may start later."""
    text = (TRACES / "kip_853_nobody_has_voted.txt").read_text(encoding="utf-8")
    walk = read_tlc_trace(text)
    assert walk.model.constants.max_spawned_servers == 4
    same = read_tlc_trace(text, walk.model)
    assert along(same) == along(walk)
    smaller = load("kraft.kip_853").bind(init_cluster_size=3, max_spawned_servers=3)
    with pytest.raises(LabError, match=r"State 1 of the trace .*: net_connectivity is .*, TLC has"):
        read_tlc_trace(text, smaller)


def test_bounds_that_are_too_low_are_raised_but_not_those_of_a_given_model():
    model = load("kafka.kip_101").bind(replicas=2, max_records=0, max_leader_epoch=0)
    constants = read_pasted(KIP_101, model).model.constants
    assert (constants.max_records, constants.max_leader_epoch) == (2, 2)
    with pytest.raises(LabError, match=r"State 3 .* controller_elect_leader can't happen"):
        read_tlc_trace(KIP_101, load("kafka.kip_101").bind(replicas=2, max_leader_epoch=0))


class Sizes(NamedTuple):
    """`low` is tried up to the length of a trace, and may not raise `high` out of its bounds."""

    low: Annotated[int, Limits(1, "most", "at most as many as most")] = 1
    most: Annotated[int, Limits(1, 2, "the most")] = 1
    high: Annotated[int, Limits("low", 3, "at least as many as low")] = 1
    steps: Annotated[int, Limits(0, 9, "steps")] = 0


def test_a_constant_is_guessed_within_the_bounds_of_all():
    spec = Spec("counting", Count, Sizes, "Counts.", original="Counting")

    @spec.init
    def init(s, c):
        return TAKEN

    @spec.action
    def up(s, c):
        """Count one more."""
        if s.n >= c.steps:
            return "no step is left"
        s.n += 1
        return TAKEN

    text = "Error: Invariant Low is violated.\nError: The behavior up to this point is:\n"
    text += "State 1: <Initial predicate>\n/\\ n = 0\n\n"
    for n in range(1, 5):
        text += f"State {n + 1}: <Up line 5, col 3 of module Counting>\n/\\ n = {n}\n\n"
    assert read_pasted(text, spec.bind()).model.constants.steps == 4


def test_the_names_of_nodes_do_not_matter():
    walk = read_tlc_trace(KIP_101)
    renamed = KIP_101.replace("b1", "zoe").replace("b2", '"adam"')
    others = read_tlc_trace(renamed)
    assert [step.action for step in others.steps] == [step.action for step in walk.steps]
    path = TRACES / "unclean_leader_election_committed_messages_never_lost.txt"
    model = load("kafka.unclean_leader_election").bind(unstable_replica=1)
    assert read_tlc_trace(path.read_text(encoding="utf-8"), model).moment.depth == 16


def test_a_permutation_is_found_where_the_alphabet_misleads():
    """In this model replica 2 leads for ever; the names are in the wrong order for that."""
    text = (TRACES / "async_isr_isr_grows.txt").read_text(encoding="utf-8")
    renamed = text.replace("b2", "zulu")
    model = load("kafka.async_isr").bind(leader=2)
    assert read_tlc_trace(renamed, model).moment.depth == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mangle", "sentence"),
    [
        (lambda text: text[: text.index("State 7")] + "State 7: <Becom", "State 7|OK"),
        (lambda text: text[:3000], "State 5 .* cut or damaged: line 56 .* replicaLog"),
        (lambda text: text[text.index("State 3") :], "State 1 of the trace is missing"),
        (lambda text: text.replace("State 5:", "Stat 5:"), "State 5 of the trace is missing"),
        (
            lambda text: text.replace("hw |-> 1", "hw |-> 2"),
            r"State 9 .* leads to another one: replica_state\[1\]\.hw is 1, TLC has 2\.$",
        ),
        (
            lambda text: text.replace("LeaderWrite", "Next").replace("id |-> 0", "id |-> 1"),
            r"State 6 .* nearest step, leader_write, .* replica_log\[1\]\.records\[0\]\.id is 0,",
        ),
        (lambda text: text.replace("nextRecordId = 0", "nextRecordId = 1"), "State 1 .* initial"),
        (lambda text: text[: text.rindex("/\\ replicaState")], "State 12 .* breaks off"),
        (lambda text: text.replace("= 0", "= " + "<<" * 9_999, 1), "State 1 .* cut or damaged"),
        (lambda text: text.replace("= 0", "= " + "9" * 9_999, 1), "State 1 .* cut or damaged"),
        (lambda text: text.replace("= 0", f"= 1..{10**15}", 1), "State 1 .* cut or damaged"),
    ],
)
def test_a_damaged_trace_is_told_in_one_sentence(mangle, sentence):
    text = mangle(KIP_101)
    if sentence.endswith("|OK"):
        assert read_tlc_trace(text).moment.depth == 6
        return
    with pytest.raises(LabError, match=sentence) as raised:
        read_tlc_trace(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (
            lambda: read_tlc_trace(KIP_101, load("kafka.kip_320").bind(replicas=2)),
            "of Kip101, not of kafka.kip_320: .* no action BecomeFollowerTruncateKip101, Fol",
        ),
        (lambda: read_tlc_trace(KIP_101, load("kafka.kip_101").bind()), "has replicas=2, but"),
        (
            lambda: read_tlc_trace(KIP_101, spec_name="kafka.async_isr"),
            "of Kip101, not of kafka.async_isr: it lacks .* controller_state, .* has quorumState, ",
        ),
        (lambda: read_tlc_trace(KIP_101, spec_name="nothing"), "There is no spec 'nothing'"),
        (lambda: read_tlc_trace("State of the art"), "There is no error trace"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\n/\\ "), "State 1 .* breaks off"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\nx = 1..z"), "cut or damaged"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\nx = 1"), "a trace of a module"),
        (
            lambda: read_tlc_trace(without_modules(KIP_101, states=1)),
            "it may be kafka.kip_101, kafka.kip_279, kafka.kip_320",
        ),
    ],
)
def test_the_wrong_spec_is_told_in_one_sentence(read, sentence):
    with pytest.raises(LabError, match=sentence) as raised:
        read()
    assert "\n" not in str(raised.value)


def without_modules(text: str, states: int) -> str:
    """The first states of a trace, without anything that names a module."""
    text = text[text.index("State 1") :].partition(f"State {states + 1}:")[0]
    return text.replace("of module", "in")


def test_a_trace_that_names_no_module_is_known_by_its_actions():
    assert read_tlc_trace(without_modules(KIP_101, states=12)).model.spec.name == "kafka.kip_101"


ANOTHERS = """\
Semantic processing of module Integers
Semantic processing of module Elsewhere
Semantic processing of module TLC
Error: Invariant Inv is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\\ inflightProducers = {}
/\\ counter = 1

State 2: <Step line 5, col 3 to line 9, col 20 of module Elsewhere>
/\\ inflightProducers = {}
/\\ counter = 2
"""
"""A trace of a module that is nobody's original; one variable has the name of one of Kafka's."""


@pytest.mark.parametrize("model", [None, "kafka.unclean_leader_election", "kraft.kip_853"])
def test_a_trace_of_another_module_is_refused_with_what_does_not_fit(model):
    with pytest.raises(LabError) as raised:
        read_pasted(ANOTHERS, model and load(model).bind())
    told = str(raised.value)
    assert told.startswith("This is a trace of Elsewhere, ")
    assert "it lacks the variables " in told
    assert re.search(r"has (inflightProducers and )?counter.*, which the spec does not", told)


def test_a_known_module_with_other_variables_is_not_said_to_be_unknown():
    with pytest.raises(LabError) as raised:
        read_tlc_trace(ANOTHERS.replace("Elsewhere", "UncleanLeaderElectionSafety"))
    assert str(raised.value).startswith(
        "This trace of UncleanLeaderElectionSafety does not fit kafka.unclean_leader_election: it"
        " lacks the variables "
    )


def test_an_alias_adds_variables_but_replaces_none():
    said = read_tlc_trace(
        re.sub(r"^nextId = (\d)$", r"/\\ nextId = \1\n/\\ left = 9", IDS, flags=re.M)
    )
    assert along(said) == along(read_tlc_trace(IDS))
    with pytest.raises(LabError, match="lacks the variable next_id, and has left, which"):
        read_tlc_trace(IDS.replace("nextId = ", "left = "))


def test_a_step_is_one_of_an_action_of_the_spec():
    renamed = IDS.replace("<NextId(2)", "<Sleep")
    with pytest.raises(LabError, match=r"not of kafka.id_sequence: the spec has no action Sleep\."):
        read_tlc_trace(renamed)
    assert read_tlc_trace(IDS.replace("<NextId(2)", "<MCNext")).moment.depth == 5


@pytest.mark.parametrize(
    ("effort", "where"),
    [
        (Effort(tried=30), r"ended at state \d+ of \d+, after 31 tried steps .* constants"),
        (Effort(seconds=0), r"ended at state 1 of \d+, after 1 tried steps"),
        (Effort(rows=0), "ended at state 1 of"),
        (Effort(stopped=lambda: True), "was stopped at state 1 of"),
    ],
)
def test_the_search_for_steps_has_bounds_and_can_be_stopped(effort, where):
    text = (TRACES / "compaction_unseen.txt").read_text(encoding="utf-8")
    with pytest.raises(LabError, match=where):
        read_pasted(text, effort=effort)


def test_of_several_traces_the_first_is_read():
    assert read_tlc_trace(KIP_101 + KIP_101).moment.depth == 12
