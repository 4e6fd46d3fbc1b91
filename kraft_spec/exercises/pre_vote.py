"""The exercises of notebooks/kraft/12_how_many_controllers_may_fail: who says yes to a pre-vote,
and how many disks may be lost?"""

from dataclasses import replace

from kraft_spec import kip_853, kip_996
from kraft_spec.actions.elections import is_log_good_enough
from kraft_spec.actions.replication import why_not_answer
from kraft_spec.actions.server_states import fail_pending_writes
from kraft_spec.model import pair
from kraft_spec.pre_vote.elections import answer_vote_request, may_vote_for, vote_error
from kraft_spec.pre_vote.model import Constants, State, forget_fetches
from kraft_spec.pre_vote.server_states import add_vote, transition_to_unattached
from kraft_spec.situations import a_later_leader
from protocol_lab import *
from protocol_lab.model.spec import Property, Situation
from protocol_lab.teaching.exercises import *

spec = kip_996.spec

# --- Who says yes --------------------------------------------------------------------------------

AWAY = {"max_connectivity_changes": 2, "max_perm_crashes": 0}
"""The links may go down and come back."""


def only_server_3_is_away(s: State, c: Constants):
    """Servers 1 and 2 are connected all the time, and server 3 with both or with none."""
    if pair(1, 2) not in s.net_connectivity:
        return "servers 1 and 2 are not connected"
    if (pair(1, 3) in s.net_connectivity) != (pair(2, 3) in s.net_connectivity):
        return "server 3 is connected with one other server"
    return HOLDS


def with_answer(would_vote):
    """The action that answers vote requests, with another rule for pre-votes."""

    def handle_vote_request(s, c, message):
        server = message.dest
        reason = why_not_answer(s, message)
        if reason:
            return reason
        error = vote_error(s, message)
        grants = False
        if error == "nil":
            state = s.state[server]
            if message.epoch > s.current_epoch[server]:
                transition_to_unattached(s, c, server, message.epoch)
            if message.pre_vote:
                grants = would_vote(s, server) and is_log_good_enough(s, c, server, message)
            else:
                grants = may_vote_for(s, c, server, message)
            if grants and not message.pre_vote:
                add_vote(s, c, server, message.source)
            if s.state[server] != state:
                forget_fetches(s, server)
                fail_pending_writes(s, server)
        answer_vote_request(s, message, grants, error)
        return TAKEN

    return handle_vote_request


def unless_it_hears_from_a_leader(s, server):
    if s.state[server] == "leader":
        return False
    return s.state[server] != "follower" or not s.has_fetch_success[server]


@exercise(
    hints=[
        '`s.state[server]` is one of "unattached", "follower", "prospective", "candidate",'
        ' "leader" and "resigned". Which of them have heard from a leader?',
        "A prospective still knows its leader, and yet it has given it up. If it refused, two"
        " servers that have both noticed would refuse each other.",
        "A follower is the only one that has to look further: `s.has_fetch_success[server]` says"
        " whether a fetch was answered since it follows.",
    ],
    answer=unless_it_hears_from_a_leader,
    why="A server that hears from a leader refuses: a leader, and a follower from the first"
    " answered fetch on. A rule by which no follower ever says yes passes as well; then a follower"
    " whose leader died before its first answer has to time out before it can help another. Kafka"
    " 4.x has the flag in `FollowerState` (`hasFetchedFromLeader`).",
)
def who_says_yes(answer) -> Feedback:
    """Who says yes?

    Write `would_vote(s, server)`: does the server, as it is now, grant a pre-vote to a server whose
    log is good enough? The check puts it into the protocol twice. A server that was away must not
    depose the leader: `leader_stays`. And when the leader has lost its disk, it must still be
    possible to elect another one.
    """
    expect_parameters(answer, "s", "server")
    action = with_answer(answer)
    away = replace(
        spec,
        constraints=[*spec.constraints, Property(only_server_3_is_away)],
        situations=[],
    )
    feedback = repair(away.bind(**AWAY), "handle_vote_request", action, invariants=["leader_stays"])
    if not feedback.passed:
        return feedback
    gone = replace(spec, situations=[Situation(a_later_leader, expected=True)])
    model = gone.bind(max_messages_in_flight=2)
    feedback = repair(model, "handle_vote_request", action, invariants=["election_safety"])
    if feedback.passed or feedback.walk:
        return feedback
    stays = "The leader stays. But when its disk is lost, nobody replaces it. "
    return replace(feedback, text=stays + feedback.text)


def losing(servers: int, disks: int):
    """So many servers in one epoch, of which so many may lose their disks."""
    model = kip_853.spec.bind(
        init_cluster_size=servers,
        min_cluster_size=1,
        max_cluster_size=servers,
        hosts=servers,
        max_spawned_servers=servers,
        max_epoch=1,
        max_crashes=disks,
        max_disconnected_pairs=servers * (servers - 1) // 2,
        single_voter_commit_fixed=True,  # as in Kafka
    )
    return run(model, invariants=["acked_value_not_lost"])


@exercise(
    hints=[
        "An acknowledged value is in the logs of a majority, and perhaps of nobody else.",
        "So all of a smallest majority must go. How large is that with two servers?",
    ],
    answer={1: 1, 2: 2, 3: 2},
    why="As many as a majority has servers: all of some majority must go.",
)
def how_many_disks(answer) -> Feedback:
    """How many disks?

    Write a dict: for clusters of 1, 2 and 3 servers the smallest number of servers that have to
    lose their disks, so that an acknowledged value can be lost. The check explores each with that
    number, and with one fewer.
    """
    if not isinstance(answer, dict) or set(answer) != {1, 2, 3}:
        return wrong("Write a dict with the keys 1, 2 and 3.")
    if not all(isinstance(each, int) and 1 <= each <= 9 for each in answer.values()):
        return wrong("The values are numbers from 1 on.")
    steps = {}
    for servers, disks in answer.items():
        found = losing(servers, disks)
        if not found.violated:
            return wrong(f"Cluster size {servers}, lost disks {disks}: no value is lost.")
        if disks > 1 and losing(servers, disks - 1).violated:
            return wrong(f"Cluster size {servers}: one lost disk fewer is enough.")
        steps[servers] = len(found.trace)
    shown = ", ".join(f"{count} with {servers}" for servers, count in steps.items())
    return right(f"Steps of the shortest counterexample: {shown} servers.")
