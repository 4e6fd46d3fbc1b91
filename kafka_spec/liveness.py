"""What should eventually happen in the truncation variants, under the originals' fairness.

The originals declare fairness, strong for raising the high watermark, admitting to the ISR and
writing, weak for becoming leader and follower, but all their theorems are invariants. None of
these three properties is in the original.

Nothing makes the controller elect anybody, a follower fetch, or a leader drop a follower that lags.
So a record may be written and never committed.
"""

from kafka_spec.model import *
from protocol_lab import *


def is_leader_informed(s: State, c: Constants) -> bool:
    """Does the leader that the quorum state names, if any, know that it leads?"""
    return s.quorum_state.leader == NONE or is_true_leader(s, s.quorum_state.leader)


def are_all_informed(s: State, c: Constants) -> bool:
    """Does every replica follow that leader, in the epoch in which it leads?"""
    leader = s.quorum_state.leader
    return leader == NONE or all(
        s.replica_state[replica].leader == leader
        and s.replica_state[replica].leader_epoch == s.quorum_state.leader_epoch
        for replica in range(1, c.replicas + 1)
    )


def is_in_a_log(s: State, c: Constants, record) -> bool:
    """Does some replica hold the record of this id?"""
    return any(
        s.replica_log[replica].records[offset].id == record
        for replica in range(1, c.replicas + 1)
        for offset in range(s.replica_log[replica].end_offset)
    )


def is_committed_or_gone(s: State, c: Constants, record) -> bool:
    """Does some leader call the record committed, or is it in no log any more?"""
    return not is_in_a_log(s, c, record) or any(
        s.replica_log[leader].records[offset].id == record
        for leader in range(1, c.replicas + 1)
        if presumes_leadership(s, leader)
        for offset in range(s.replica_state[leader].hw)
        if has_offset(s.replica_log[leader], offset)
    )


def leaders_learn_of_their_election():
    """From some moment on, the controller's leader knows that it leads.

    Epochs are bounded, so there is a last election; its leader must not wait forever.
    """
    return eventually_always(is_leader_informed)


def everybody_learns_who_leads():
    """From some moment on, all replicas are in the epoch of the controller's leader."""
    return eventually_always(are_all_informed)


def records_are_committed_or_truncated(record: Range(0, "max_records - 1")):
    """A record that was written is eventually committed, or in no log any more."""
    return leads_to(is_in_a_log, is_committed_or_gone)


CLAIMS = (
    leaders_learn_of_their_election,
    everybody_learns_who_leads,
    records_are_committed_or_truncated,
)
"""What every variant declares."""
