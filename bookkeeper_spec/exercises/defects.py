"""The exercises of notebooks/bookkeeper/02_the_fence_comes_late and 12_a_recovery_that_fails."""

from bookkeeper_spec import protocol, v4_13
from bookkeeper_spec.model import data_of, handle, has_entry, recovers, send, sent
from bookkeeper_spec.v4_13 import has_asked
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = v4_13.spec
TWO_BOOKIES = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2}
THREE_BOOKIES = {
    "bookies": 3,
    "write_quorum": 2,
    "ack_quorum": 1,
    "lac_from_fragment": "false",
}

# --- Defect 1: fix it in another way ------------------------------------------------------------


def bookie_sends_read_response(s, c, bookie, entry, lost):
    requests = s.messages.reads[entry - 1].requests
    if bookie not in requests.waiting:
        return "no read of this entry is under way to this bookie"
    answer = s.messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = s.messages.reads[entry - 1].responses[data_of(s, bookie, entry) - 1]
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    if entry > c.send_limit or not has_entry(s, bookie, entry):
        s.b_fenced = with_node(s.b_fenced, bookie)
    handle(requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def w1_acknowledges_the_entry(s, c):
    """A writer acknowledges an entry."""
    return s.w1.lac == 1


def a_yes_does_not_fence(s, c):
    """A bookie that has the entry says so, and is not fenced by it."""
    return s.messages.reads[0].responses[0].waiting & ~s.b_fenced != 0


@exercise(
    hints=[
        'Which answer becomes false later: a "yes", or a "no"? What would keep it true?',
        "A guard does not help: the bookie has to answer. The bookies that are fenced are"
        " `s.b_fenced`, and `with_node(s.b_fenced, bookie)` adds one.",
        "Here the bookie is fenced exactly where it need not be. Turn the condition round, and mind"
        " the entry after the last one: `entry <= c.send_limit` guards the look-up.",
    ],
    answer=bookie_sends_read_response,
    why="A bookie that has said no, and is fenced, will never take the entry, so its answer stays"
    " true. A bookie that has said yes keeps the entry, since bookies do not delete, so that answer"
    " stays true without a fence. Half of the fences of the released protocol are therefore not"
    " needed for safety. The narrower fix has a cost, too: it needs this argument. The released one"
    " sets a flag on every request, whatever the answer will be.",
)
def make_a_no_last(answer) -> Feedback:
    """Fence only where it is needed.

    The released fix fences with every recovery read. Another one fences with fewer. The function
    below fences a bookie with one of its two answers. Change it so that no acknowledged entry can
    be cut off, while a bookie that answers with the entry is *not* fenced by the read. The check
    explores two bookies with quorums of 2 and every loss of messages: all invariants must hold, the
    recovery must still close ledgers, w1 must still acknowledge, and some bookie must say yes
    without being fenced.
    """
    return repair(
        spec.bind(**TWO_BOOKIES),
        "bookie_sends_read_response",
        answer,
        must_reach=[w1_acknowledges_the_entry, a_yes_does_not_fence],
    )


# --- Defect 2: fix it ---------------------------------------------------------------------------


def w2_receives_fencing_read_lac_response(s, c, bookie, lac):
    if bookie not in s.messages.fence_responses[lac].waiting:
        return "no such answer is under way from this bookie"
    confirmed = max(lac, s.w2.curr_fragment.first_entry_id - 1)
    s.w2.fenced = with_node(s.w2.fenced, bookie)
    if confirmed > s.w2.lac and not has_asked(s.messages):
        s.w2.lac = confirmed
        s.w2.lap = confirmed
    handle(s.messages.fence_responses[lac], bookie)
    return TAKEN


def w2_recovers_the_second_fragment(s, c):
    """A recovery closes a ledger of two fragments."""
    return len(s.meta_fragments) == 2 and s.w2.status == "closed"


@exercise(
    hints=[
        "The bookies of a new fragment may not know the ledger: their LAC is 0. Does w2"
        " know better, without asking anybody?",
        "The writer began the last fragment after its own LAC. So everything before it is"
        " confirmed: w2 has `s.w2.curr_fragment.first_entry_id`.",
    ],
    answer=w2_receives_fencing_read_lac_response,
    why="The metadata are evidence, too: nobody begins a fragment before what comes before it is"
    " confirmed. With that, w2 reads and writes back entries of the last fragment only, and a"
    " bookie that it has to replace is replaced in the last fragment.",
)
def begin_where_it_is_safe(answer) -> Feedback:
    """Begin where it is safe.

    This is what w2 of 4.13 makes of a bookie's LAC. Change it so that no recovery has to begin a
    fragment before the last one. The check explores three bookies with a write quorum of 2 and an
    ack quorum of 1: all invariants must hold, and a ledger of two fragments must still be
    recovered.
    """
    return repair(
        spec.bind(**THREE_BOOKIES),
        "w2_receives_fencing_read_lac_response",
        answer,
        must_reach=[w2_recovers_the_second_fragment],
    )


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
    constants = {**TWO_BOOKIES, "clients": 2}
    meant = protocol.spec.bind(**constants, max_lost_messages=0, ignore_late_reads="true")
    as_written = protocol.spec.bind(**constants, max_lost_messages=0)
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
