"""Wrong answers to the exercises of the KRaft notebooks, each with what the check has to say."""

from protocol_lab import HOLDS, NONE

# --- fetching ----------------------------------------------------------------------------------


def nothing_is_promised(s, c):
    return HOLDS


def everybody_has_it(s, c):
    for value in s.inv_pos_acked:
        for server in range(1, c.init_cluster_size + 1):
            if not any(entry.value == value for entry in s.log[server]):
                return "somebody lacks an acknowledged value"
    return HOLDS


# --- elections ---------------------------------------------------------------------------------


def half_is_enough(votes, voters):
    return 2 * len(votes) >= len(voters)


def strangers_count(votes, voters):
    return 2 * len(votes & voters) > len(voters)


# --- divergence --------------------------------------------------------------------------------


def by_length(log, end_offset, epoch):
    return min(len(log), end_offset)


def all_later_goes(log, end_offset, epoch):
    return min(end_offset, sum(1 for entry in log if entry.epoch < epoch))


# --- broken on purpose ---------------------------------------------------------------------------


def always_itself(s, server, offset):
    voters = s.config[server].members
    count = 1
    for member in voters:
        if member != server and s.flwr_end_offset[server][member] >= offset:
            count += 1
    return 2 * count > len(voters)


# --- asking first ------------------------------------------------------------------------------


def whoever_asks(s, server):
    return True


def whoever_knows_no_leader(s, server):
    return s.leader[server] == NONE


# --- what Kafka ships ----------------------------------------------------------------------------


def anybody(s, leader, server):
    return True


def has_more_than_is_committed(s, leader, server):
    return len(s.log[server]) > s.hwm[leader]


def as_soon_as_it_is_appended(s, leader):
    return True


def once_all_values_are_committed(s, leader):
    return s.hwm[leader] > len(s.log[leader])


def whoever_is_dead(s, server, voter):
    return s.state[voter] == "dead_no_state"


def another_host(s, server, voter):
    return s.server_ids[server].host != s.server_ids[voter].host and s.role[server] == "voter"


def always(s, leader, message):
    return True


def never(s, leader, message):
    return False


WRONG = {
    "a_majority_has_it": [
        (nothing_is_promised, "It holds after these steps, but should say"),
        (everybody_has_it, "It should hold after these steps, but says"),
    ],
    "what_is_a_majority": [(half_is_enough, "you say: won"), (strangers_count, "you say: won")],
    "where_to_cut": [
        (by_length, "of which some must go"),
        (all_later_goes, "of which too many go"),
    ],
    "which_error": [
        (["not_leader"] * 6, "Number 1 is not answered with not_leader"),
        (["not_leader"], "Write a list of six names"),
    ],
    "how_many_disks": [
        ({1: 1, 2: 1, 3: 2}, "Cluster size 2, lost disks 1: no value is lost"),
        ({1: 1, 2: 2, 3: 3}, "Cluster size 3: one lost disk fewer is enough"),
        ({1: 1, 2: 2}, "Write a dict with the keys 1, 2 and 3"),
    ],
    "count_the_right_servers": [
        (always_itself, "acked_value_not_lost breaks after 4 steps"),
        (lambda s, server: True, "Write a function with the parameters (s, server, offset)"),
    ],
    "refuse_without_a_trace": [
        (lambda s, message: "", "Write a function with the parameters (s, c, message)"),
        (HOLDS, "Give the function itself"),
    ],
    "who_says_yes": [
        (whoever_asks, "leader_stays breaks after 8 steps"),
        (whoever_knows_no_leader, "never: a server leads in a later epoch than the first"),
    ],
    "who_has_caught_up": [
        (anybody, "a_new_voter_has_what_is_committed breaks after 2 steps"),
        (has_more_than_is_committed, "never: a second server is a voter"),
    ],
    "when_to_answer": [
        (as_soon_as_it_is_appended, "an_answer_is_kept breaks after"),
        (once_all_values_are_committed, "never: the administrator is told that a voter is removed"),
    ],
    "who_makes_room": [
        (whoever_is_dead, "a voter is removed whose place nobody takes"),
        (another_host, "accept_remove_voter_request never happens"),
    ],
    "what_a_fetch_waits_for": [
        (always, "a follower does not know what is committed"),
        (never, "An answer brings neither an entry nor a later high watermark"),
    ],
}
