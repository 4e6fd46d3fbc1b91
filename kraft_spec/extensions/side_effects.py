"""What the additions do in the protocol's own actions: nothing where their constants are off."""

from kraft_spec.extensions.added_messages import EndQuorumEpochRequest
from kraft_spec.model.links import are_connected_by, is_connected
from protocol_lab import NONE, add_once, members, take, without_node


def announce_resignation(s, c, server) -> None:
    """A leader that gives up announces it to the other voters of its configuration."""
    if c.end_quorum_epoch:
        for peer in members(without_node(s.config[server].members, server)):
            epoch = s.current_epoch[server]
            request = EndQuorumEpochRequest(source=server, dest=peer, epoch=epoch)
            if is_connected(s, server, peer):
                add_once(s.end_quorum_requests, request)


def forget_join_request(s, c, server) -> None:
    """A server that restarts no longer knows that it has asked to join."""
    if c.membership_requests:
        s.membership.asked[server] = NONE


def lose_membership_requests(s, c, server) -> None:
    """A server has lost its disk: what it asked, and what an administrator asked it, is gone."""
    if c.membership_requests:
        s.membership.asked[server] = NONE
        requests = s.membership.remove_requests
        position = 0
        while position < requests.size:
            if requests.items[position].dest == server:
                take(requests, requests.items[position])
            else:
                position += 1


def lose_added_messages(s, c, links) -> None:
    """The additions' messages in flight across these links are lost."""
    if c.membership_requests:
        lose_across(s.membership.join_requests, links)
        lose_across(s.membership.join_responses, links)
    if c.end_quorum_epoch:
        lose_across(s.end_quorum_requests, links)


def lose_across(messages, links) -> None:
    """Messages of one kind that are in flight across one of these links are lost."""
    position = 0
    while position < messages.size:
        message = messages.items[position]
        if are_connected_by(links, message.source, message.dest):
            take(messages, message)
        else:
            position += 1


def added_messages_in_flight(s, c) -> int:
    """How many messages of the additions are in flight."""
    count = 0
    if c.membership_requests:
        count += s.membership.join_requests.size + s.membership.join_responses.size
        count += s.membership.remove_requests.size + s.membership.remove_responses.size
    if c.end_quorum_epoch:
        count += s.end_quorum_requests.size
    return count
