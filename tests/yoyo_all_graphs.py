"""The Yo-Yo election with pruning, in every connected graph over a few nodes.

What it models: each link points from one neighbour to another, at first to the one with the larger
number. Sources send their number down; every other node passes on the smallest that it got, and
then tells those who sent it "yes" and the others "no", whose links turn round. Of several
neighbours who sent the same number it keeps one, whichever it likes, and prunes the links to the
others; a sink with a single neighbour leaves altogether.

What breaks: nothing. In every graph the node with the smallest number is left in the end, and all
others have become inactive.

Source: YoYoAllGraphs.tla, by Ludovic Yvoz and Stephan Merz, in specifications/YoYo of
github.com/tlaplus/Examples. Its manifest has for 5 nodes 26,731 distinct states, 48,535 states
generated and depth 39.

    python3 lab.py check tests/yoyo_all_graphs.py --deadlock
    python3 lab.py check tests/yoyo_all_graphs.py --set nodes=4 --property one_node_is_left
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    nodes: Annotated[int, Limits(1, 6, "nodes of the graph")] = 5


Peer = Node("nodes")
Peers = NodeSet(Peer)


Phase = Named("down", "up")


class Message(Struct):
    """Down with a number, or up with an answer to it."""

    phase: Phase
    sender: Peer
    number: Peer  # of a message down
    is_yes: Bool  # of a message up, as is the next
    prunes: Bool


class State(Struct):
    active: Per(Peer, Bool)
    phase: Per(Peer, Phase)  # what the node does next
    incoming: Per(Peer, Peers)
    outgoing: Per(Peer, Peers)
    mailbox: Per(Peer, Bag(Message, "2 * nodes"))


spec = Spec("yoyo_all_graphs", State, Constants, __doc__, original="YoYoAllGraphs")


# --- The graph -----------------------------------------------------------------------------------


@spec.init
def begin(
    s: State, c: Constants, is_link: Sequences(low=0, high=1, length="nodes * (nodes - 1) // 2")
):
    """A connected graph; is_link is about the links (1, 2), (1, 3), (2, 3), (1, 4), ..."""
    reached = only(1)
    for _ in range(1, c.nodes):
        reached = reached | neighbours_of(reached, is_link, c)
    if reached != nodes_up_to(c.nodes):
        return "the graph is not connected"
    at = 0
    for larger in nodes_up_to(c.nodes):
        s.active[larger] = True
        for less in range(1, larger):
            if is_link[at] == 1:
                s.outgoing[less] = with_node(s.outgoing[less], larger)
                s.incoming[larger] = with_node(s.incoming[larger], less)
            at += 1
    return TAKEN


def neighbours_of(nodes: Peers, is_link, c) -> Peers:
    """The nodes at the other ends of their links."""
    found, at = only(1), 0
    for larger in range(1, c.nodes + 1):
        for less in range(1, larger):
            if is_link[at] == 1 and less in nodes:
                found = with_node(found, larger)
            if is_link[at] == 1 and larger in nodes:
                found = with_node(found, less)
            at += 1
    return found


# --- What a node is, and what it got -------------------------------------------------------------


def is_source(s: State, node):
    """Nobody sends to it, and it sends to somebody."""
    return s.incoming[node] == 0 and s.outgoing[node] != 0


def is_lone_sink(s: State, node):
    """It has one neighbour, who sends to it."""
    return s.outgoing[node] == 0 and len(s.incoming[node]) == 1


def who_sent(s: State, node, phase: Phase) -> Peers:
    """Those of whom the node has a message of this phase."""
    found = 0
    for message in s.mailbox[node]:
        if message.phase == phase:
            found = with_node(found, message.sender)
    return found


def who_said_no(s: State, node) -> Peers:
    """Those who answered no."""
    found = 0
    for message in s.mailbox[node]:
        if message.phase == "up" and not message.is_yes:
            found = with_node(found, message.sender)
    return found


def who_prunes(s: State, node) -> Peers:
    """Those who answered, and no longer want the link."""
    found = 0
    for message in s.mailbox[node]:
        if message.prunes:
            found = with_node(found, message.sender)
    return found


def who_sent_number(s: State, node, number) -> Peers:
    """Those who sent the node this number over a link that it takes for an incoming one. (It may
    have one for later from a neighbour whose link is about to turn round.)"""
    found = 0
    for message in s.mailbox[node]:
        if message.phase == "down" and message.number == number:
            found = with_node(found, message.sender)
    return found & s.incoming[node]


def least_number(s: State, node, c: Constants):
    """The smallest number that the node was sent."""
    for number in range(1, c.nodes + 1):
        if who_sent_number(s, node, number) != 0:
            return number
    return 0


def forget(s: State, node, phase: Phase, senders: Peers):
    """Take what these senders sent in this phase out of the node's mailbox."""
    k = 0
    while k < len(s.mailbox[node]):
        message = s.mailbox[node].items[k]
        if message.phase == phase and message.sender in senders:
            take(s.mailbox[node], message)
        else:
            k += 1


# --- Actions -------------------------------------------------------------------------------------


@spec.action
def down_source(s: State, c: Constants, node: Peer):
    """A source sends its number."""
    if not s.active[node] or not is_source(s, node):
        return "this is no source"
    if s.phase[node] != "down":
        return "it waits for answers"
    for other in s.outgoing[node]:
        add_once(s.mailbox[other], Message(phase="down", sender=node, number=node))
    s.phase[node] = "up"
    return TAKEN


@spec.action
def down_other(s: State, c: Constants, node: Peer):
    """Another node passes on the smallest number that it got, once it has one of everybody."""
    if not s.active[node] or s.incoming[node] == 0:
        return "nobody sends to it"
    if s.phase[node] != "down":
        return "it waits for answers"
    if who_sent(s, node, "down") != s.incoming[node]:
        return "it has not heard of everybody"
    for other in s.outgoing[node]:
        passed_on = Message(phase="down", sender=node, number=least_number(s, node, c))
        add_once(s.mailbox[other], passed_on)
    s.phase[node] = "up"
    return TAKEN


@spec.action
def up_source(s: State, c: Constants, node: Peer):
    """A source has all answers: links to who said no turn round."""
    if not s.active[node] or not is_source(s, node):
        return "this is no source"
    if s.phase[node] != "up":
        return "it has sent nothing"
    if who_sent(s, node, "up") != s.outgoing[node]:
        return "an answer is missing"
    turned, pruned = who_said_no(s, node), who_prunes(s, node)
    forget(s, node, "up", s.outgoing[node])
    s.incoming[node] = turned & ~pruned
    s.outgoing[node] = s.outgoing[node] & ~(turned | pruned)
    s.phase[node] = "down"
    return TAKEN


@spec.action
def up_other(
    s: State, c: Constants, node: Peer, kept: Sequences(low=0, high="nodes", length="nodes")
):
    """Another node answers. Of those who sent it the number v it keeps kept[v - 1]."""
    if not s.active[node] or s.incoming[node] == 0:
        return "nobody sends to it"
    if s.phase[node] != "up":
        return "it has nothing to answer"
    if who_sent(s, node, "up") != s.outgoing[node]:
        return "an answer is missing"
    for number in range(1, c.nodes + 1):
        senders = who_sent_number(s, node, number)
        if senders == 0 and kept[number - 1] != 0:
            return "nobody has sent this number"
        if senders != 0 and kept[number - 1] not in senders:
            return "this node has not sent this number"
    turned, pruned = who_said_no(s, node), who_prunes(s, node)
    leaves, least = is_lone_sink(s, node), least_number(s, node, c)
    before = s.incoming[node]
    forget(s, node, "up", s.outgoing[node])
    s.outgoing[node] = s.outgoing[node] & ~(turned | pruned)
    s.incoming[node] = turned & ~pruned
    for other in before:
        answer = Message(phase="up", sender=node)
        for message in s.mailbox[node]:
            if message.phase == "down" and message.sender == other:
                answer.is_yes = turned == 0 and message.number == least
                answer.prunes = leaves or kept[message.number - 1] != other
        add_once(s.mailbox[other], answer)
    forget(s, node, "down", before)
    for number in range(1, c.nodes + 1):
        if kept[number - 1] != 0 and (turned != 0 or number != least):
            s.outgoing[node] = with_node(s.outgoing[node], kept[number - 1])
    if turned == 0 and not leaves:
        s.incoming[node] = only(kept[least - 1])
    s.active[node] = not leaves
    s.phase[node] = "down"
    return TAKEN


# --- What must be true ---------------------------------------------------------------------------


def is_answer_to(s: State, node, sender, is_yes, prunes):
    """Does the node have this answer?"""
    answer = Message(phase="up", sender=sender, is_yes=is_yes, prunes=prunes)
    return answer in s.mailbox[node]


@spec.invariant
def neighbours_agree(s: State, c: Constants):
    """Both ends of a link agree on its direction, unless an answer is on the way that turns or
    prunes it."""
    for m in range(1, c.nodes + 1):
        for n in range(1, c.nodes + 1):
            turns = is_answer_to(s, m, n, False, False) or is_answer_to(s, n, m, False, False)
            is_pruned = is_answer_to(s, n, m, False, True) or is_answer_to(s, n, m, True, True)
            knows = n in s.incoming[m] or n in s.outgoing[m]
            agree = n in s.incoming[m] or (n in s.outgoing[m] and turns)
            if (m in s.outgoing[n]) != (agree or (not knows and is_pruned)):
                return "the ends of a link differ"
    return HOLDS


def is_over(s: State, c: Constants):
    """Node 1 is alone, the others are inactive, and nothing is under way."""
    is_alone = s.incoming[1] == 0 and s.outgoing[1] == 0
    others = any(s.active[node] for node in range(2, c.nodes + 1))
    return is_alone and not others and all(len(each) == 0 for each in s.mailbox)


@spec.property
def one_node_is_left():
    """The node with the smallest number is elected."""
    return eventually(is_over)


spec.weakly_fair(NEXT)
spec.may_end(is_over)
