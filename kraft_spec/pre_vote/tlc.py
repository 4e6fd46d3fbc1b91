"""How often TLC counts a step as generated: for `kraft.kip_996`, as `kraft_spec.tlc` says."""

from kraft_spec.actions.replication import has_failed_fetch, has_lost_fetch
from kraft_spec.model import Pair, all_pairs, is_majority, pairs_of
from kraft_spec.pre_vote import cluster, elections, replication
from kraft_spec.pre_vote.cluster import possible_winners
from kraft_spec.pre_vote.elections import has_lost_majority, may_be_disrupted, waits_for_votes
from kraft_spec.pre_vote.replication import looks_for_leader, tries_another, ways_to_follow
from kraft_spec.tlc import of_position
from protocol_lab import NodeSet


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
    replication.accept_fetch_request: of_position,
}
