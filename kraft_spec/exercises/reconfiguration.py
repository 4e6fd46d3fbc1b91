"""The exercise of notebooks/kraft/14_which_rules_does_kafka_add on errors: which, and when?"""

from kraft_spec import kip_853
from kraft_spec.actions.cluster import add_voter_check, remove_voter_check
from kraft_spec.model import Error
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
