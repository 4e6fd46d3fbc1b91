"""Replication in Kafka: one spec a module.

    id_sequence                 ids and leader epochs are handed out one by one
    finite_replicated_log       a log on each replica, and no rules yet

    truncate_to_high_watermark  before KIP-101: a new follower truncates to its high watermark
    kip_101                     it asks the leader where its last epoch ends
    kip_279                     it looks for the last record that it shares with the leader
    kip_320_first_try           rejected: fetches compare the epochs of records
    kip_320                     the leader epoch fences fetches, ISR changes and truncation

    async_isr                   KIP-497: the leader asks the controller to change the ISR
    unclean_leader_election     a meetup talk: who may lead when nobody of the ISR is alive

The parts of the larger ones: `replication` has what the five truncation variants share,
`isr_changes` the parts of async_isr, `leader_election` those of unclean_leader_election. In each,
`model` has the constants and the state, `actions` what happens, `properties` what is claimed,
`situations` what is worth finding. `bounded_log` has what every replica's log can do.
`in_real_kafka.md` maps each name to Kafka's code, settings and log lines.
"""
