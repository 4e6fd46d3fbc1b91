"""Two-phase commit, as Jim Gray and Leslie Lamport specify it in "Consensus on Transaction Commit".

What it models: a transaction manager (TM) and its resource managers (RMs). An RM prepares by
itself and says so; the TM commits once all have prepared, or aborts at any time before. Messages
are a set that only grows, so that each may be received late, again, or never.

What breaks: nothing; no RM commits while another one aborts. What two-phase commit is known for,
that it blocks if the TM fails, is about liveness and left out here, as in the original.

Source: TwoPhase.tla in specifications/transaction_commit of github.com/tlaplus/Examples. Its
manifest has for 3 resource managers 288 distinct states, 1,146 states generated and depth 11; the
test of examples/2pc.rs in github.com/stateright/stateright has 288 for 3 and 8,832 for 5.

    python3 lab.py check examples/two_phase_commit.py
    python3 lab.py check examples/two_phase_commit.py --set rms=5
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    rms: Annotated[int, Limits(1, 7, "resource managers")] = 3


RM = Node("rms", noun="resource manager")


class Message(Struct):
    kind: Named("prepared", "commit", "abort")
    rm: RM  # the sender; NONE in the TM's messages, which go to all


class State(Struct):
    rm_state: Per(RM, Named("working", "prepared", "committed", "aborted"))
    tm_state: Named("init", "committed", "aborted")
    tm_prepared: NodeSet(RM)
    msgs: Bag(Message, "rms + 2")


spec = Spec("two_phase_commit", State, Constants, __doc__)
spec.symmetric(RM)


@spec.init
def tp_init(s: State, c: Constants):
    """Everybody works, and nothing was sent."""
    return TAKEN


@spec.action
def tm_commit(s: State, c: Constants):
    """The TM commits the transaction: all have prepared."""
    if s.tm_state != "init":
        return "the TM has decided already"
    if s.tm_prepared != nodes_up_to(c.rms):
        return "the TM has not heard from every resource manager"
    s.tm_state = "committed"
    add_once(s.msgs, Message(kind="commit"))
    return TAKEN


@spec.action
def tm_abort(s: State, c: Constants):
    """The TM aborts the transaction, for whatever reason."""
    if s.tm_state != "init":
        return "the TM has decided already"
    s.tm_state = "aborted"
    add_once(s.msgs, Message(kind="abort"))
    return TAKEN


@spec.action
def tm_rcv_prepared(s: State, c: Constants, rm: RM):
    """The TM receives that a resource manager has prepared."""
    if s.tm_state != "init":
        return "the TM has decided already"
    if Message(kind="prepared", rm=rm) not in s.msgs:
        return "the resource manager has not said that it has prepared"
    s.tm_prepared = with_node(s.tm_prepared, rm)
    return TAKEN


@spec.action
def rm_prepare(s: State, c: Constants, rm: RM):
    """A resource manager prepares: from here on it does as the TM says."""
    if s.rm_state[rm] != "working":
        return "the resource manager works no more"
    s.rm_state[rm] = "prepared"
    add_once(s.msgs, Message(kind="prepared", rm=rm))
    return TAKEN


@spec.action
def rm_choose_to_abort(s: State, c: Constants, rm: RM):
    """A resource manager that has not prepared aborts by itself."""
    if s.rm_state[rm] != "working":
        return "the resource manager works no more"
    s.rm_state[rm] = "aborted"
    return TAKEN


@spec.action
def rm_rcv_commit_msg(s: State, c: Constants, rm: RM):
    """A resource manager receives the decision to commit."""
    if Message(kind="commit") not in s.msgs:
        return "the TM has not committed"
    s.rm_state[rm] = "committed"
    return TAKEN


@spec.action
def rm_rcv_abort_msg(s: State, c: Constants, rm: RM):
    """A resource manager receives the decision to abort."""
    if Message(kind="abort") not in s.msgs:
        return "the TM has not aborted"
    s.rm_state[rm] = "aborted"
    return TAKEN


@spec.invariant
def tc_consistent(s: State, c: Constants):
    """No resource manager has committed while another one has aborted."""
    for one in range(1, c.rms + 1):
        for other in range(1, c.rms + 1):
            if s.rm_state[one] == "committed" and s.rm_state[other] == "aborted":
                return "one resource manager has committed, and another one has aborted"
    return HOLDS


@spec.situation(expected=True)
def commit_agreement(s: State, c: Constants):
    """All have committed."""
    return all(s.rm_state[rm] == "committed" for rm in range(1, c.rms + 1))


@spec.situation(expected=True)
def abort_agreement(s: State, c: Constants):
    """All have aborted."""
    return all(s.rm_state[rm] == "aborted" for rm in range(1, c.rms + 1))
