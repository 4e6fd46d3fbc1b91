"""Plausible wrong answers to the exercises of notebooks/kafka/01_replication."""

from protocol_lab import HOLDS, NONE

# --- high_watermark_within_the_log -----------------------------------------------------------


def below_the_end(s, c):
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw >= s.replica_log[replica].end_offset:
            return "a high watermark is not below the end of its log"
    return HOLDS


def within_the_room(s, c):
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw > c.log_size:
            return "a high watermark is beyond the room for records"
    return HOLDS


# --- repair_leader_in_isr --------------------------------------------------------------------


def nothing_is_claimed(s, c):
    return HOLDS


def looks_at_the_replicas(s, c):
    for replica in range(1, c.replicas + 1):
        believed = s.replica_state[replica]
        if believed.leader == replica and replica not in s.quorum_state.isr:
            return "a replica that believes it leads is not in the ISR"
    if s.quorum_state.leader == NONE:
        return HOLDS
    return HOLDS


WRONG = {
    "commit_as_a_zombie": [
        (
            """
            controller_elect_leader(new_leader=1)
            become_leader(request=LeaderAndIsrRequest(leader_epoch=0))
            leader_write(replica=1)
            fenced_become_follower_and_truncate(follower=2)
            fenced_follower_fetch(follower=2, leader=1)
            fenced_leader_inc_high_watermark(leader=1)
            """,
            "no deposed leader with two in its ISR has committed",
        ),
        (
            """
            controller_elect_leader(new_leader=1)
            leader_write(replica=1)
            """,
            "Step 2: leader_write(replica=1) can't happen here: the replica does not believe",
        ),
    ],
    "high_watermark_within_the_log": [
        (below_the_end, "It should hold in the initial state"),
        (within_the_room, "should say: a replica's high watermark is beyond the end of its log"),
    ],
    "repair_leader_in_isr": [
        (nothing_is_claimed, "It holds after these steps, but should say: the controller's leader"),
        (looks_at_the_replicas, 'but says "a replica that believes it leads is not in the ISR"'),
    ],
}
