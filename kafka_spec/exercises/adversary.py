"""Exercises on weak guards: fix one, and break nothing else."""

from kafka_spec import async_isr, kip_320, unclean_leader_election
from kafka_spec.async_isr import write_isr
from kafka_spec.exercises.truncation import BOTH
from kafka_spec.model import ReplicaState, has_offset, presumes_leadership
from kafka_spec.unclean_leader_election import lead
from protocol_lab import *
from protocol_lab.explore import explore
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import attempt
from protocol_lab.teaching.exercises import Feedback, exercise, repair, with_action, wrong

# --- An old request ----------------------------------------------------------------------------


def controller_handle_request(s, c, message):
    if message.version != s.controller_state.version:
        return "the request is based on an old version of the ISR"
    write_isr(s, message.isr)
    return TAKEN


@exercise(
    hints=[
        "What may have happened between the moment in which the leader sent the request and the"
        " one in which the controller reads it? Look at the last steps of the trace.",
        "The request says on which version of the ISR it is based: `message.version`. The"
        " controller knows which version it has written last: `s.controller_state.version`.",
        "`s.leader_state` is on another machine. A controller that looks there cheats, and the"
        " check shows that it does not even help.",
    ],
    answer=controller_handle_request,
    why="The leader has made up its mind about the ISR that it knew. If the controller has written"
    " another one since, the leader has given the request up, and no longer counts those in it."
    " This is no more than a compare-and-set. It is not the only right guard: an old request that"
    " only *removes* members does no harm either, since the leader then waits for too many.",
)
def refuse_an_old_request(answer) -> Feedback:
    """Refuse the right requests.

    `controller_handle_request` accepts every request that the leader has ever sent. Add the guard.
    The check explores the protocol with your function: `valid_high_watermark` must hold, and the
    ISR must still be able to grow.
    """
    return repair(async_isr.spec.bind(), "controller_handle_request", answer)


# --- The commit --------------------------------------------------------------------------------


def fenced_leader_inc_high_watermark(s, c, leader):
    hw, epoch = s.replica_state[leader].hw, s.replica_state[leader].leader_epoch
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    for member in s.replica_state[leader].isr:
        log = s.replica_log[member]
        if not has_offset(log, hw):
            return "a member of the ISR has nothing at that offset"
        if log.records[log.end_offset - 1].epoch != epoch:
            return "a member of the ISR holds nothing that this leader wrote in its epoch"
    s.replica_state[leader].hw += 1
    return TAKEN


def a_record_is_committed_without_everybody(s, c):
    """A leader commits a record that a slow replica lacks."""
    return any(
        presumes_leadership(s, leader)
        and s.replica_state[leader].hw > 0
        and not has_offset(s.replica_log[slow], s.replica_state[leader].hw - 1)
        for leader in range(1, c.replicas + 1)
        for slow in range(1, c.replicas + 1)
    )


def an_inherited_record_is_committed(s, c):
    """A leader commits a record of an earlier leader, who never could."""
    return any(
        presumes_leadership(s, leader)
        and s.replica_state[leader].hw > 0
        and earlier != leader
        and s.replica_state[earlier].leader == earlier
        and s.replica_state[earlier].leader_epoch == s.replica_log[leader].records[0].epoch
        and s.replica_state[earlier].hw == 0
        for leader in range(1, c.replicas + 1)
        for earlier in range(1, c.replicas + 1)
    )


def _what_a_leader_cannot_see(answer) -> str:
    """What the answer asks of another replica's beliefs: "" if nothing.

    It decides in states of two replicas, and once more with the other replica's beliefs erased.
    """
    name = "fenced_leader_inc_high_watermark"
    model = with_action(kip_320.spec, name, answer).bind(replicas=2, max_leader_epoch=1)
    action = next(each for each in model.spec.actions if each.function is answer)
    for row in explore(kip_320.spec.bind(replicas=2, max_leader_epoch=1), invariants=[]).states:
        for leader, other in ((1, 2), (2, 1)):
            blind = bytearray(row)
            view(model.layout, blind).replica_state[other] = ReplicaState()
            seen = attempt(model, row.tobytes(), action, {"leader": leader})
            unseen = attempt(model, bytes(blind), action, {"leader": leader})
            if seen.taken != unseen.taken:
                return (
                    f"Leader {leader} can't know that: it decides otherwise when broker {other}"
                    " has the same log and believes something else about leader and epoch."
                )
    return ""


@exercise(
    hints=[
        "Look at the last commit of the trace. The follower holds the record that is committed."
        " Whom does it follow, in which epoch, and which requests will it still pick up?",
        "A follower of an older epoch may hold the same records as the leader. Which record can it"
        " *not* hold? A fetch is fenced: whoever has a record that a leader wrote in epoch 2"
        " has followed it in epoch 2.",
        "To commit nothing but records of the present epoch is safe, if the followers hold the"
        " same. But then what a deposed leader has left behind is never committed, not even after"
        " later records. Must the record that proves the epoch be the one that is committed?",
    ],
    answer=fenced_leader_inc_high_watermark,
    why="The last record of a log says how far its replica has come: if this leader wrote it in its"
    " present epoch, the replica has followed it in this epoch and picks up no older request any"
    " more. What lies before that record is committed along with it. This is Raft's rule (Raft"
    " paper, section 5.4.2: older entries are committed only together with one of the leader's own"
    " term). It costs something that KIP-320's fence does not: until a client writes, a new leader"
    " commits nothing that it has inherited. A KRaft leader therefore begins its epoch with a"
    " record of its own (`LeaderState.appendLeaderChangeMessageAndBootstrapRecords`).",
)
def fence_the_commit(answer) -> Feedback:
    """Fence the commit without asking for epochs.

    KIP-320's leader asks in which epoch each member of its ISR is. Find a fence that needs only
    the logs: your leader sees what it believes itself (`s.replica_state[leader]`) and every log
    (`s.replica_log`), and nothing of what another replica believes. The function below is a first
    attempt: every member of the ISR must hold *the same record* at the offset to be committed.

    The check puts your action into KIP-320 and explores three replicas: `weak_isr` and
    `strong_isr` must hold, a record must still be committed when a slow replica has left the ISR,
    and what a deposed leader has left behind must still come to be committed in some run.
    """
    unseen = _what_a_leader_cannot_see(answer)
    if unseen:
        return wrong(unseen)
    return repair(
        kip_320.spec.bind(),
        "fenced_leader_inc_high_watermark",
        answer,
        invariants=BOTH,
        must_reach=[a_record_is_committed_without_everybody, an_inherited_record_is_committed],
    )


# --- The load balancer -------------------------------------------------------------------------


def preferred_leader_election(s, c):
    preferred = s.zk_state.preferred_leader
    if s.zk_state.leader == NONE:
        return "there is no leader"
    if s.zk_state.leader == preferred:
        return "the preferred replica leads already"
    if preferred not in s.zk_state.isrs:
        return "the preferred replica is not in the ISR"
    if preferred not in s.zk_state.alive_replicas:
        return "the preferred replica is not alive"
    if not s.replica_states[preferred].ready_to_fetch:
        return "the preferred replica has not followed the present leader yet"
    lead(s, c, preferred)
    return TAKEN


@exercise(
    hints=[
        "Replay the talk's scenario once more. Which replica leads again without having dropped"
        " what the leader in between did not have?",
        "That the preferred replica has all that is committed is not enough: what is not committed"
        " does the harm.",
        "A replica that has become a follower has dropped what it does not share with the leader:"
        " `s.replica_states[replica].ready_to_fetch`.",
    ],
    answer=preferred_leader_election,
    why="Nothing in the talk's loss is wrong by itself, so it can be prevented in more than one"
    " place. Here the deposed leader has to truncate before it leads again, so that an older"
    " message can't come back and be committed over a later one. In the bounds of the check that is"
    " enough. Another guard is enough as well: depose a leader only when the preferred replica has"
    " copied all of its log. KIP-966 mends the election instead, and needs no such care elsewhere.",
)
def tame_the_load_balancer(answer) -> Feedback:
    """Save the talk's rule by a guard somewhere else.

    The rule of the unclean election stays: the alive replica with the latest offset. Change
    `preferred_leader_election` so that `committed_messages_never_lost` holds: the check looks at
    logs of up to four messages, and at three leader epochs. The action must still happen.
    """
    model = unclean_leader_election.spec.bind(max_log_length=4)
    return repair(model, "preferred_leader_election", answer)
