"""The exercises of notebooks/kraft/02_elections: win one, and what it takes."""

from kraft_spec import kip_853
from kraft_spec.challenges import THREE_SERVERS
from kraft_spec.constants import Constants
from kraft_spec.model import Server, State
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = kip_853.spec


# --- Win ---------------------------------------------------------------------------------------


def third_is_followed(s: State, c: Constants) -> bool:
    """Does server 3 lead, and does another server follow it?"""
    return s.state[3] == "leader" and any(
        s.state[server] == "follower" and s.leader[server] == 3 for server in (1, 2)
    )


@exercise(
    hints=[
        "A voter need not ask anybody before it holds an election.",
        "One vote besides its own is enough.",
        "A follower follows from the moment when it hears of its leader, not when it has voted.",
    ],
    answer="""
        send_request_vote(server=3)
        handle_vote_request(message=RequestVoteRequest(dest=2))
        handle_vote_response(message=RequestVoteResponse(dest=3))
        become_leader(server=3)
        accept_begin_quorum_request(message=BeginQuorumEpochRequest(dest=2))
    """,
    why="Ask, vote, count, lead, tell. Server 1 believes all the time that it leads, in epoch 1;"
    " nobody has told it otherwise, and nobody has to.",
)
def elect_the_third(answer) -> Feedback:
    """Elect server 3.

    Three servers, server 1 leads in epoch 1. Write the steps, one a line, after which server 3
    leads and at least one other server follows it. Par is computed by the check.
    """
    model = spec.bind(**THREE_SERVERS, max_epoch=2)
    walk = take_steps(model, answer)
    if not third_is_followed(walk.state, model.constants):
        return wrong("At the end of your steps nobody follows server 3 as its leader.", walk)
    return against_par(len(walk.steps), shortest_path(model, third_is_followed), "Elected")


# --- Majorities --------------------------------------------------------------------------------


def more_than_half(votes: NodeSet(Server), voters: NodeSet(Server)) -> bool:
    return is_subset(votes, voters) and 2 * len(votes) > len(voters)


@exercise(
    hints=[
        "Both are sets of servers: `len(votes)` counts, `for server in votes` goes through them,"
        " `server in voters` asks.",
        "Half of four is no majority: two candidates could have it at the same time.",
        "A vote may come from a server that is no voter in the candidate's configuration (any"
        " more). What is it worth?",
    ],
    answer=more_than_half,
    why="More than half, so that two majorities of the same voters have somebody in common, who"
    " votes once in an epoch. The original asks for a subset of the voters: with a stranger among"
    " the votes there is no majority at all, even if the rest would do.",
)
def what_is_a_majority(answer) -> Feedback:
    """Who has won?

    Write `has_won(votes, voters)` for two sets of servers: true if the votes are a quorum of these
    voters, as the original defines it: a subset of the voters that is more than half of them. The
    check tries all sets of up to five servers.
    """
    expect_parameters(answer, "votes", "voters")
    groups = list(subsets(nodes_up_to(5)))
    for voters in groups[1:]:
        for votes in groups:
            if bool(answer(votes, voters)) != more_than_half(votes, voters):
                said = "won" if answer(votes, voters) else "lost"
                shown = [set(each) or "nobody" for each in (votes, voters)]
                return wrong(f"With the votes of {shown[0]} among {shown[1]} you say: {said}.")
    overlapping = all(
        len(one & other) > 0
        for voters in groups[1:]
        for one in groups[1:]
        for other in groups[1:]
        if more_than_half(one, voters) and more_than_half(other, voters)
    )
    return right(f"Any two quorums of the same voters have a server in common: {overlapping}.")
