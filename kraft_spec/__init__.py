"""KRaft, Kafka's Raft: the metadata quorum, with the reconfiguration of KIP-853.

In reading order:

- kip_853: what it models, what it leaves out, what breaks; its actions in the original's order
- constants, model: sizes, bounds and broken rules; the state, the messages, the links
- actions: what servers, clients and the network do
- properties, liveness: what is claimed
- situations, challenges, exercises, scenarios: what to look for
- kip_853_with_requests, kip_853_with_end_quorum_epoch, kip_853_with_empty_disks,
  kip_853_disk_replacement: variants, with what the original's prose describes and its actions lack
- kip_996, pre_vote: KRaft as it runs since Kafka 4.0, with pre-vote
- draw: the picture and the sequence diagram
- tlc: what only comparisons with TLC need
- in_real_kraft.md: the model and Kafka's own KRaft, setting by setting

The rules side by side, each with the function that has it, and what happens without it:

    who may stand for election     a voter, for itself, that is in its own configuration
                                   (send_request_vote)
    who may vote                   whoever has its disk, an observer too: it may be a voter without
                                   knowing (handle_vote_request)
                                   With pre-vote (kip_996) who times out asks first, and stands
                                   only if a majority would vote for it: no leader does, nor a
                                   follower that has fetched from its leader (would_vote;
                                   pre_vote_off: a healthy leader is deposed, 6 states;
                                   pre_vote_without_fetch_rule: 9 states)
    for whom                       for one candidate in an epoch (is_free_to_vote), whose log ends
                                   at least as far on as its own (is_log_good_enough;
                                   vote_without_log_check: a committed value is lost, 11 states)
    who leads                      who has the votes of more than half of its own configuration
                                   (become_leader, is_majority)
    who must step down             who hears of a later epoch (maybe_transition); a leader that
                                   commits its own removal (commit_up_to), or that no majority
                                   fetches from any more (check_quorum_resign)
    who advances the high          a leader, when it answers the fetch of a voter
    watermark                      (accept_fetch_request_from_voter), and a follower by the answer
                                   (learn_high_watermark)
    how far                        to where more than half of its configuration is, itself only if
                                   it is in it (is_held_by_quorum; removed_leader_counts_itself:
                                   an acknowledged value is lost, 5 states), and only to an entry
                                   of its own epoch (new_high_watermark; hwm_over_earlier_epoch:
                                   figure 8 of the Raft paper, 23 states)
    who is a voter                 who is in the last configuration of its own log, committed or
                                   not (switch_configuration); for a leader: of the leader's log
    who may change that            a leader, one voter at a time, when the last change and an entry
                                   of its own epoch are committed (reconfiguration_error;
                                   reconfigure_before_own_commit: logs diverge, 30 states)
    whose fetch is answered        an observer's, and that of a voter in the leader's configuration;
                                   no other voter's (accept_fetch_request_from_voter;
                                   fetch_outside_configuration has two other rules)
    what survives a restart        log, epoch, vote, leader, role and configuration; not the high
                                   watermark (restart_with_state)
    who a server is                its number: a host with a new disk gets a new one
                                   (crash_lose_state, kip_853_with_empty_disks)

The figures are the lengths of counterexamples in states; README, scenarios and golden runs have
them. Those of 23 and 30 states are hand-made, not proved shortest.
"""

TITLE = "KRaft"
