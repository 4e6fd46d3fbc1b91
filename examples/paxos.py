"""Paxos consensus, as Leslie Lamport specifies it: how a value is chosen, once and for all.

What it models: acceptors that vote in ballots, and for every ballot a leader that proposes. A
leader asks a quorum what it has voted for (1a, answered by 1b), and then asks for votes (2a,
answered by 2b) for the value of the highest ballot that it was told of. Messages are a set that
only grows, so that each may be received late, again, or never.

What breaks: nothing; two values are never chosen. With `any_value` the leader proposes whatever it
likes, and they are. Every step of Paxos maps to a step of `consensus`, at the end, or to none.

Source: Paxos.tla in specifications/PaxosHowToWinATuringAward of github.com/tlaplus/Examples. Its
manifest has for MCPaxosTiny (3 acceptors, 2 values, ballots 0 and 1) 3,921 distinct states,
23,563 states generated and depth 17.

    python3 lab.py check examples/paxos.py
    python3 lab.py check examples/paxos.py --set any_value=true
    python3 lab.py check examples/paxos.py --property refines_consensus
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    acceptors: Annotated[int, Limits(1, 5, "acceptors; a quorum is a majority")] = 3
    values: Annotated[int, Limits(1, 9, "values that may be proposed")] = 2
    max_ballot: Annotated[int, Limits(0, 9, "ballots are 0 to this one")] = 1
    any_value: Annotated[int, flag("defect: a leader ignores the votes that acceptors report")] = 0


Acceptor = Node("acceptors")
NO_BALLOT, NO_VALUE = -1, 0


class Message(Struct):
    """bal is every message's ballot; what a kind of message does not have is 0."""

    kind: Named("1a", "1b", "2a", "2b")
    acc: Acceptor  # the sender (1b, 2b)
    bal: Int8
    mbal: Int8  # the highest ballot in which the acceptor has voted, and for what (1b)
    mval: Int8
    val: Int8  # the value (2a, 2b)


class State(Struct):
    max_bal: Per(Acceptor, Int8)  # the highest ballot that the acceptor has taken part in
    max_v_bal: Per(Acceptor, Int8)  # the highest ballot in which it has voted, and for what
    max_val: Per(Acceptor, Int8)
    msgs: Bag(Message, "(max_ballot + 1) * (2 * acceptors + 2)")


spec = Spec("paxos", State, Constants, __doc__)
spec.symmetric(Acceptor)


@spec.init
def init(s: State, c: Constants):
    """Nobody has taken part in any ballot."""
    for a in range(1, c.acceptors + 1):
        s.max_bal[a] = NO_BALLOT
        s.max_v_bal[a] = NO_BALLOT
    return TAKEN


@spec.action
def phase1a(s: State, c: Constants, b: Range(0, "max_ballot")):
    """The leader of a ballot begins it."""
    add_once(s.msgs, Message(kind="1a", bal=b))
    return TAKEN


@spec.action
def phase1b(s: State, c: Constants, a: Acceptor, m: Member("msgs")):
    """An acceptor joins a higher ballot: it says what it has voted for, and leaves lower ones."""
    if m.kind != "1a":
        return "this is no 1a message"
    if m.bal <= s.max_bal[a]:
        return "the acceptor has joined this ballot, or a higher one"
    s.max_bal[a] = m.bal
    answer = Message(kind="1b", acc=a, bal=m.bal, mbal=s.max_v_bal[a], mval=s.max_val[a])
    add_once(s.msgs, answer)
    return TAKEN


def is_asked_for(s: State, b) -> bool:
    """Has the leader of this ballot asked for votes?"""
    return any(m.kind == "2a" and m.bal == b for m in s.msgs)


def has_answered(s: State, a, b) -> bool:
    """Has the acceptor joined this ballot by a 1b message?"""
    return any(m.kind == "1b" and m.acc == a and m.bal == b for m in s.msgs)


def votes_allow(s: State, c: Constants, quorum: NodeSet(Acceptor), b, v) -> int:
    """How many reasons the answers of this quorum give to propose v: that none of them has a vote,
    or each vote for v in the highest ballot that they tell of."""
    highest, votes, fitting = NO_BALLOT, 0, 0
    for m in s.msgs:
        if m.kind == "1b" and m.bal == b and m.acc in quorum and m.mbal >= 0:
            votes += 1
            if m.mbal > highest:
                highest, fitting = m.mbal, 0
            if m.mbal == highest and m.mval == v:
                fitting += 1
    return 1 if votes == 0 or c.any_value else fitting


def reasons_to_propose(s: State, c: Constants, b, v) -> int:
    """The multiplicity: how often the original's disjunction is true, over all quorums."""
    count = 0
    for quorum in subsets(nodes_up_to(c.acceptors)):
        is_majority = len(quorum) == c.acceptors // 2 + 1
        if is_majority and all(has_answered(s, a, b) for a in quorum):
            count += votes_allow(s, c, quorum, b, v)
    return count


@spec.action(multiplicity=reasons_to_propose)
def phase2a(s: State, c: Constants, b: Range(0, "max_ballot"), v: Range(1, "values")):
    """The leader of a ballot asks for votes for a value that a quorum's answers allow."""
    if is_asked_for(s, b):
        return "the leader of this ballot has asked already"
    if reasons_to_propose(s, c, b, v) == 0:
        return "no quorum's answers allow this value"
    add_once(s.msgs, Message(kind="2a", bal=b, val=v))
    return TAKEN


@spec.action
def phase2b(s: State, c: Constants, a: Acceptor, m: Member("msgs")):
    """An acceptor votes, unless it has joined a higher ballot."""
    if m.kind != "2a":
        return "this is no 2a message"
    if m.bal < s.max_bal[a]:
        return "the acceptor has joined a higher ballot"
    s.max_bal[a] = m.bal
    s.max_v_bal[a] = m.bal
    s.max_val[a] = m.val
    add_once(s.msgs, Message(kind="2b", acc=a, bal=m.bal, val=m.val))
    return TAKEN


def is_chosen(s: State, c: Constants, v) -> bool:
    """Has a quorum voted for this value in one ballot?"""
    for b in range(c.max_ballot + 1):
        votes = 0
        for m in s.msgs:
            if m.kind == "2b" and m.bal == b and m.val == v:
                votes += 1
        if 2 * votes > c.acceptors:
            return True
    return False


@spec.invariant
def one_value_is_chosen(s: State, c: Constants):
    """No two values are chosen."""
    chosen = 0
    for v in range(1, c.values + 1):
        if is_chosen(s, c, v):
            chosen += 1
    return HOLDS if chosen <= 1 else "two values are chosen"


@spec.invariant
def votes_are_known(s: State, c: Constants):
    """An acceptor's highest vote was for what its ballot's leader had asked for."""
    for a in range(1, c.acceptors + 1):
        if s.max_v_bal[a] > s.max_bal[a]:
            return "an acceptor has voted in a ballot that it has not joined"
        if (s.max_v_bal[a] == NO_BALLOT) != (s.max_val[a] == NO_VALUE):
            return "an acceptor has voted without a value, or has a value without a vote"
        if s.max_v_bal[a] != NO_BALLOT and not is_asked_for(s, s.max_v_bal[a]):
            return "an acceptor has voted for what nobody has asked for"
    return HOLDS


@spec.situation(expected=True)
def a_value_is_chosen(s: State, c: Constants):
    """The second value is chosen."""
    return is_chosen(s, c, c.values)


# What Paxos is for, as Consensus.tla says it: at most one value is ever chosen.

Value = Node("values")


class Values(NamedTuple):
    values: Annotated[int, Limits(1, 9, "values that may be chosen")] = 2


class Chosen(Struct):
    chosen: NodeSet(Value)


consensus = Spec("consensus", Chosen, Values, "One of the values is chosen, once and for all.")


@consensus.init
def none_is_chosen(s: Chosen, c: Values):
    """No value is chosen."""
    return TAKEN


@consensus.action
def choose(s: Chosen, c: Values, v: Value):
    """A value is chosen."""
    if s.chosen != 0:
        return "a value is chosen already"
    s.chosen = only(v)
    return TAKEN


def chosen_values(s, c, a):
    """A value is chosen once a quorum has voted for it in one ballot."""
    for v in range(1, c.values + 1):
        if is_chosen(s, c, v):
            a.chosen = with_node(a.chosen, v)


spec.refines(consensus, chosen_values)
