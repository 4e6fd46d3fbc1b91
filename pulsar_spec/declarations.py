"""What every variant of compaction declares besides its own actions."""

from collections.abc import Callable

from protocol_lab import Configuration, Spec
from pulsar_spec import liveness, properties, situations
from pulsar_spec.actions import reading_consumer
from pulsar_spec.draw.compaction import draw_compaction
from pulsar_spec.draw.events import LIFELINES, compaction_events
from pulsar_spec.model import Constants, State, init


def compaction_spec(
    name: str,
    meaning: str,
    *,
    state: type[State] = State,
    draw: Callable[..., str] = draw_compaction,
    original: str = "",
    configurations: tuple[Configuration, ...],
) -> Spec:
    """A spec of this name without actions: state, constants, initial states and pictures."""
    spec = Spec(
        f"pulsar.{name}",
        state,
        Constants,
        meaning,
        draw=draw,
        original=original,
        lifelines=LIFELINES,
        events=compaction_events,
        configurations=configurations,
    )
    spec.init(init)
    return spec


def declare_rest(spec: Spec) -> None:
    """Declare the consumer that reads, the properties and the situations."""
    spec.action(reading_consumer.consumer_connects)
    spec.action(reading_consumer.consumer_receives)
    spec.action(reading_consumer.consumer_finishes)
    spec.invariant(properties.ends_with_latest_values)
    spec.invariant(properties.deleted_keys_stay_deleted)
    spec.invariant(properties.null_key_message_received_once)
    spec.invariant(properties.type_safe)
    spec.invariant(properties.compacted_ledger_leak)
    spec.invariant(properties.compaction_horizon_correctness)
    spec.invariant(properties.duplicate_null_key_message)
    spec.property(liveness.termination)
    spec.invariant(properties.between_compactions_one_ledger_exists, by_default=False)
    spec.sometimes(properties.everything_ends)
    spec.sometimes(properties.a_message_is_compacted_away)
    spec.situation(situations.a_crash_would_take_consumers_back)
    spec.situation(situations.the_ledger_reaches_beyond_the_horizon)
    spec.situation(situations.a_ledger_is_left_over)
    spec.situation(situations.a_ledger_is_empty)
    spec.situation(situations.one_message_stands_for_all)
    spec.situation(situations.the_consumers_ledger_was_deleted)
    spec.situation(situations.the_consumer_was_spared_a_message)
