"""Exercises on truncation: where to cut a log, and which fences are needed."""

from collections.abc import Callable

from kafka_spec import kip_101, kip_320
from kafka_spec.actions import (
    become_follower_and_truncate_to,
    copy_next_record,
    first_non_matching_offset_from_tail,
    is_newer,
    names_another_leader,
    update_isr,
)
from kafka_spec.kip_320 import (
    has_follower_reached_high_watermark,
    is_following_leader_epoch,
    is_shorter,
)
from kafka_spec.model import *
from protocol_lab import *
from protocol_lab.checker.result import Result
from protocol_lab.model.spec import Model
from protocol_lab.teaching.exercises import *

# --- The smallest configuration --------------------------------------------------------------


BOTH = ("weak_isr", "strong_isr")


def _checked_isr(model: Model) -> Result:
    return run(model, invariants=BOTH)


@exercise(
    hints=[
        "Explore. A configuration is as small as it can be if it breaks an invariant, and every"
        " configuration with one constant lowered by one breaks none.",
        "Two replicas need room for a second record: the one of the epoch that the leader does not"
        " know. With three replicas a single record is enough for a counterexample.",
    ],
    answer={"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2},
    why="With two replicas the follower must lead in between and write a record of its own epoch,"
    " so that the leader is asked about an epoch that it does not know. There is a second answer,"
    " with three replicas and one record: there a stale request does the harm.",
)
def smallest_for_kip_101(answer) -> Feedback:
    """Find a smallest configuration that breaks KIP-101.

    Write the constants as a dict: `{"replicas": ..., "log_size": ..., "max_records": ...,
    "max_leader_epoch": ...}`. weak_isr or strong_isr must break, and must hold if any one
    constant is lowered by one. The check explores your configuration and the smaller ones.
    """
    spec, names = kip_101.spec, ["replicas", "log_size", "max_records", "max_leader_epoch"]
    if not isinstance(answer, dict) or set(answer) != set(names):
        return wrong(f"Write a dict with these four constants: {', '.join(names)}.")
    found = _checked_isr(spec.bind(**answer))
    if not found.violated:
        return wrong(f"There both invariants hold, in all {found.distinct:,} states.")
    lowest = {"replicas": 1, "log_size": 1, "max_records": 0, "max_leader_epoch": 0}
    for name in names:
        if answer[name] == lowest[name]:
            continue
        smaller = _checked_isr(spec.bind(**{**answer, name: answer[name] - 1}))
        if smaller.violated:
            return wrong(
                f"{found.violated} breaks there, but with {name}={answer[name] - 1} it already"
                f" does: {smaller.violated}, after {len(smaller.trace)} steps."
            )
    return right(
        f"{found.violated} breaks after {len(found.trace)} steps, and with any constant one lower"
        " both invariants hold."
    )


# --- Where to truncate -----------------------------------------------------------------------


@exercise(
    hints=[
        "An offset that both logs have is `offset < min(mine.end_offset, theirs.end_offset)`.",
        "Go backwards from there until both logs hold the same record: `mine.records[offset - 1] =="
        " theirs.records[offset - 1]`. Records are compared whole, id and epoch.",
    ],
    answer=first_non_matching_offset_from_tail,
    why="Whatever the follower shares with the leader stays, whatever it does not share goes. The"
    " high watermark is not asked at all. This is KIP-279. (The real leader compares epochs, a"
    " request at a time; the model compares records in one step.)",
)
def where_to_truncate(answer) -> Feedback:
    """Decide where a new follower truncates.

    Write `end_offset(s, follower, leader)`, which returns the offset at which the follower's log
    is cut off. The check puts it into KIP-101's place, and explores two replicas with two records
    and three leader epochs: weak_isr and strong_isr have to hold there.
    """
    expect_parameters(answer, "s", "follower", "leader")

    def become_follower(s, c, follower, request):
        if not names_another_leader(request, follower):
            return "the request does not make another replica the leader"
        if not is_newer(s, follower, request):
            return "the replica knows this epoch or a later one"
        end_offset = answer(s, follower, request.leader)
        if end_offset > s.replica_log[follower].end_offset:
            return "the log is shorter than that"
        become_follower_and_truncate_to(s, follower, request, end_offset)
        return TAKEN

    model = kip_101.spec.bind(replicas=2, max_leader_epoch=2)
    return repair(model, "become_follower_truncate_kip_101", become_follower, invariants=BOTH)


# --- Fences ----------------------------------------------------------------------------------


def follower_fetch_in_one_epoch(s: State, c: Constants, follower: Replica, leader: Replica):
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if s.replica_state[follower].leader_epoch != s.replica_state[leader].leader_epoch:
        return "the follower is in another leader epoch"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


@exercise(
    hints=[
        "Look at the last steps of the trace that the check shows: in which epoch is the follower"
        " when it fetches, in which one the leader?",
        "Both epochs are in `s.replica_state[...].leader_epoch`. Return a reason if they differ.",
    ],
    answer=follower_fetch_in_one_epoch,
    why="This is what `CurrentLeaderEpoch` in a fetch request does since Kafka 2.1: an older epoch"
    " is answered with FENCED_LEADER_EPOCH, a newer one with UNKNOWN_LEADER_EPOCH.",
)
def fence_the_fetch(answer) -> Feedback:
    """Fence the fetch.

    Here is KIP-320's fetch without its fence. Add the guard that is missing. The check puts your
    action into KIP-320 and explores three replicas.
    """
    return repair(kip_320.spec.bind(), "fenced_follower_fetch", answer, invariants=BOTH)


def unfenced_follower_fetch(s: State, c: Constants, follower: Replica, leader: Replica):
    """As fenced_follower_fetch, in whichever epoch."""
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


def unfenced_leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """As fenced_leader_inc_high_watermark, with followers of whichever epoch."""
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not has_offset(s.replica_log[leader], hw):
        return "the leader has committed its whole log"
    if not all(
        is_following(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in s.replica_state[leader].isr
    ):
        return "a member of the ISR does not follow, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


def unfenced_become_follower_and_truncate(
    s: State, c: Constants, follower: Replica, request: Request
):
    """As fenced_become_follower_and_truncate, whether or not the leader leads."""
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    end_offset = first_non_matching_offset_from_tail(s, follower, request.leader)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def unfenced_leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """As fenced_leader_expand_isr, with a follower of whichever epoch."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not has_follower_reached_high_watermark(s, follower, leader):
        return "the follower has not reached the high watermark"
    if not has_high_watermark_reached_current_epoch(s, leader):
        return "the leader has not committed all records of earlier epochs"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def unfenced_leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """As fenced_leader_shrink_isr, looking at the logs only."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, follower, leader):
        return "the follower is not in the ISR"
    if is_following(s, follower, leader) and not is_shorter(s, follower, leader):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


UNFENCED: dict[str, Callable[..., str]] = {
    "fenced_leader_expand_isr": unfenced_leader_expand_isr,
    "fenced_leader_shrink_isr": unfenced_leader_shrink_isr,
    "fenced_leader_inc_high_watermark": unfenced_leader_inc_high_watermark,
    "fenced_become_follower_and_truncate": unfenced_become_follower_and_truncate,
    "fenced_follower_fetch": unfenced_follower_fetch,
}
"""The fenced actions of KIP-320, and each of them without asking for the leader epoch."""


@exercise(
    hints=[
        "Four of the fences only refuse: with them an action can happen in fewer states. Which"
        " action can happen in more states with its fence than without it?",
        "Dropping a replica from the ISR loses nothing. What about not dropping one?",
    ],
    answer="fenced_leader_shrink_isr",
    why="A leader that keeps a replica of another epoch in its ISR can't raise the high watermark,"
    " because the other fence does not count that replica: it commits less, and loses nothing. So"
    " this fence is needed for progress only, and no safety property notices that it is gone.",
)
def the_fence_to_spare(answer) -> Feedback:
    """Which fence is not needed for safety?

    Five actions of KIP-320 ask for the leader epoch. weak_isr and strong_isr hold also if one of
    them stops asking. Write its name as a text. The check takes the fence away and explores.
    """
    if answer not in UNFENCED:
        return wrong(f"Write one of these names: {', '.join(UNFENCED)}.")
    found = _checked_isr(with_action(kip_320.spec, answer, UNFENCED[answer]).bind())
    if found.violated:
        return wrong(
            f"Without this fence {found.violated} breaks after {len(found.trace)} steps.", found
        )
    return right(f"Without it both invariants hold as well, in all {found.distinct:,} states.")


# --- The guard of the ISR ----------------------------------------------------------------------


def fenced_leader_expand_isr_from_epoch_start(
    s: State, c: Constants, leader: Replica, follower: Replica
):
    """Kafka's rule: the follower's log reaches the start of the leader's epoch."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if not has_follower_reached_high_watermark(s, follower, leader):
        return "the follower has not reached the high watermark"
    start = 0
    while (
        has_offset(s.replica_log[leader], start)
        and s.replica_log[leader].records[start].epoch != s.replica_state[leader].leader_epoch
    ):
        start += 1
    if s.replica_log[follower].end_offset < start:
        return "the follower has not reached the start of the leader's epoch"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


@exercise(
    hints=[
        "The last guard is about the leader's high watermark. Ask about the *follower's log*"
        " instead: how much of the leader's log must it hold to have all that is committed?",
        "What earlier leaders committed lies in the leader's log before its first record of its own"
        " epoch. At which offset does that one stand, and at which if there is none yet?",
    ],
    answer=fenced_leader_expand_isr_from_epoch_start,
    why="The leader was elected from the ISR, so that all that was committed before lies below the"
    " start of its epoch. A follower of this epoch that reaches that offset has all of it, whether"
    " or not the leader knows that it is committed. So Kafka asks since 2.0.1 and 2.1.0"
    " (KAFKA-7128; 4.3.1: `Partition.isFollowerInSync`); 2.0.0 asked for the high watermark only.",
)
def admit_it_sooner(answer) -> Feedback:
    """Admit a follower sooner.

    KIP-320's `fenced_leader_expand_isr` waits until the leader has committed all records of earlier
    epochs. Write an action that also admits followers before that, and loses nothing. The check
    puts it into KIP-320 and explores two and three replicas.
    """
    expect_parameters(answer, "s", "c", "leader", "follower")
    name = "fenced_leader_expand_isr"
    feedback = repair(kip_320.spec.bind(), name, answer, invariants=BOTH)
    if feedback.passed:
        sooner, original = (
            _checked_isr(spec.bind(replicas=2)).distinct
            for spec in (with_action(kip_320.spec, name, answer), kip_320.spec)
        )
        if sooner <= original:
            return wrong("It is safe, and admits nobody sooner than KIP-320's own action does.")
    return feedback
