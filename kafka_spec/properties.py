"""What is claimed of the truncation variants.

A presumed leader is a replica that believes it leads, rightly or not: the leader, or a zombie.

By default the originals' weak_isr, strong_isr and type_ok are checked. `leader_in_isr`, which is
false, is checked only when named, as are the invariants that the originals do not have.

`replication_spec`, at the end, declares all that a variant has besides its own actions: the state,
the pictures, these properties, and the `situations`.

The originals declare fairness, strong for raising the high watermark, admitting to the ISR and
writing, weak for becoming leader and follower, but all their theorems are invariants. None of the
three temporal properties is in the originals. Nothing makes the controller elect anybody, a
follower fetch, or a leader drop a follower that lags. So a record may be written and never
committed.
"""

from kafka_spec import situations
from kafka_spec.draw.choices import REPLICATION
from kafka_spec.draw.events import CONTROLLER, replication_events
from kafka_spec.draw.replication import draw_replication
from kafka_spec.model import *
from protocol_lab import *

# --- What should eventually happen -------------------------------------------------------------


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


# --- Committed records are where they must be --------------------------------------------------


def weak_isr(s: State, c: Constants):
    """Every replica in a presumed leader's own ISR has all that this leader calls committed.

    If it fails, one of these replicas lacks a committed record. Weak, because the next leader is
    elected from the ISR of the quorum state, not from this one.
    """
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in s.replica_state[leader].isr:
                if not holds_committed(s, replica, leader):
                    return "a replica in a leader's own ISR lacks what that leader calls committed"
    return HOLDS


def strong_isr(s: State, c: Constants):
    """Every replica that may be elected has all that any presumed leader calls committed.

    If it fails, a clean election can lose a record that consumers have seen.
    """
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in s.quorum_state.isr:
                if not holds_committed(s, replica, leader):
                    return "a replica in the controller's ISR lacks what a leader calls committed"
    return HOLDS


# --- Every variable has a value of its type ----------------------------------------------------


def type_ok(s: State, c: Constants):
    """Every variable has a value of its type: epochs, offsets, nodes and ids are in range.

    TLC can't evaluate the original's TypeOk, which compares an empty slot (-1) with a record.
    """
    if not 0 <= s.next_record_id <= c.max_records:
        return "the next record id is out of range"
    if not 0 <= s.next_leader_epoch <= c.max_leader_epoch + 1:
        return "the next leader epoch is out of range"
    for replica in range(1, c.replicas + 1):
        if not is_log_well_formed(s.replica_log[replica], c):
            return "a replica's log is malformed"
        if not 0 <= s.replica_state[replica].hw <= c.log_size:
            return "a replica's high watermark is out of range"
        if not is_in_range(s.replica_state[replica], c):
            return "a replica's epoch, leader or ISR is out of range"
    if not is_in_range(s.quorum_state, c):
        return "the quorum state's epoch, leader or ISR is out of range"
    for request in s.leader_and_isr_requests:
        if not is_in_range(request, c):
            return "a request's epoch, leader or ISR is out of range"
    return HOLDS


def is_in_range(names, c) -> bool:
    """Are the epoch, leader and ISR that it names in range?"""
    return (
        NO_EPOCH <= names.leader_epoch <= c.max_leader_epoch
        and NONE <= names.leader <= c.replicas
        and is_subset(names.isr, nodes_up_to(c.replicas))
    )


def is_log_well_formed(log, c) -> bool:
    """Are there records below the end offset, and nothing from there on?"""
    return 0 <= log.end_offset <= c.log_size and all(
        is_record(log.records[offset], c)
        if has_offset(log, offset)
        else log.records[offset] == Record(id=0, epoch=0)
        for offset in range(c.log_size)
    )


def is_record(record, c) -> bool:
    """Are id and epoch in range?"""
    return 0 <= record.id < c.max_records and 0 <= record.epoch <= c.max_leader_epoch


# --- Further invariants, checked when named ----------------------------------------------------


def leader_in_isr(s: State, c: Constants):
    """The quorum state's leader is in its ISR: as the original states it, and false.

    The original claims it as a theorem. But in the initial state there is no leader, and NONE is
    not a member of the ISR: the model checker finds that at once. See leader_in_isr_or_none.
    """
    if s.quorum_state.leader not in s.quorum_state.isr:
        return "the controller's leader, if there is one, is not in its ISR"
    return HOLDS


def leader_in_isr_or_none(s: State, c: Constants):
    """What leader_in_isr must have meant: if there is a leader, it is in the ISR."""
    if s.quorum_state.leader == NONE:
        return HOLDS
    return leader_in_isr(s, c)


def hw_within_log(s: State, c: Constants):
    """No replica's high watermark is beyond the end of its log."""
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw > s.replica_log[replica].end_offset:
            return "a replica's high watermark is beyond the end of its log"
    return HOLDS


def presumed_leader_in_own_isr(s: State, c: Constants):
    """A replica that believes it leads counts itself as in sync."""
    for replica in range(1, c.replicas + 1):
        if presumes_leadership(s, replica) and not is_in_isr(s, replica, replica):
            return "a presumed leader is not in its own ISR"
    return HOLDS


def isr_non_empty(s: State, c: Constants):
    """The quorum state's ISR has a member. False: while there is no leader it can be emptied.

    Then nobody can ever be elected, an artefact of the model: Kafka keeps the last member of the
    ISR, or remembers it as an eligible leader replica (KIP-966).
    """
    return "nobody is in the controller's ISR" if s.quorum_state.isr == 0 else HOLDS


# --- What every variant declares ---------------------------------------------------------------


def replication_spec(
    name: str,
    meaning: str | None,
    *,
    original: str = "",
    tlc: str = "",
    configurations: tuple[Configuration, ...] = (),
    constants: type = Constants,
) -> Spec:
    """A spec with all that the variants share. The variant registers its actions, and fairness.

    original: the TLA+ module that it restates, if any. tlc: the module with what only a comparison
    with TLC needs. configurations: the first is the default. constants: those of `model`, or more.
    """
    spec = Spec(
        f"kafka.{name}",
        State,
        constants,
        meaning,
        draw=draw_replication,
        original=original,
        tlc=tlc,
        lifelines=(CONTROLLER, Replica),
        events=replication_events,
        choices=REPLICATION,
        configurations=configurations,
        decisions=("controller_elect_leader", "controller_shrink_isr"),
    )
    spec.init(init)
    spec.symmetric(Replica)
    for invariant in (weak_isr, strong_isr, type_ok):
        spec.invariant(invariant)
    for invariant in (
        *(leader_in_isr, leader_in_isr_or_none, hw_within_log),
        *(presumed_leader_in_own_isr, isr_non_empty),
    ):
        spec.invariant(invariant, by_default=False)
    for claim in CLAIMS:
        spec.property(claim)
    for situation in situations.EXPECTED:
        spec.situation(situation, expected=True)
    for situation in situations.SITUATIONS:
        spec.situation(situation)
    return spec
