"""When is an entry absent? Four definitions for recovery reads, and that they are the same.

In its second phase a recovery reads entry after entry. It must not drop an entry that an ack quorum
of bookies may hold, for then it may have been acknowledged. So an entry is absent when so many
bookies of its write set say so that no ack quorum is left that might have it. `quorum_coverage`
says that in four ways.

What it models: some ensemble out of all_bookies; the write set of the entry, which is a part of the
ensemble if the ensemble is larger than the write quorum (entries are striped across it); some ack
quorum; and the read sent to each bookie. A read is pending until its answer comes: the bookie has
the entry (ok), has no such entry, or it is unknown (an error, or a time-out). There is one initial
state for every ensemble, write set and ack quorum. As in the original every bookie of the ensemble
answers, and only the write set's answers count.

What breaks: nothing. The definitions are equal in every state with up to six bookies.

Left out: what the recovery does with the answer. The original calls its only step Next; here it is
receive_response.

Source: QuorumCoverageRecoveryReads.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec.draw.choices import COVERAGE
from bookkeeper_spec.draw.coverage import draw_recovery_reads
from bookkeeper_spec.quorum_coverage import Bookie, Constants, disagreement, enough_satisfy
from protocol_lab import *

# --- Constants and state ---------------------------------------------------------------------

CONFIGURATIONS = (
    Configuration("default", "every ensemble of three bookies", "972 distinct states"),
)


Response = Named("pending", "ok", "no_such_entry", "unknown")
Answer = Named("ok", "no_such_entry", "unknown")


class State(Struct):
    """The reads of one entry in progress; only bookies of the ensemble have a response."""

    curr_ensemble: NodeSet(Bookie)
    write_set: NodeSet(Bookie)
    wq: Int8  # the write quorum: the size of the write set
    aq: Int8  # the ack quorum
    state: Per(Bookie, Response)


spec = Spec(
    "bookkeeper.quorum_coverage_recovery_reads",
    State,
    Constants,
    __doc__,
    draw=draw_recovery_reads,
    choices=COVERAGE,
    original="QuorumCoverageRecoveryReads",
    configurations=CONFIGURATIONS,
)


def bookies_in(ensemble) -> NodeSet(Bookie):
    """Where a write set is chosen from."""
    return ensemble


def bookies_of(write_set: NodeSet(Bookie)) -> int:
    """The largest ack quorum that a write set can have."""
    return len(write_set)


@spec.init
def init(
    s: State,
    c: Constants,
    ensemble: Subset(Bookie),
    write_set: Subset(bookies_in),
    ack_quorum: Range(1, bookies_of),
):
    """Any ensemble, with any part of it as the write set, and any ack quorum."""
    s.curr_ensemble = ensemble
    s.write_set = write_set
    s.wq = len(write_set)
    s.aq = ack_quorum
    return TAKEN


# --- The only action -------------------------------------------------------------------------


@spec.action
def receive_response(s: State, c: Constants, bookie: Bookie, response: Answer):
    """The answer of a bookie comes, or is given up."""
    if bookie not in s.curr_ensemble:
        return "the bookie is not in the ensemble"
    if s.state[bookie] != "pending":
        return "the bookie's answer is there already"
    if response == "ok":
        s.state[bookie] = "ok"
    elif response == "no_such_entry":
        s.state[bookie] = "no_such_entry"
    else:
        s.state[bookie] = "unknown"
    return TAKEN


# --- Properties ------------------------------------------------------------------------------


def bookies_that_said(s: State, response: Response) -> NodeSet(Bookie):
    """The bookies of the write set with this response."""
    found = nodes_up_to(0)
    for bookie in s.write_set:
        if s.state[bookie] == response:
            found = with_node(found, bookie)
    return found


def is_negative(s: State) -> bool:
    """Is the entry known to be on no ack quorum of bookies?"""
    return enough_satisfy(bookies_that_said(s, "no_such_entry"), s.wq, s.aq)


@spec.invariant
def equivalence(s: State, c: Constants):
    """The four definitions of quorum coverage agree."""
    return disagreement(bookies_that_said(s, "no_such_entry"), s.write_set, s.aq)


@spec.situation(expected=True)
def a_read_is_negative_while_answers_are_pending(s: State, c: Constants) -> bool:
    """An entry can be given up before all bookies have answered."""
    return is_negative(s) and bookies_that_said(s, "pending") != 0


@spec.situation
def a_bookie_has_the_entry_and_it_is_given_up(s: State, c: Constants) -> bool:
    """One bookie has the entry, and still no ack quorum may have it.

    A generous recovery, as BookKeeper 4.18.0's, takes the first ok for a positive answer all the
    same and writes the entry back. It would be as safe to drop it: it was never acknowledged.
    """
    return is_negative(s) and bookies_that_said(s, "ok") != 0


@spec.situation
def all_answered_and_nobody_knows(s: State, c: Constants) -> bool:
    """All bookies of the write set answered: none has the entry, and it may not be given up."""
    return (
        bookies_that_said(s, "pending") == 0
        and bookies_that_said(s, "ok") == 0
        and not is_negative(s)
    )
