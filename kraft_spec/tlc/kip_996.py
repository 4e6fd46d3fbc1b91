"""What only a comparison of `kraft.kip_996` with TLC needs; see `kip_853`, whose rest is the same.

The original calls a message's epoch replica_epoch, except in fetch responses' and entries' own
fields as listed here; a fetch request has no field `observer`, but for the first of a new server.
"""

from typing import Any

from kraft_spec.actions.replication import has_failed_fetch, has_lost_fetch
from kraft_spec.model import Pair, all_pairs, is_majority, pairs_of
from kraft_spec.pre_vote import cluster, elections, replication
from kraft_spec.pre_vote.cluster import possible_winners
from kraft_spec.pre_vote.elections import has_lost_majority, may_be_disrupted, waits_for_votes
from kraft_spec.pre_vote.replication import looks_for_leader, tries_another, ways_to_follow
from kraft_spec.tlc import kip_853
from protocol_lab import NodeSet

# --- Multiplicities ----------------------------------------------------------------------------


def of_resignation(s, c, server) -> int:
    """Of a resignation: there may be a reason, and none may be needed."""
    return has_lost_majority(s, server) + may_be_disrupted(s, c)


def of_fetch_timeout(s, c, server) -> int:
    """Of a fetch timeout: a failed fetch, a lost one, and none may be needed."""
    failed, lost = has_failed_fetch(s, c, server), has_lost_fetch(s, server)
    return failed + lost + may_be_disrupted(s, c)


def of_conclusion(s, c, server) -> int:
    """Of the end of a pre-vote: a majority, and nothing under way."""
    has_majority = is_majority(s.votes_recv[server], s.config[server].members)
    is_over = not waits_for_votes(s, server, True) and not c.prospective_never_gives_up
    return has_majority + is_over


def of_fetch(s, c, server, peer) -> int:
    """Of a fetch: each reason to follow, and each cause of an observer's timeout."""
    ways = ways_to_follow(s, c, server, peer) + looks_for_leader(s, c, server, peer)
    if tries_another(s, c, server, peer):
        ways += has_failed_fetch(s, c, server) + has_lost_fetch(s, server)
    return ways


def of_crash(s, c, server) -> int:
    """Of a crash: with test_liveness each voter that could be elected afterwards."""
    if not c.test_liveness:
        return 1
    return possible_winners(s, c, s.net_connectivity & ~pairs_of(c, server))


def of_connectivity(s, c, down: NodeSet(Pair)) -> int:
    """Of a change of the links: with test_liveness each voter that could be elected afterwards."""
    if not c.test_liveness:
        return 1
    return possible_winners(s, c, all_pairs(c) & ~down)


MULTIPLICITIES = {
    cluster.change_network_connectivity: of_connectivity,
    cluster.crash_lose_state: of_crash,
    elections.check_quorum_resign: of_resignation,
    elections.voter_fetch_timeout: of_fetch_timeout,
    elections.conclude_pre_vote: of_conclusion,
    replication.send_fetch_request: of_fetch,
    replication.accept_fetch_request: kip_853.of_position,
}

# --- Variables as TLC prints them --------------------------------------------------------------

Record = dict[str, Any]


def _of_epoch(told: Record, **more: Any) -> Record:
    """A message, with its epoch under the original's name."""
    return {"replica_epoch" if name == "epoch" else name: it for name, it in told.items()} | more


def _fetch(told: Record) -> Record:
    """A fetch request: only a new server's first says whether it comes from an observer."""
    kept = {name: it for name, it in told.items() if name != "observer" or it}
    return _of_epoch(kept)


def _begin_quorum(message: Any) -> Record:
    told = _of_epoch(kip_853.begin_quorum(message))
    return told if message.kind == "addition" else told | {"resend": message.kind == "again"}


def _messages(kinds: Any) -> list[Record]:
    return [
        *(
            _of_epoch(kip_853.vote_request(each), pre_vote=bool(each.pre_vote))
            for each in kinds.vote_requests
        ),
        *(
            _of_epoch(kip_853.vote_response(each), pre_vote=bool(each.pre_vote))
            for each in kinds.vote_responses
        ),
        *map(_begin_quorum, kinds.begin_quorum_requests),
        *(
            _fetch(kip_853.fetch_request(each.source, each.dest, each))
            for each in kinds.fetch_requests
        ),
        *map(_fetch_response, kinds.fetch_responses),
    ]


def _fetch_response(message: Any) -> Record:
    told = kip_853.fetch_response(message)
    return _of_epoch(told, correlation=_fetch(told["correlation"]))


def net_messages(s: Any, c: Any) -> list[Record]:
    """The messages in flight."""
    return _messages(s.net_messages)


def net_messages_processed(s: Any, c: Any) -> list[Record]:
    """The messages that were delivered."""
    return _messages(s.net_messages_processed)


def fetch_state(s: Any, c: Any) -> list:
    """For each server the pending fetch request, the last response, and whether one succeeded."""
    return [
        (server, _fetch_state(told, bool(s.has_fetch_success[server])))
        for server, told in kip_853.fetch_state(s, c)
    ]


def _fetch_state(told: Record, has_succeeded: bool) -> Record:
    pending = told["pending_fetch"]
    return told | {
        "pending_fetch": pending and _fetch(pending),
        "has_fetch_success": has_succeeded,
    }


PRINTED = kip_853.PRINTED | {
    "net_messages": net_messages,
    "net_messages_processed": net_messages_processed,
    "fetch_state": fetch_state,
    "has_fetch_success": None,
    "role": None,
}
