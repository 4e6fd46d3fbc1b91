"""An exercise of notebooks/bookkeeper/12_a_recovery_that_fails."""

from bookkeeper_spec import protocol
from bookkeeper_spec.model import recovers
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = protocol.spec
TWO_BOOKIES = {"bookies": 2, "clients": 2, "write_quorum": 2, "ack_quorum": 2}

# --- What a search does not see ------------------------------------------------------------------


def a_recovery_has_closed_the_ledger(s, c):
    return any(s.clients[k].status == "closed" and recovers(s, k) for k in range(1, c.clients + 1))


@exercise(
    hints=[
        "Print `found.per_action` of the search: which actions were never taken? A state to which"
        " only one of these leads is what you look for.",
        "Clients count from 1 to `c.clients`, and `recovers(s, client)` tells who recovers. What"
        " does a recovery do in the end that this search has never seen?",
        "`s.clients[client].status == CLOSED` is the client that has closed the ledger. Which"
        " client must it be? The writer may close it, too.",
    ],
    answer=a_recovery_has_closed_the_ledger,
    why="That recoveries begin proves nothing: they do, in both models. What must be witnessed is"
    " that they end. This is the expected situation that the spec declares, and the reason why"
    " the result says *never reached* below its verdict. Any state behind the action that is never"
    " taken would do: an answer that was taken, an entry that was written back.",
)
def notice_what_never_happens(answer) -> Feedback:
    """Notice what never happens.

    Two bookies, both quorums 2, and nothing is lost. Write a function (s, c): true in a state that
    shows a recovery at work, so that the protocol as it is meant (`ignore_late_reads=true`) reaches
    such a state, and the protocol as it is written never does.
    """
    expect_parameters(answer, "s", "c")
    meant = spec.bind(**TWO_BOOKIES, max_lost_messages=0, ignore_late_reads="true")
    as_written = spec.bind(**TWO_BOOKIES, max_lost_messages=0)
    steps = len(shortest_path(meant, answer).trace)
    try:
        found = shortest_path(as_written, answer)
    except LabError:
        return right(
            f"As it is meant, the protocol gets there in {steps} steps. As it is written, never:"
            " your function would have noticed."
        )
    return wrong(
        "The protocol as it is written gets there, too, so your function would not have noticed"
        " anything:",
        found,
    )
