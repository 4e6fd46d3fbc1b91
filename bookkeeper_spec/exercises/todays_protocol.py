"""The exercises of notebooks/bookkeeper/08_todays_protocol."""

from bookkeeper_spec import protocol
from bookkeeper_spec.model import recovers
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = protocol.spec
TWO_BOOKIES = {"bookies": 2, "clients": 2, "write_quorum": 2, "ack_quorum": 2}
LOST = "no_divergence_between_client_and_meta_data"

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


# --- The same loss, where one yes is enough ------------------------------------------------------


@exercise(
    hints=[
        "The answer that comes first decides, whichever it is: one bookie that has the entry saves"
        " it, and with an ack quorum of 2 of 2 one that denies it rules it out. So which of the two"
        " has to answer first?",
        "That bookie must say no before it stores e0, and it must not be fenced by then. One fenced"
        " bookie of two is enough to begin to read.",
        "Nothing has to be lost: the fence request to b2, and b1's answer to the read, are only"
        " late.",
    ],
    answer="""
        client_creates_ledger(client=1, ensemble={1, 2})
        client_sends_add_entry_requests(client=1, lost={})
        bookie_sends_add_confirmed_response(bookie=1, client=1, entry=1, lac=0, lost={})
        client_receives_add_confirmed_response(client=1, bookie=1, entry=1)
        client_starts_recovery(client=2, lost={})
        bookie_sends_fencing_read_lac_response(bookie=1, client=2, lost={})
        client_receives_fencing_read_lac_response(client=2, bookie=1, lac=0)
        client_sends_recovery_read_requests(client=2, lost={})
        bookie_sends_read_response(bookie=2, client=2, entry=1, lost={})
        bookie_sends_add_confirmed_response(bookie=2, client=1, entry=1, lac=0, lost={})
        client_receives_add_confirmed_response(client=1, bookie=2, entry=1)
        client_receives_recovery_read_response(client=2, bookie=2, data=0)
        recovery_client_closes_ledger(client=2)
    """,
    why="The first answer decides, and nothing has to be lost for the wrong one to be first. The"
    " model of 4.13 waits for all answers, so there a yes does not help, either. BookKeeper 4.13.0"
    " took the first yes, too, and asked one bookie after the other: a bookie that had the entry"
    " saved it if it was asked first. That makes the bug rarer, and no less a bug: only the fence"
    " in the read ends it.",
)
def lose_what_one_yes_would_save(answer) -> Feedback:
    """Lose an entry that one yes would save.

    Today's protocol with recovery reads that do not fence (`recovery_reads_fence=false`), and with
    late reads ignored (`ignore_late_reads=true`); two bookies and both quorums 2. Here one positive
    answer is enough to keep an entry. Write the steps, one a line, after which
    `no_divergence_between_client_and_meta_data` fails, and lose no message. As few as you can: the
    check computes par.
    """
    model = spec.bind(
        **TWO_BOOKIES, recovery_reads_fence="false", ignore_late_reads="true", max_lost_messages=0
    )
    walk = take_steps(model, answer)
    if all(each.holds for each in walk.standings() if each.name == LOST):
        return wrong("After these steps the ledger has all that its writer has acknowledged.", walk)
    return against_par(len(walk.steps), run(model, invariants=[LOST]), "The entry is lost")
