"""Exercises on ISR and high watermark: claims to say and to repair."""

from kafka_spec import kip_320
from kafka_spec.actions import are_epochs_used_up, publish
from kafka_spec.model import Constants, Replica, State, presumes_leadership
from kafka_spec.properties import hw_within_log, leader_in_isr_or_none
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = kip_320.spec

# --- The high watermark and the log ----------------------------------------------------------


@exercise(
    hints=[
        "The high watermark is an offset: the first that is not known to be committed. What is the"
        " largest value that a log of two records allows?",
        "Every replica has one, followers too: loop over `range(1, c.replicas + 1)`.",
    ],
    answer=hw_within_log,
    why="If everything in a log is committed the high watermark equals the log's end offset, so"
    " they may be equal. Kafka makes sure of it by capping: `UnifiedLog.updateHighWatermark`.",
)
def high_watermark_within_the_log(answer) -> Feedback:
    """Say it as an invariant: no high watermark is beyond the end of its log.

    Write `within(s, c)`. A replica's high watermark is `s.replica_state[replica].hw`, its log's
    end `s.replica_log[replica].end_offset`. The check compares your function with the worked
    answer in every reachable state, also of a model that raises the high watermark carelessly.
    """
    careless = with_action(spec, "fenced_leader_inc_high_watermark", careless_inc_high_watermark)
    for checked in (spec, careless):
        feedback = same_invariant(checked, answer, hw_within_log, replicas=2)
        if not feedback.passed:
            return feedback
    return feedback


def careless_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """Raises the high watermark of whoever leads, whatever the logs hold: for the check only."""
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if s.replica_state[leader].hw >= c.log_size:
        return "the log can't hold more"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- The leader and the ISR ------------------------------------------------------------------


@exercise(
    hints=[
        "In which state did the invariant fail? Who leads there?",
        "`NONE` stands for nobody (`from protocol_lab import NONE`). Decide what to say about it"
        " before you ask who is in the ISR.",
    ],
    answer=leader_in_isr_or_none,
    why="The claim is about a leader, so it holds where there is none. An invariant that always"
    " holds would pass every run too, and say nothing: so the check also runs a controller with a"
    " bug, and an invariant is worth its name only if it notices.",
)
def repair_leader_in_isr(answer) -> Feedback:
    """Repair `leader_in_isr`.

    Write `leader_is_in_isr(s, c)`, which says what the original must have meant, and holds. The
    check runs it on KIP-320, and on a controller that drops its own leader from the ISR.
    """
    for checked in (spec, with_action(spec, "controller_shrink_isr", careless_shrink_isr)):
        feedback = same_invariant(checked, answer, leader_in_isr_or_none, replicas=2)
        if not feedback.passed:
            return feedback
    return right(f"{feedback.text} That was the broken controller; yours noticed it.")


def careless_shrink_isr(s: State, c: Constants, replica: Replica):
    """A controller that drops its leader from the ISR, and keeps it as leader: for the check."""
    isr = s.quorum_state.isr
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if replica not in isr or isr == only(replica):
        return "the replica is not in the ISR, or is its last member"
    publish(s, s.quorum_state.leader, without_node(isr, replica))
    return TAKEN
