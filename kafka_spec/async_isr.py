"""KIP-497: the leader asks the controller to change the ISR, and does not wait for the answer.

What it models: one partition whose leader never changes. Only the controller writes the ISR, each
time with a new version. The leader sends it requests that name the version they are based on, and
the controller accepts a request only if that version is still the current one; it may also shrink
the ISR by itself. The leader learns of each new ISR by an update, and may miss updates in between.

So leader and controller can see different ISRs. The leader stays on the safe side: until it hears
of a new version, a record is committed only if all that *might* be in the ISR have it, those that
it knows (`isr`) and those that it has asked for (`pending_isr`). The high watermark is the
smallest of their offsets.

What breaks: nothing; valid_high_watermark holds in every configuration that was explored. type_ok
as the original has it is false in the first state (checked only when named).

Its parts are in `isr_changes`: read `model`, then `actions`, then `properties`.

Left out: elections, leader epochs, truncation, and the contents of the logs: a replica's log is
its end offset. The original bounds neither offsets nor versions (its MaxOffset bounds nothing);
max_leader_offset and max_version do, as a constraint.

Source: AsyncIsr.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec.draw.async_isr import draw_async_isr
from kafka_spec.draw.events import CONTROLLER, async_isr_events, async_isr_leader
from kafka_spec.isr_changes import actions, properties, situations
from kafka_spec.isr_changes.model import CONFIGURATIONS, Constants, Replica, State, followers, init
from protocol_lab import Spec

spec = Spec(
    "kafka.async_isr",
    State,
    Constants,
    __doc__,
    draw=draw_async_isr,
    original="AsyncIsr",
    lifelines=(CONTROLLER, Replica),
    events=async_isr_events,
    configurations=CONFIGURATIONS,
)
spec.messages("requests", source=async_isr_leader, dest=CONTROLLER)
spec.messages("updates", source=CONTROLLER, dest=async_isr_leader)
spec.init(init)
spec.symmetric(Replica, among=followers)
spec.action(actions.controller_shrink_isr)
spec.action(actions.controller_handle_request)
spec.action(actions.leader_request_shrink_isr)
spec.action(actions.leader_request_expand_isr)
spec.action(actions.leader_write)
spec.action(actions.leader_handle_update)
spec.action(actions.follower_replicate)
spec.constraint(properties.within_bounds)
spec.invariant(properties.valid_high_watermark)
spec.invariant(properties.type_ok, by_default=False)
spec.step_invariant(properties.high_watermark_never_falls, by_default=False)
spec.sometimes(properties.a_record_is_committed)
spec.sometimes(properties.the_isr_has_grown)
spec.sometimes(properties.a_request_is_stale)
spec.sometimes(properties.the_leader_waits_for_more_than_the_isr)
spec.situation(situations.the_isr_has_one_member)
spec.situation(situations.leader_and_controller_disagree)
spec.situation(situations.a_follower_is_ahead_of_the_high_watermark)
spec.situation(situations.a_committed_record_is_on_one_replica)
spec.situation(situations.an_outsider_holds_the_high_watermark_down)
spec.situation(situations.the_leader_does_not_count_a_member)
