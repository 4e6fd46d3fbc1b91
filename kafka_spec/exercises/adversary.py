"""The exercises of notebooks/kafka/05_be_the_adversary: mend a guard, and break nothing else."""

from kafka_spec import async_isr, kip_320, unclean_leader_election
from kafka_spec.bounded_log import has_offset
from kafka_spec.exercises.truncation import BOTH
from kafka_spec.isr_changes.actions import write_isr
from kafka_spec.kip_320 import is_following_leader_epoch
from kafka_spec.leader_election.actions.clean_elections import lead
from kafka_spec.leader_election.model import (
    has_no_leader,
    is_alive,
    is_in_isr,
    is_leader,
    is_ready_to_fetch,
)
from kafka_spec.replication.model import presumes_leadership
from protocol_lab import HOLDS, TAKEN, members
from protocol_lab.teaching.exercises import Feedback, exercise, repair

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
    hw = s.replica_state[leader].hw
    if not has_offset(s.replica_log[leader], hw):
        return "the replica has committed its whole log"
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not all(
        is_following_leader_epoch(s, leader, follower) and has_offset(s.replica_log[follower], hw)
        for follower in members(s.replica_state[leader].isr)
    ):
        return "a member of the ISR does not follow in this epoch, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


def a_record_is_committed_without_everybody(s, c):
    """A leader commits a record that a slow replica lacks."""
    for leader in range(1, c.replicas + 1):
        hw = s.replica_state[leader].hw
        if presumes_leadership(s, leader) and hw > 0:
            for slow in range(1, c.replicas + 1):
                if not has_offset(s.replica_log[slow], hw - 1):
                    return HOLDS
    return "everybody has all that is committed"


@exercise(
    hints=[
        "Look at the last commit of the trace. In which epoch is the leader, in which one are"
        " those that it counts?",
        "It does not help to ask whether the controller knows this leader: the leader is fine, and"
        " the follower is not.",
        "To commit nothing but records of the present epoch does not help either. To wait for all"
        " replicas would, but then a single slow one stops everybody.",
    ],
    answer=fenced_leader_inc_high_watermark,
    why="A follower of an older epoch holds the record now, and will still pick the requests in"
    " between, which may make it drop the record. A follower of this epoch picks none of them any"
    " more. `>=` between the epochs would do as well as `==`: in KIP-320 nobody follows a leader in"
    " an epoch that the leader has not reached.",
)
def fence_the_commit(answer) -> Feedback:
    """Commit only what is safe.

    This leader raises its high watermark when all of its ISR hold the next record, whoever they
    follow it as. Add what is missing. The check puts your action into KIP-320 and explores three
    replicas: `weak_isr` and `strong_isr` must hold, and a record must still be committed when
    a slow replica has left the ISR.
    """
    return repair(
        kip_320.spec.bind(),
        "fenced_leader_inc_high_watermark",
        answer,
        invariants=BOTH,
        must_reach=[a_record_is_committed_without_everybody],
    )


# --- The load balancer -------------------------------------------------------------------------


def preferred_leader_election(s, c):
    preferred = s.zk_state.preferred_leader
    if has_no_leader(s):
        return "there is no leader"
    if is_leader(s, preferred):
        return "the preferred replica leads already"
    if not is_in_isr(s, preferred):
        return "the preferred replica is not in the ISR"
    if not is_alive(s, preferred):
        return "the preferred replica is not alive"
    if not is_ready_to_fetch(s, preferred):
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
        " `is_ready_to_fetch(s, replica)`.",
    ],
    answer=preferred_leader_election,
    why="Nothing in the talk's loss is wrong by itself, so it can be prevented in more than one"
    " place. Here the deposed leader has to truncate before it leads again, so that an older"
    " message can't come back and be committed over a later one. In the bounds of the check that is"
    " enough, and so is not to depose a leader before the preferred replica has copied all of its"
    " log. KIP-966 mends the election instead, and needs no such care elsewhere.",
)
def tame_the_load_balancer(answer) -> Feedback:
    """Save the talk's rule by a guard somewhere else.

    The rule of the unclean election stays: the alive replica with the latest offset. Change
    `preferred_leader_election` so that `committed_messages_never_lost` holds: the check looks at
    logs of up to four messages, and at three leader epochs. The action must still happen.
    """
    model = unclean_leader_election.spec.bind(max_log_length=4)
    return repair(model, "preferred_leader_election", answer)
