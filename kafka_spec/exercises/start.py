"""The exercises of notebooks/00_start_here: a log on every replica, and nothing else."""

from dataclasses import replace

from kafka_spec import finite_replicated_log
from kafka_spec.draw.choices import LOGS
from kafka_spec.draw.events import log_events
from kafka_spec.draw.logs import describe_logs
from kafka_spec.finite_replicated_log import (
    Constants,
    Log,
    Replica,
    State,
    has_same_record,
    replicate_to,
    truncate_to,
)
from kafka_spec.finite_replicated_log import append as append_to_log
from protocol_lab import *
from protocol_lab.drawing import Card, Cluster, Text, drawing_of
from protocol_lab.explain.wording import letter
from protocol_lab.teaching.exercises import *

spec = finite_replicated_log.spec

# --- What clients wrote ------------------------------------------------------------------------


class Written(Struct):
    """The logs, and for each record whether a client has written it."""

    logs: Per(Replica, Log)
    written: Array(Bool, "log_records")


def describe_written(s, c) -> Cluster:
    """The logs, and what clients know of them."""
    lines = [
        Text(f"{letter(record)} written")
        if is_in_a_log(s, c, record)
        else Text(f"✗ {letter(record)} lost", "bad", bold=True)
        for record in range(1, c.log_records + 1)
        if s.written[record - 1]
    ]
    card = Card("Clients", lines or [Text("have written nothing", "muted")])
    return replace(describe_logs(s, c), cards=[card])


two_logs = Spec(
    "kafka.two_logs",
    Written,
    Constants,
    "The finite replicated log, and beside it what clients wrote.",
    draw=drawing_of(describe_written),
    events=log_events,
    choices=LOGS,
)


@two_logs.init
def init(s: Written, c: Constants):
    """All logs are empty, and no client has written anything."""
    return TAKEN


@two_logs.action
def append(s: Written, c: Constants, replica: Replica, record: Range(1, "log_records")):
    """A client writes a record at the end of one log."""
    reason = append_to_log(s, c, replica, record)
    if reason:
        return reason
    s.written[record - 1] = True
    return TAKEN


two_logs.action(truncate_to)
two_logs.action(replicate_to)


def is_in_a_log(s: Written, c: Constants, record: int) -> bool:
    """Does any log hold this record?"""
    return any(
        s.logs[replica].records[offset] == record
        for replica in range(1, c.replicas + 1)
        for offset in range(s.logs[replica].end_offset)
    )


@two_logs.invariant
def written_records_are_kept(s: Written, c: Constants):
    """Whatever a client wrote, some log holds."""
    for record in range(1, c.log_records + 1):
        if s.written[record - 1] and not is_in_a_log(s, c, record):
            return "a record that a client wrote is in no log any more"
    return HOLDS


# --- How many states -------------------------------------------------------------------------

SIZES = [(1, 1, 1), (2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2), (3, 1, 3)]
"""The (replicas, log_records, log_size) for which a formula is compared with a search."""


def number_of_states(replicas, log_records, log_size):
    one_log = sum(log_records**length for length in range(log_size + 1))
    return one_log**replicas


@exercise(
    hints=[
        "Count the contents that one log can have: how many logs of length 0 are there, of length"
        " 1, of length 2?",
        "The logs don't depend on each other, so the numbers of their contents are multiplied.",
    ],
    answer=number_of_states,
    why="One log of at most two records out of two has 1 + 2 + 4 contents. Every replica has one"
    " of these, whatever the others have, which is the product. The number of states grows"
    " exponentially with the number of replicas: this is why small configurations are explored,"
    " and large ones need a cluster.",
)
def count_the_states(answer) -> Feedback:
    """Find the formula for the number of states.

    Write a function `states(replicas, log_records, log_size)` that returns how many different
    states `finite_replicated_log` has. The check explores six configurations and compares.
    """
    lines = []
    for replicas, log_records, log_size in SIZES:
        sizes = f"replicas={replicas} log_records={log_records} log_size={log_size}"
        model = spec.bind(replicas=replicas, log_records=log_records, log_size=log_size)
        found, formula = run(model).distinct, answer(replicas, log_records, log_size)
        if formula != found:
            return wrong(
                f"With {sizes} the search finds {found:,} states; your formula says {formula}."
            )
        lines.append(f"{found:,} states with {sizes}")
    return right("The searches found " + ", ".join(lines) + ".")


# --- The first invariant ---------------------------------------------------------------------


def logs_agree(s: State, c: Constants):
    for replica in range(1, c.replicas + 1):
        for other in range(1, replica):
            for offset in range(min(s.logs[replica].end_offset, s.logs[other].end_offset)):
                if not has_same_record(s.logs[replica], s.logs[other], offset):
                    return "two logs hold different records at the same offset"
    return HOLDS


@exercise(
    hints=[
        "Only offsets that both logs have count: a shorter log agrees with a longer one.",
        "`has_same_record(log, other, offset)` from the spec compares one offset; two loops choose"
        " the replicas, a third one the offset.",
    ],
    answer=logs_agree,
    why="Kafka calls it divergence if this fails: two replicas hold different records at one"
    " offset. Nothing in this spec prevents it. The variants in the next notebooks add a leader to"
    " prevent it, and the first ones don't succeed.",
)
def logs_agree_where_both_have_records(answer) -> Feedback:
    """Write your first invariant: logs agree.

    Write a function `agree(s, c)` that returns `HOLDS` if no two logs hold different records at
    the same offset, else a sentence. An offset that only one of the logs has does not matter. The
    check looks for a state in which your function and the worked answer don't say the same.
    """
    return same_invariant(spec, answer, logs_agree, replicas=3)
