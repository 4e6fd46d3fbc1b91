"""EWD 998: Shmuel Safra's termination detection on a ring, with messages that are not received at
once.

What it models: nodes that are active or not. An active node sends messages, and may become
inactive; a message makes its receiver active. When all nodes are inactive and no message is under
way, the computation has terminated, which nobody sees. So node 1 sends a token round the ring. It
adds up how many more messages were sent than received, and becomes black where a node has received
a message since it last passed.

What breaks: nothing. Termination is detected only if it has happened (termination_detection), and
once it has it is eventually detected (liveness), provided that the token is passed on: without
fairness, or if only the other actions are fair, the token may stay where it is forever.

The nodes are 1 to n and stand for the original's 0 to N-1. The token begins at node 1, as in both
originals until EWD998.tla let it begin at any node. Fairness is the original's WF_vars(System): of
InitiateProbe or PassToken.

Source: EWD998.tla and EWD998PCal.tla in specifications/ewd998 of github.com/tlaplus/Examples, by
Markus Kuppe and Stephan Merz. The manifest has counts of EWD998PCal: for 3 nodes 321,370 distinct
states, 2,808,396 states generated and depth 47. With `pluscal` this module has the same counts:
nodes begin black, an inactive node may "become" inactive, a new probe also follows a sum below 0,
and only counters are bounded. The end of EWD998.tla has its counts for 3 nodes: depth 60, 1.3
million distinct states, 10.1 million generated.

    python3 lab.py check examples/ewd998.py --set pluscal=true
    python3 lab.py check examples/ewd998.py --set nodes=2 --property liveness
    python3 lab.py check examples/ewd998.py --set nodes=2 --property liveness --fairness none
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    nodes: Annotated[int, Limits(1, 5, "nodes on the ring")] = 3
    max_counter: Annotated[int, Limits(0, 9, "bound on each node's counter")] = 3
    max_pending: Annotated[int, Limits(0, 9, "bound on the messages under way to a node")] = 3
    max_q: Annotated[int, Limits(0, 99, "bound on the sum that the token carries")] = 9
    pluscal: Annotated[int, flag("as in EWD998PCal; it bounds counters by 2, and nothing else")] = 0


Process = Node("nodes", noun="node")
Color = Named("white", "black")
INITIATOR = 1


class Token(Struct):
    pos: Process
    q: Int8
    color: Color


class State(Struct):
    active: Per(Process, Bool)
    color: Per(Process, Color)
    counter: Per(Process, Int8)  # messages sent minus messages received
    pending: Per(Process, Int8)  # messages under way to this node
    token: Token


spec = Spec("ewd998", State, Constants, __doc__)


@spec.init
def init(s: State, c: Constants, active: Subset(Process), black: Subset(Process)):
    """Any nodes are active, and of any colour; the token is black."""
    if c.pluscal and black != 2 ** (c.nodes + 1) - 2:
        return "all nodes begin black"
    for i in range(1, c.nodes + 1):
        s.active[i] = i in active
        s.color[i] = "black" if i in black else "white"
    s.token.color = "black"
    s.token.pos = INITIATOR
    return TAKEN


def reasons_to_probe(s: State, c: Constants) -> int:
    """The multiplicity: how many of the original's disjuncts are true."""
    total = s.counter[INITIATOR] + s.token.q
    count = 0
    if s.token.color == "black":
        count += 1
    if s.color[INITIATOR] == "black":
        count += 1
    if total > 0 or (total < 0 and c.pluscal):
        count += 1
    return count


@spec.action(multiplicity=reasons_to_probe)
def initiate_probe(s: State, c: Constants):
    """Node 1 has the token, learns nothing from it, and sends a new one round."""
    if s.token.pos != INITIATOR:
        return "the token is not at node 1"
    if reasons_to_probe(s, c) == 0:
        return "the last round was conclusive"
    s.token.pos = c.nodes
    s.token.q = 0
    s.token.color = "white"
    s.color[INITIATOR] = "white"
    return TAKEN


@spec.action
def pass_token(s: State, c: Constants, i: Process):
    """An inactive node adds its counter, blackens the token if it is black, and becomes white."""
    if i == INITIATOR:
        return "node 1 begins a new round instead"
    if s.token.pos != i:
        return "the token is elsewhere"
    if s.active[i]:
        return "an active node keeps the token"
    s.token.pos = i - 1
    s.token.q += s.counter[i]
    if s.color[i] == "black":
        s.token.color = "black"
    s.color[i] = "white"
    return TAKEN


@spec.action
def send_msg(s: State, c: Constants, i: Process, j: Process):
    """An active node sends a message to another one."""
    if i == j:
        return "a node sends nothing to itself"
    if not s.active[i]:
        return "the node is inactive"
    s.counter[i] += 1
    s.pending[j] += 1
    return TAKEN


@spec.action
def recv_msg(s: State, c: Constants, i: Process):
    """A node receives a message, which makes it active and black."""
    if s.pending[i] == 0:
        return "no message is under way to this node"
    s.pending[i] -= 1
    s.counter[i] -= 1
    s.color[i] = "black"
    s.active[i] = True
    return TAKEN


@spec.action
def deactivate(s: State, c: Constants, i: Process):
    """A node has done its work."""
    if not s.active[i] and not c.pluscal:
        return "the node is inactive already"
    s.active[i] = False
    return TAKEN


@spec.constraint
def state_constraint(s: State, c: Constants):
    """The constraint of the TLC model: without it the number of messages is unbounded."""
    for i in range(1, c.nodes + 1):
        if c.pluscal and s.counter[i] >= 3:
            return "a counter is 3"
        if not c.pluscal and (s.counter[i] > c.max_counter or s.pending[i] > c.max_pending):
            return "a counter is beyond its bound, or too many messages are under way"
    if not c.pluscal and s.token.q > c.max_q:
        return "the token's sum is beyond its bound"
    return HOLDS


def has_terminated(s: State, c: Constants) -> bool:
    """No node is active, and no message is under way."""
    for i in range(1, c.nodes + 1):
        if s.active[i] or s.pending[i] > 0:
            return False
    return True


def is_detected(s: State, c: Constants) -> bool:
    """Node 1 has a white token that, with its own counter, sums up to 0, and is white and done."""
    if s.token.pos != INITIATOR or s.token.color == "black" or s.color[INITIATOR] == "black":
        return False
    return s.token.q + s.counter[INITIATOR] == 0 and not s.active[INITIATOR]


@spec.invariant
def termination_detection(s: State, c: Constants):
    """What is detected is there."""
    if is_detected(s, c) and not has_terminated(s, c):
        return "termination is detected, and something is still to happen"
    return HOLDS


@spec.invariant
def messages_are_counted(s: State, c: Constants):
    """The counters sum up to the messages under way (P0 of Safra's invariant)."""
    total = 0
    for i in range(1, c.nodes + 1):
        total += s.pending[i] - s.counter[i]
    return HOLDS if total == 0 else "the counters do not sum up to the messages under way"


@spec.situation(expected=True)
def termination_is_detected(s: State, c: Constants):
    """Termination is detected."""
    return is_detected(s, c)


@spec.property
def liveness():
    """Once the computation has terminated, this is eventually detected."""
    return leads_to(has_terminated, is_detected)


spec.weakly_fair(either(initiate_probe, pass_token))
