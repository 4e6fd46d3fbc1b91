"""Wrong answers to the exercises of the KRaft notebooks, each with what the check has to say."""

from protocol_lab import HOLDS, members, size

# --- fetching ----------------------------------------------------------------------------------


def nothing_is_promised(s, c):
    return HOLDS


def everybody_has_it(s, c):
    for value in members(s.inv_pos_acked):
        for server in range(1, c.init_cluster_size + 1):
            log = s.log[server]
            if not any(log.items[k].value == value for k in range(log.length)):
                return "somebody lacks an acknowledged value"
    return HOLDS


# --- elections ---------------------------------------------------------------------------------


def half_is_enough(votes, voters):
    return 2 * size(votes) >= size(voters)


def strangers_count(votes, voters):
    return 2 * size(votes & voters) > size(voters)


# --- divergence --------------------------------------------------------------------------------


def by_length(log, end_offset, epoch):
    return min(log.length, end_offset)


def all_later_goes(log, end_offset, epoch):
    return min(end_offset, sum(1 for k in range(log.length) if log.items[k].epoch < epoch))


# --- broken on purpose ---------------------------------------------------------------------------


def always_itself(s, server, offset):
    voters = s.config[server].members
    count = 1
    for member in members(voters):
        if member != server and s.flwr_end_offset[server][member] >= offset:
            count += 1
    return 2 * count > size(voters)


WRONG = {
    "acknowledge_a_value": [
        ("client_request(server=1, value=1)", "no client has been told anything good"),
        (
            "send_fetch_request(server=1, peer=2)",
            "Step 1: send_fetch_request(server=1, peer=2) can't happen here",
        ),
    ],
    "a_majority_has_it": [
        (nothing_is_promised, "It holds after these steps, but should say"),
        (everybody_has_it, "It should hold after these steps, but says"),
    ],
    "elect_the_third": [
        ("send_request_vote(server=3)", "nobody follows server 3"),
        ("become_leader(server=3)", "Step 1: become_leader(server=3) can't happen here"),
    ],
    "what_is_a_majority": [
        (half_is_enough, "you say: won"),
        (strangers_count, "you say: won"),
    ],
    "make_logs_part": [
        ("client_request(server=1, value=1)", "no two logs differ at an offset"),
        ("become_leader(server=2)", "Step 1: become_leader(server=2) can't happen here"),
    ],
    "where_to_cut": [
        (by_length, "of which some must go"),
        (all_later_goes, "of which too many go"),
    ],
    "join_the_cluster": [
        ("start_new_server(host=2, any_leader=1)", "server 2 is no voter, or it is not committed"),
        ("accept_add_voter_request(server=1, add_server=2)", "was never started"),
    ],
    "which_error": [
        (["not_leader"] * 6, "Number 1 is not answered with not_leader"),
        (["not_leader"], "Write a list of six names"),
    ],
    "how_many_disks": [
        ({1: 1, 2: 2, 3: 2}, "With 1 servers and 1 lost disks no value is lost"),
        ({1: None, 2: 2, 3: 3}, "With 3 servers one lost disk fewer is enough"),
        ({1: None, 2: 2}, "Write a dict with the keys 1, 2 and 3"),
    ],
    "count_the_right_servers": [
        (always_itself, "acked_value_not_lost breaks after 4 steps"),
        (lambda s, server: True, "Write a function with the parameters (s, server, offset)"),
    ],
    "refuse_without_a_trace": [
        (lambda s, message: "", "Write a function with the parameters (s, c, message)"),
        (HOLDS, "Give the function itself"),
    ],
}
