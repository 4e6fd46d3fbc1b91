"""The exercise of notebooks/kraft/13_what_is_each_rule_for on votes."""

from kraft_spec.model import Server
from protocol_lab import *
from protocol_lab.teaching.exercises import *


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
    why="More than half, so that two majorities of the same voters share a server, which"
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
