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
    kip_966                     Kafka as it runs: eligible leader replicas, brokers that restart,
                                and a metadata log that each of them follows at its own pace
    settings                    what settings promise, in an operator's words: atomic decisions, all
                                kinds of faults, the rules that releases differ in

`kip_966` is a package, with a reading order of its own. The two before it, the first two and the
last are whole in their modules. The five in between share their parts: `model` has the constants
and the state, `actions` what several of them do, `properties` what is claimed and what
should eventually happen, `situations` what is worth finding.
`in_real_kafka.md` maps each name to Kafka's code, settings and log lines.

One rule, in each variant
-------------------------

Where does a replica that becomes a follower cut its log off?

    truncate_to_high_watermark  at its own high watermark
    kip_101                     where the leader's log has the end of the follower's last epoch; if
                                the leader does not know that epoch, at its own high watermark
    kip_279                     after the last record that both logs share
    kip_320_first_try           nowhere; later, when a fetch finds that the epochs of records differ
    kip_320                     as kip_279, once the leader leads in the epoch of the request
    unclean_leader_election     after the longest prefix that both logs share
    kip_966                     nowhere; later, where the answer to a fetch says that they diverge
    async_isr                   (nobody becomes a follower)

Who moves the high watermark? A replica that believes it leads, by one record, once every replica
in its own ISR

    before KIP-320              follows it, in whichever epoch, and has any record at that offset
    kip_320_first_try           follows it, and has a record of the same epoch there
    kip_320                     follows it in its own epoch, and has any record there
    async_isr                   has the record, and so has every one in an ISR that it asked for: it
                                is the smallest of their offsets, and nobody writes it down
    unclean_leader_election     has the same record; the ISR is ZooKeeper's and must have min_isr
                                members; looked at when somebody copies or leaves the ISR, and not
                                at a write
    kip_966                     has fetched from beyond the record, and so has everybody in an ISR
                                that it has asked for; its ISR must have min_isr members

Whom may a leader add to the ISR? If the controller has it as its leader, too, a follower that

    before KIP-320              follows it, and has a log that reaches its high watermark
    kip_320_first_try           follows it, and has its epoch just below the high watermark, once
                                all records of earlier epochs are committed
    kip_320                     follows it in its epoch, and reaches the high watermark, once all
                                records of earlier epochs are committed
    async_isr                   reaches the high watermark; the controller decides, by the version
    unclean_leader_election     follows it, and reaches the high watermark and the first record
                                of the leader's epoch
    kip_966                     the same, by its fetches; the controller decides, by the partition
                                epoch and the follower's broker epoch

Who may be elected? In the truncation variants any member of the controller's ISR, at any time. In
unclean_leader_election the first of the ISR, if it is alive; if none is, `election_rule` decides.
In async_isr nobody: its leader stays. In kip_966 any member of the ISR; if it is empty, a member of
the ELR that is not fenced.
"""
