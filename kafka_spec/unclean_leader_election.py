"""The talk: is the alive replica with the latest offset a safe unclean leader?

What it models: one partition whose ISR can shrink to a single replica, which then dies. Nobody of
the ISR is left, so a leader has to be found outside of it (an unclean election) or the partition
stays offline. `election_rule` says how one is found:

- latest_offset, the talk's idea: the alive replica whose last record is of the latest leader
  epoch, and among those the one with the longest log;
- first_alive, Kafka's rule that the talk starts with (slides 30-31; the original does not have
  it): the first alive replica of the replica list, which is in the order of the replicas' numbers.
  This is simplified: in Kafka the preferred leader is the first of the list, so that
  swap_preferred_leader would reorder it, and here it does not;
- eligible_leader_replicas, what Kafka got instead (KIP-966; the original does not have it):
  whoever leaves the ISR in the change that takes it below min_isr, or later, is remembered in
  `zk_state.eligible`, and one of these may be elected when the ISR is empty; even its last member
  may leave it.

Leaders change at once, for all who look into `zk_state`. Only followers lag: after each election a
replica must become a follower (truncate) before it fetches.

Its parts are in `leader_election`: read `model`, then the five modules of `actions`, then
`properties`.

What breaks: committed_messages_never_lost. first_alive loses a committed message in 7 steps.
latest_offset survives that story (slides 32-34), but not all stories: a message that was copied
but never committed may have a later epoch than a committed one at the same offset. With min_isr=2
the shortest such loss takes 15 steps, those of slides 46-56; with min_isr=1, 5 steps.

Simplified: a leader whose ISR is smaller than min_isr still appends, and only does not commit.
Kafka refuses such a write with acks=all (NotEnoughReplicasException).

Left out: writes with other acks than all; more than one request in flight from a producer; deaths
of other replicas than `unstable_replica`; lost disks; deposed leaders that do not know it.

Offsets: the original counts from 1 and stores them in the messages; here they are the positions.
Slides and pictures count from 0.

The third rule loses nothing within the default bounds, with min_isr=1, 2 or 3. Nor does it cost
anything while min_isr is 2 or more: as only one replica dies, an eligible one is always alive. With
min_isr=1 the only eligible replica may be the dead one: 4,938 of 134,220 states are offline where
latest_offset would elect a replica (elects_where_latest_offset_would). The rule is simplified:
every replica keeps its log, so nobody stops being eligible because of an unclean restart, and
Kafka's last resort after that, the last known leader, is not needed.

Source: UncleanLeaderElectionSafety.tla by Haruki Okada (LINE),
https://github.com/ocadaruma/kafka-spec; KIP-966 for the third rule.
"""

from kafka_spec.draw.events import ZOOKEEPER, unclean_election_events
from kafka_spec.draw.unclean import draw_unclean_leader_election
from kafka_spec.leader_election import properties, situations
from kafka_spec.leader_election.actions import (
    clean_elections,
    failures,
    isr_membership,
    messages,
    unclean_elections,
)
from kafka_spec.leader_election.model import (
    CONFIGURATIONS,
    Constants,
    Producer,
    Replica,
    State,
    init,
)
from protocol_lab import Spec

spec = Spec(
    "kafka.unclean_leader_election",
    State,
    Constants,
    __doc__,
    draw=draw_unclean_leader_election,
    original="UncleanLeaderElectionSafety",
    lifelines=(ZOOKEEPER, Replica, Producer),
    events=unclean_election_events,
    configurations=CONFIGURATIONS,
)
spec.init(init)
spec.action(messages.produce_message)
spec.action(messages.replicate)
spec.action(isr_membership.become_out_of_sync)
spec.action(isr_membership.become_in_sync)
spec.action(failures.leader_failure)
spec.action(clean_elections.elect_new_leader)
spec.action(failures.failed_replica_back)
spec.action(clean_elections.swap_preferred_leader)
spec.action(clean_elections.become_follower)
spec.action(failures.unstable_replica_dies_when_leader)
spec.action(failures.unstable_replica_dies_when_follower)
spec.action(clean_elections.preferred_leader_election)
spec.action(unclean_elections.unclean_leader_election_choose_latest_offset)
spec.action(unclean_elections.unclean_leader_election_choose_first_alive)
spec.action(unclean_elections.elect_eligible_leader_replica)
spec.constraint(properties.within_bounds)
spec.invariant(properties.committed_messages_never_lost)
spec.invariant(properties.elects_where_latest_offset_would, by_default=False)
spec.sometimes(properties.a_further_message_is_committed)
spec.sometimes(properties.the_isr_is_down_to_one)
spec.sometimes(properties.the_isr_has_its_dead_member_back)
spec.sometimes(properties.nobody_of_the_isr_is_alive)
spec.sometimes(properties.a_deposed_leader_has_other_messages)
spec.situation(situations.the_isr_has_one_member)
spec.situation(situations.the_partition_is_offline)
spec.situation(situations.a_follower_is_ahead_of_its_leader)
spec.situation(situations.two_equally_long_logs_disagree)
spec.situation(situations.one_alive_replica_holds_all_that_is_committed)
spec.situation(situations.the_latest_offset_misleads)
