"""The exercises of notebooks/kraft/14_which_rules_does_kafka_add: which error and when, and where
to cut a log."""

from itertools import product
from types import SimpleNamespace

from kraft_spec import kip_853
from kraft_spec.actions.cluster import add_voter_check, remove_voter_check
from kraft_spec.actions.replication import end_offset_for_epoch, epoch_at, highest_common_offset
from kraft_spec.model import Error
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = kip_853.spec


# --- Errors ------------------------------------------------------------------------------------

CHANGING = {
    "init_cluster_size": 3,
    "min_cluster_size": 1,
    "max_cluster_size": 4,
    "hosts": 3,
    "max_spawned_servers": 4,
    "max_epoch": 2,
    "max_add_reconfigs": 1,
    "max_remove_reconfigs": 2,
}

NEW_LEADER = """
    send_request_vote(server=2)
    handle_vote_request(message=RequestVoteRequest(dest=3))
    handle_vote_response(message=RequestVoteResponse(dest=2))
    become_leader(server=2)
"""

REQUESTS = [
    ("", "add", 1, 2),
    ("", "remove", 2, 3),
    ("", "remove", 1, 4),
    ("accept_remove_voter_request(server=1, remove_server=3)", "remove", 1, 2),
    ("accept_remove_voter_request(server=1, remove_server=3)", "remove", 1, 3),
    (NEW_LEADER, "remove", 2, 1),
]
"""What has happened, the request, who gets it, and whom it is about."""


def error_of(steps: str, request: str, server: int, about: int) -> str:
    """The error that the request gets after these steps; "" if it is accepted."""
    walk = take_steps(spec.bind(**CHANGING), f"start_new_server(host=1, any_leader=1)\n{steps}")
    check = add_voter_check if request == "add" else remove_voter_check
    return check(walk.state, walk.model.constants, server, about).replace("nil", "")


@exercise(
    hints=[
        "The checks come in this order: does the server lead? Is the other one a voter already (or"
        " none)? Is the last command committed? Has the leader committed anything in its epoch?",
        "The first check that fails gives the error.",
        "Server 3 leaves server 1's configuration as soon as the command is appended, and not when"
        " it is committed.",
    ],
    answer=[
        "already_member",
        "not_leader",
        "unknown_member",
        "reconfig_in_progress",
        "unknown_member",
        "leader_not_ready",
    ],
    why="The original calls the third one UnknownMember, its document NotMember, and Kafka answers"
    " with VOTER_NOT_FOUND. The order matters: of two errors the first is named.",
)
def which_error(answer) -> Feedback:
    """Which error?

    Three voters, server 1 leads, and server 4 has just been started. Write a list of six names:
    the errors that these requests get.

    1. to server 1: add server 2
    2. to server 2: remove server 3
    3. to server 1: remove server 4
    4. to server 1, which has just appended the removal of server 3: remove server 2
    5. to the same server 1: remove server 3
    6. to server 2, just elected with the vote of server 3: remove server 1

    The names are not_leader, already_member, unknown_member, reconfig_in_progress and
    leader_not_ready.
    """
    known = set(Error.names[1:])
    if not isinstance(answer, list) or len(answer) != len(REQUESTS) or not set(answer) <= known:
        return wrong("Write a list of six names out of those that the task lists.")
    for number, (said, request) in enumerate(zip(answer, REQUESTS), 1):
        if said != error_of(*request):
            return wrong(f"Number {number} is not answered with {said}.")
    return right("All six, as the model answers them.")


def as_log(epochs: tuple[int, ...]) -> list[SimpleNamespace]:
    """A log of which only the epochs matter."""
    return [SimpleNamespace(epoch=epoch) for epoch in epochs]


def logs_of(most: int, epochs: int) -> list[tuple[int, ...]]:
    """Every log of up to so many entries, with epochs that never fall."""
    return [
        log
        for length in range(1, most + 1)
        for log in product(range(1, epochs + 1), repeat=length)
        if list(log) == sorted(log)
    ]


def can_meet(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Can one cluster have both logs? An epoch has one leader, who begins at one place."""
    return all(
        epoch not in one
        or epoch not in other
        or one[: one.index(epoch)] == other[: other.index(epoch)]
        for epoch in (1, 2, 3)
    )


def keep(log, end_offset, epoch):
    kept = 0
    for offset in range(1, len(log) + 1):
        mine = log[offset - 1].epoch
        if mine < epoch or (mine == epoch and offset <= end_offset):
            kept = offset
    return kept


@exercise(
    hints=[
        "The leader says: up to my epoch `epoch` I have `end_offset` entries. What of yours can't"
        " be in its log?",
        "An entry of a later epoch than that can't be. Nor can one of just that epoch, beyond the"
        " end.",
        "An entry of an earlier epoch may stay: if it is wrong, the next fetch will say so.",
    ],
    answer=keep,
    why="One answer need not be enough: an entry of an earlier epoch stays although the leader may"
    " lack it, and the next fetch brings another diverging answer. Each one cuts off at least one"
    " epoch, so it ends. Offsets are counted from 1 here, as in the original.",
)
def where_to_cut(answer) -> Feedback:
    """Where does the follower cut?

    The leader has answered that its log holds `end_offset` entries up to and including epoch
    `epoch`. Write `keep(log, end_offset, epoch)`: how many of its entries the follower keeps.
    There are `len(log)` entries; the first is `log[0]`, with its `.epoch`. The check lets a
    follower fetch from a leader, for every pair of logs of up to four entries in three epochs
    that one cluster can have.
    """
    expect_parameters(answer, "log", "end_offset", "epoch")
    pairs, most = 0, 0
    for mine, theirs in product(logs_of(4, 3), repeat=2):
        if mine[0] != theirs[0] or not can_meet(mine, theirs):
            continue
        rounds, log = 0, mine
        while log[: len(theirs)] != theirs[: len(log)]:
            leader = as_log(theirs)
            end = end_offset_for_epoch(leader, log[-1])
            told = (end, epoch_at(leader, end))
            kept, expected = answer(as_log(log), *told), highest_common_offset(as_log(log), *told)
            if kept != expected:
                return wrong(
                    f"The follower's epochs are {log}, the leader's {theirs}. It is told"
                    f" {told[0]} entries up to epoch {told[1]}: you keep {kept}, of which"
                    + (" some must go." if kept > expected else " too many go.")
                )
            log, rounds = log[:kept], rounds + 1
        pairs, most = pairs + 1, max(most, rounds)
    return right(f"All {pairs:,} pairs of logs agree eventually, after {most} answers at most.")
