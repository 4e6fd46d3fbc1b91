"""The network between the servers: messages, and links that go down.

Messages are sets: sending what is under way already changes nothing. They arrive in any order, and
none is lost but through a link that is down, when it is sent or while it is under way. What was
delivered or lost is remembered (`net_messages_processed`), for the messages that are sent only
once. What nobody can ever accept stays under way for ever, and is part of the state.

A link is a pair of servers, numbered so that more servers only add numbers: 1 is the link of 1
and 2, 2 and 3 those of server 3 with 1 and 2, 4 to 6 those of server 4, and so on.
"""

from kraft_spec.constants import Constants
from kraft_spec.types import DEAD_NO_STATE, EndQuorumEpochRequest, State
from protocol_lab import (
    TAKEN,
    Subset,
    add_once,
    contains,
    members,
    nodes_up_to,
    size,
    take,
    without_node,
)

# --- Links -----------------------------------------------------------------------------------


def pair(one, other) -> int:
    """The number of the link between two different servers."""
    low, high = min(one, other), max(one, other)
    return (high - 1) * (high - 2) // 2 + low


def all_pairs(c) -> int:
    """All links, those of servers that are not started yet included."""
    return nodes_up_to(c.max_spawned_servers * (c.max_spawned_servers - 1) // 2)


def pairs_of(c, server) -> int:
    """The links of one server."""
    links = 0
    for other in range(1, c.max_spawned_servers + 1):
        if other != server:
            links |= 1 << pair(server, other)
    return links


def is_connected(s, one, other) -> bool:
    """Can the two exchange messages?"""
    return one == other or contains(s.net_connectivity, pair(one, other))


def are_connected_by(links, one, other) -> bool:
    """Is the link between two different servers among these?"""
    return one != other and contains(links, pair(one, other))


# --- Messages --------------------------------------------------------------------------------


def send(s, messages, message) -> None:
    """Send a message; it vanishes if the link is down."""
    if is_connected(s, message.source, message.dest):
        add_once(messages, message)


def discard(messages, processed, message) -> None:
    """The message is not under way any more: it was delivered, or lost."""
    take(messages, message)
    add_once(processed, message)


def is_receivable(s, message) -> bool:
    """Is there still somebody to receive the message?"""
    return s.state[message.dest] != DEAD_NO_STATE


def say_that_quorum_ended(s, server) -> None:
    """Who leads no more tells the voters of its configuration (see `resignation`)."""
    for peer in members(without_node(s.config[server].members, server)):
        word = EndQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        send(s, s.end_quorum_requests, word)


def messages_in_flight(s, c) -> int:
    """How many messages are under way."""
    messages = s.net_messages
    count = (
        messages.vote_requests.size
        + messages.vote_responses.size
        + messages.begin_quorum_requests.size
        + messages.fetch_requests.size
        + messages.fetch_responses.size
    )
    if c.membership_requests:
        count += s.membership.join_requests.size + s.membership.join_responses.size
        count += s.membership.remove_requests.size + s.membership.remove_responses.size
    if c.end_quorum_epoch:
        count += s.end_quorum_requests.size
    return count


def drop_across(messages, processed, links) -> None:
    """Messages of one kind that are under way across one of these links are lost."""
    position = 0
    while position < messages.size:
        message = messages.items[position]
        if are_connected_by(links, message.source, message.dest):
            add_once(processed, message)
            take(messages, message)
        else:
            position += 1


def lose_across(messages, links) -> None:
    """The same, for messages of which nobody has to know that they were sent."""
    position = 0
    while position < messages.size:
        message = messages.items[position]
        if are_connected_by(links, message.source, message.dest):
            take(messages, message)
        else:
            position += 1


def lose_membership_requests(s, server) -> None:
    """A server has lost its disk: what an administrator asked it, and what it asked, is gone."""
    s.membership.asked[server] = 0
    requests = s.membership.remove_requests
    position = 0
    while position < requests.size:
        if requests.items[position].dest == server:
            take(requests, requests.items[position])
        else:
            position += 1


def drop_all_across(s, c, links) -> None:
    """Whatever is under way across one of these links is lost."""
    under_way, processed = s.net_messages, s.net_messages_processed
    drop_across(under_way.vote_requests, processed.vote_requests, links)
    drop_across(under_way.vote_responses, processed.vote_responses, links)
    drop_across(under_way.begin_quorum_requests, processed.begin_quorum_requests, links)
    drop_across(under_way.fetch_requests, processed.fetch_requests, links)
    drop_across(under_way.fetch_responses, processed.fetch_responses, links)
    if c.membership_requests:
        lose_across(s.membership.join_requests, links)
        lose_across(s.membership.join_responses, links)
    if c.end_quorum_epoch:
        lose_across(s.end_quorum_requests, links)


# --- Changes of the links ----------------------------------------------------------------------


def down_pairs(s, c) -> int:
    """The links that are down."""
    return all_pairs(c) & ~s.net_connectivity


def pairs_of_the_dead(s, c) -> int:
    """The links of the servers that have lost their disks: always down."""
    links = 0
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == DEAD_NO_STATE:
            links |= pairs_of(c, server)
    return links


def choosable_pairs(s, c) -> int:
    """The links among which those to be down are chosen; none if they can't change any more."""
    return all_pairs(c) if s.net_connectivity_ctr < c.max_connectivity_changes else 0


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """Links go down, or come back: from now on these are down (numbered as the module says).

    The links of dead servers stay down. There may be max_disconnected_pairs of them; if there are
    more, because a crash took them down, then fewer than before.
    """
    present = down_pairs(s, c)
    if s.net_connectivity_ctr >= c.max_connectivity_changes:
        return "the links have changed often enough"
    if pairs_of_the_dead(s, c) & ~down != 0:
        return "the links of a dead server stay down"
    if size(present) > c.max_disconnected_pairs and size(down) >= size(present):
        return "too many links are down already: fewer have to be"
    if size(present) <= c.max_disconnected_pairs and size(down) > c.max_disconnected_pairs:
        return "too many links would be down"
    if down == present:
        return "this changes nothing"
    s.net_connectivity = all_pairs(c) & ~down
    drop_all_across(s, c, down)
    s.net_connectivity_ctr += 1
    return TAKEN


def connectivity_witnesses(s, c, down) -> int:
    """TLC takes a change once for each way in which the original's "there is a pair" is true.

    There is one for every link that goes down while their number stays, and for every dead server
    one for each of its links.
    """
    present, ways = down_pairs(s, c), 1
    if size(present) == size(down):
        ways = size(down & ~present)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == DEAD_NO_STATE:
            ways *= size(down & pairs_of(c, server))
    return ways


def disconnect_dead_server(s, c, server) -> None:
    """All links of the server go down, and what is under way on them is lost."""
    s.net_connectivity = s.net_connectivity & ~pairs_of(c, server)
    drop_all_across(s, c, pairs_of(c, server))


def pairs_down_without(s, c, server) -> int:
    """How many links would be down if all of this server's were."""
    return size(down_pairs(s, c) | pairs_of(c, server))
