"""What every truncation variant declares besides its own actions."""

from kafka_spec.draw.events import CONTROLLER, replication_events
from kafka_spec.draw.replication import draw_replication
from kafka_spec.replication import additional_properties, liveness, properties, situations
from kafka_spec.replication.model import Constants, Replica, State, init
from protocol_lab import Configuration, Spec


def replication_spec(
    name: str, meaning: str, *, original: str, configurations: tuple[Configuration, ...]
) -> Spec:
    """A spec without actions: the state, the constants, the initial state and the pictures."""
    spec = Spec(
        f"kafka.{name}",
        State,
        Constants,
        meaning,
        draw=draw_replication,
        original=original,
        lifelines=(CONTROLLER, Replica),
        events=replication_events,
        configurations=configurations,
    )
    spec.init(init)
    spec.symmetric(Replica)
    return spec


def declare_rest(spec: Spec) -> None:
    """Declare the properties and the situations."""
    spec.invariant(properties.weak_isr)
    spec.invariant(properties.strong_isr)
    spec.invariant(properties.type_ok)
    spec.invariant(properties.leader_in_isr, by_default=False)
    spec.invariant(additional_properties.leader_in_isr_or_none, by_default=False)
    spec.invariant(additional_properties.hw_within_log, by_default=False)
    spec.invariant(additional_properties.presumed_leader_in_own_isr, by_default=False)
    spec.invariant(additional_properties.isr_non_empty, by_default=False)
    spec.sometimes(additional_properties.a_record_is_committed)
    spec.sometimes(additional_properties.the_isr_has_shrunk)
    spec.sometimes(additional_properties.the_isr_has_grown)
    spec.sometimes(additional_properties.a_zombie_leads)
    spec.sometimes(additional_properties.logs_diverge)
    spec.property(liveness.leaders_learn_of_their_election)
    spec.property(liveness.everybody_learns_who_leads)
    spec.property(liveness.records_are_committed_or_truncated)
    spec.situation(situations.the_isr_has_one_member)
    spec.situation(situations.two_replicas_lead)
    spec.situation(situations.two_replicas_lead_in_one_epoch)
    spec.situation(situations.a_follower_is_ahead_of_its_leader)
    spec.situation(situations.two_logs_disagree)
    spec.situation(situations.a_follower_does_not_know_what_is_committed)
    spec.situation(situations.a_committed_record_is_on_one_replica)
    spec.situation(situations.the_elected_leader_lacks_a_committed_record)
    spec.situation(situations.a_record_is_left_over)
