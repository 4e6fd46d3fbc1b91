"""Exercises on an ISR that the controller writes, and the leader asks for."""

from kafka_spec import async_isr
from kafka_spec.async_isr import Constants, Replica, Request, State, ask_for, write_isr
from protocol_lab import *
from protocol_lab.model.spec import Spec
from protocol_lab.teaching.exercises import *

spec = async_isr.spec

# --- The high watermark ------------------------------------------------------------------------


def high_watermark(s):
    potential = s.leader_state.isr | s.leader_state.pending_isr
    return min(s.leader_state.offsets[replica] for replica in potential)


def with_high_watermark(mine) -> Spec:
    """The spec with another high watermark: where the leader uses it, and in the invariant."""

    def leader_request_expand_isr(s: State, c: Constants, replica: Replica):
        if replica in s.leader_state.isr:
            return "the replica is in the leader's ISR already"
        if s.leader_state.offsets[replica] < mine(s):
            return "the replica has not reached the high watermark"
        ask_for(s, with_node(s.leader_state.isr, replica))
        return TAKEN

    def your_high_watermark(s: State, c: Constants):
        for replica in s.controller_state.isr:
            if s.leader_state.offsets[replica] < mine(s):
                return "a member of the controller's ISR has not reached the high watermark"
        return HOLDS

    changed = with_action(spec, "leader_request_expand_isr", leader_request_expand_isr)
    return with_invariant(changed, your_high_watermark)


@exercise(
    hints=[
        "Who might be in the ISR, for all that the leader knows? It has heard of `isr`, and it has"
        " asked for `pending_isr`.",
        "The union of two sets of replicas is `a | b`, and a loop goes through a set:"
        " `min(... for replica in a)`.",
    ],
    answer=high_watermark,
    why="Whatever the controller answers, the ISR is part of this union: it is one that the leader"
    " knows or has asked for, or it is smaller because the controller removed a member. Kafka calls"
    " it the maximal ISR (`Partition.maximalIsr`).",
)
def write_the_high_watermark(answer) -> Feedback:
    """Write the high watermark.

    Write `high_watermark(s)`: up to which offset is everything committed, as the leader sees it? It
    may look at `s.leader_state`, but not at the controller, which is another machine. The check
    explores the protocol with your function, and then looks whether the high watermark ever passes
    a replica that has left the ISR: if it never does, one slow replica stops everybody.
    """
    changed = with_high_watermark(answer)
    found = run(changed.bind())
    if found.violated:
        return wrong(
            f"After these {len(found.trace)} steps the controller may elect a replica that lacks a"
            " record that you call committed:",
            found,
        )

    def passes_somebody(s: State, c: Constants) -> bool:
        everybody = nodes_up_to(c.replicas)
        return answer(s) > min(s.leader_state.offsets[replica] for replica in everybody)

    try:
        ahead = shortest_path(changed.bind(), passes_somebody)
    except LabError:
        return wrong(
            f"It is valid in all {found.distinct:,} states, but it never passes a replica that has"
            " left the ISR: one slow replica stops everybody."
        )
    return right(
        f"It is valid in all {found.distinct:,} states, and it passes a replica that is out of sync"
        f" after {len(ahead.trace)} steps at the earliest."
    )


# --- The version -------------------------------------------------------------------------------


def controller_handle_request(s: State, c: Constants, message: Request):
    """The controller accepts every request, however old: for this exercise only."""
    write_isr(s, message.isr)
    return TAKEN


careless = with_action(spec, "controller_handle_request", controller_handle_request)
