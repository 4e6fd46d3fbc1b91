"""Answers to the talk's questions that take a search over all states, each computed once."""

from functools import cache

from kafka_spec import unclean_leader_election as talk
from kafka_spec.unclean_leader_election import common_prefix, is_isr_dead, lead_alone, leo, log_of
from protocol_lab import NONE, TAKEN
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore
from protocol_lab.teaching.exercises import with_action
from protocol_lab.traces.walk import Walk


@cache
def the_loss() -> Result:
    """A shortest loss under the rule of the latest offset, in logs and epochs without a bound."""
    return explore(talk.spec.bind(max_leader_epoch=None, max_log_length=None))


def moves_before_the_loss() -> int:
    """How often the leadership moves from one replica to another before the rule elects."""
    walk = Walk.along(the_loss())
    leaders: list[int] = []
    for moment in walk.path[1:]:
        walk.go_to(moment.depth)
        leader = walk.state.zk_state.leader
        if leader not in (NONE, *leaders[-1:]):
            leaders.append(leader)
    return len(leaders) - 2  # the first leads from the start, the last is the rule's


def what_looked_later() -> str:
    """Why the elected replica looked later: "later epoch" or "longer log"."""
    return {"newer": "later epoch"}.get(_in_the_way(the_loss()), "longer log")


def in_the_way_by_length() -> str:
    """What stands in the place of the committed message if only lengths are compared: an "older"
    message or a "newer" one; "safe" if nothing is lost."""
    rule = "unclean_leader_election_choose_latest_offset"
    return _in_the_way(explore(with_action(talk.spec, rule, _elect_longest_log).bind()))


def costs_with() -> str:
    """The values of min_isr with which the rule of eligible replicas elects nobody where that of
    the latest offset would elect somebody."""
    costly = []
    for min_isr in (1, 2, 3):
        model = talk.spec.bind(election_rule="eligible_leader_replicas", min_isr=min_isr)
        found = explore(model, invariants=["elects_where_latest_offset_would"])
        costly += [str(min_isr)] if found.violated else []
    return " and ".join(costly) or "none"


def _elect_longest_log(s, c, replica: talk.Replica):
    """Elect the alive replica with the longest log, whatever the epochs are."""
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not s.replica_states[c.unstable_replica].is_shutdown:
        return "the unstable replica has not died: it may be back soon"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if any(leo(s, other) > leo(s, replica) for other in s.zk_state.alive_replicas):
        return "another alive replica has a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def _in_the_way(found: Result) -> str:
    if not found.violated:
        return "safe"
    walk = Walk.along(found)
    walk.last()
    theirs, promised = log_of(walk.state, walk.state.zk_state.leader), walk.state.committed_messages
    place = common_prefix(theirs, promised)
    older = theirs[place].leader_epoch < promised[place].leader_epoch
    return "older" if older else "newer"
