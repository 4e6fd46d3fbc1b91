"""The messages of the additions, and their places in the state."""

from kraft_spec.model.names import Epoch, Error, Server
from protocol_lab import Bag, Per, Struct


class EndQuorumEpochRequest(Struct):
    """A leader announces that it has resigned (see `resignation`)."""

    source: Server
    dest: Server
    epoch: Epoch


class JoinRequest(Struct):
    """An observer asks to be made a voter. Its number is its identity."""

    source: Server
    dest: Server


class JoinResponse(Struct):
    """The immediate answer: accepted, or an error; with the leader that its source knows."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    error: Error


class RemoveRequest(Struct):
    """An administrator asks a server to have a voter removed."""

    dest: Server
    remove_server: Server


class RemoveResponse(Struct):
    """The answer to the administrator."""

    source: Server
    remove_server: Server
    leader: Server
    error: Error


class MembershipRequests(Struct):
    """The requests and answers in flight, and whose answer each joining server waits for."""

    join_requests: Bag(JoinRequest, "request_slots")
    join_responses: Bag(JoinResponse, "request_slots")
    remove_requests: Bag(RemoveRequest, "request_slots")
    remove_responses: Bag(RemoveResponse, "request_slots")
    asked: Per(Server, Server)  # NONE: the server does not wait for an answer
