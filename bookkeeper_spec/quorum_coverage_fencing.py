"""When has a recovery fenced enough bookies? Four definitions, and that they are the same.

The first phase of a recovery asks every bookie of the current ensemble to fence the ledger. It may
go on when no ack quorum of bookies is left that might be unfenced: whoever still writes then can
gather no ack quorum of acknowledgements any more. `quorum_coverage` says that in four ways.

What it models: some ensemble out of all_bookies, some ack quorum, and the fence request to each
bookie of the ensemble. A request is pending until its answer comes: the bookie is fenced, or it is
unknown whether it is (an error, or a time-out). There is one initial state for every ensemble and
ack quorum; the answers come in any order.

What breaks: nothing. The definitions are equal in every state with up to six bookies: two of them
only count bookies, and two look at every single ack quorum.

Left out: write quorums (the original fences the whole ensemble), and everything after that. The
original calls its only step Next; here it is receive_response.

Source: QuorumCoverageFencing.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec.draw.choices import COVERAGE
from bookkeeper_spec.draw.coverage import draw_fencing
from bookkeeper_spec.quorum_coverage import Bookie, Constants, disagreement, enough_satisfy
from protocol_lab import *

# --- Constants and state ---------------------------------------------------------------------

CONFIGURATIONS = (
    Configuration("default", "every ensemble of three bookies", "144 distinct states"),
)


Response = Named("pending", "fenced", "unknown")
Answer = Named("fenced", "unknown")


class State(Struct):
    """A fencing in progress; only the bookies of the current ensemble have a response."""

    ensemble_size: Int8
    curr_ensemble: NodeSet(Bookie)
    aq: Int8  # the ack quorum
    state: Per(Bookie, Response)


spec = Spec(
    "bookkeeper.quorum_coverage_fencing",
    State,
    Constants,
    __doc__,
    draw=draw_fencing,
    choices=COVERAGE,
    original="QuorumCoverageFencing",
    configurations=CONFIGURATIONS,
)


def bookies_of(ensemble: NodeSet(Bookie)) -> int:
    """The largest ack quorum that an ensemble can have."""
    return len(ensemble)


@spec.init
def init(s: State, c: Constants, ensemble: Subset(Bookie), ack_quorum: Range(1, bookies_of)):
    """Any ensemble with any ack quorum; all answers are pending."""
    s.curr_ensemble = ensemble
    s.ensemble_size = len(ensemble)
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
    s.state[bookie] = "fenced" if response == "fenced" else "unknown"
    return TAKEN


# --- Properties ------------------------------------------------------------------------------


def fenced_bookies(s: State) -> NodeSet(Bookie):
    """The bookies of the ensemble that are known to be fenced."""
    found = nodes_up_to(0)
    for bookie in s.curr_ensemble:
        if s.state[bookie] == "fenced":
            found = with_node(found, bookie)
    return found


@spec.invariant
def equivalence(s: State, c: Constants):
    """The four definitions of quorum coverage agree."""
    return disagreement(fenced_bookies(s), s.curr_ensemble, s.aq)


@spec.situation(expected=True)
def enough_are_fenced_while_answers_are_pending(s: State, c: Constants) -> bool:
    """A recovery need not wait for all: with an ack quorum above 1 it can go on earlier."""
    return enough_satisfy(fenced_bookies(s), s.ensemble_size, s.aq) and any(
        s.state[bookie] == "pending" for bookie in s.curr_ensemble
    )


@spec.situation
def one_bookie_is_enough(s: State, c: Constants) -> bool:
    """One fenced bookie covers an ensemble of several."""
    return (
        s.ensemble_size > 1
        and len(fenced_bookies(s)) == 1
        and enough_satisfy(fenced_bookies(s), s.ensemble_size, s.aq)
    )


@spec.situation
def one_lost_answer_blocks_the_recovery(s: State, c: Constants) -> bool:
    """All answers but one are "fenced", and that one being unknown keeps the recovery waiting."""
    return len(fenced_bookies(s)) == s.ensemble_size - 1 and any(
        s.state[bookie] == "unknown"
        and not enough_satisfy(fenced_bookies(s), s.ensemble_size, s.aq)
        for bookie in s.curr_ensemble
    )
