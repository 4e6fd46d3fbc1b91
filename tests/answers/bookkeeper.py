"""Wrong answers to the exercises of the BookKeeper notebooks, each with what the check has to say.

To mend an action compiles it again, which takes seconds: of those one wrong answer each.
"""

from bookkeeper_spec.ledger_chaining import is_not_at
from bookkeeper_spec.model import data_of, handle, has_entry, send, sent
from bookkeeper_spec.v4_13 import has_asked
from bookkeeper_spec.writing import confirmed_from, drop_pending_ops, note_confirmation
from protocol_lab import HOLDS, TAKEN, append, only, with_node

# --- say_what_is_promised --------------------------------------------------------------------


def acknowledged_is_closed(s, c):
    return HOLDS if s.meta_last_entry >= s.w1.lac else "an acknowledged entry is not in the ledger"


# --- make_a_no_last --------------------------------------------------------------------------


def fence_with_every_answer(s, c, bookie, entry, lost):
    requests = s.messages.reads[entry - 1].requests
    if bookie not in requests.waiting:
        return "no read of this entry is under way to this bookie"
    answer = s.messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = s.messages.reads[entry - 1].responses[data_of(s, bookie, entry) - 1]
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- begin_where_it_is_safe ------------------------------------------------------------------


def believe_the_bookie(s, c, bookie, lac):
    if bookie not in s.messages.fence_responses[lac].waiting:
        return "no such answer is under way from this bookie"
    s.w2.fenced = with_node(s.w2.fenced, bookie)
    if lac > s.w2.lac and not has_asked(s.messages):
        s.w2.lac = lac
        s.w2.lap = lac
    handle(s.messages.fence_responses[lac], bookie)
    return TAKEN


# --- say_that_you_do_not_know ----------------------------------------------------------------


def never_know(s, c, bookie, client, entry, lost):
    requests = s.messages[client].reads[entry - 1].requests
    answer = s.messages[client].unknown
    if bookie not in requests.waiting:
        return "no read of this entry is under way from the client to this bookie"
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- append_only_to_what_you_have_read -------------------------------------------------------


def append_whatever_is_there(s, c, client):
    mine = s.c_state[client]
    if is_not_at(mine, "pending_append_ledger"):
        return "the client is not a leader with a ledger to append"
    append(mine.llist, mine.ledger.id)
    s.md_llist = mine.llist
    s.md_llist_version += 1
    mine.llist_version = s.md_llist_version
    mine.status = "has_open_ledger"
    return TAKEN


def append_nothing(s, c, client):
    return "the log is long enough"


# --- say_what_was_meant ----------------------------------------------------------------------


def by_position(s, c):
    found = 0
    for position in range(len(s.md_llist)):
        if s.md_ledgers[position].open:
            found += 1
    return "two ledgers are open" if found > 1 else HOLDS


def nothing_is_claimed(s, c):
    return HOLDS


# --- say_when_a_ledger_is_fenced -------------------------------------------------------------


def all_are_fenced(fenced, ensemble, ack_quorum):
    return fenced == ensemble


def an_ack_quorum_is_fenced(fenced, ensemble, ack_quorum):
    return len(fenced) >= ack_quorum


# --- count_from_the_right_mark ---------------------------------------------------------------


def count_from_the_lac(s, c, client, bookie, entry):
    mine = s.clients[client]
    if mine.status != "in_recovery":
        return "the client does not recover"
    reason = note_confirmation(mine, s.messages[client].adds, bookie, entry)
    if reason:
        return reason
    lac = confirmed_from(c, mine, mine.lac, c.ack_quorum)
    lafr = confirmed_from(c, mine, mine.lac, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    return TAKEN


# --- notice_what_never_happens ---------------------------------------------------------------


def a_recovery_is_under_way(s, c):
    return any(s.clients[k].status == "in_recovery" for k in range(1, c.clients + 1))


def nothing_at_all(s, c):
    return False


WRONG = {
    "notice_what_never_happens": [
        (a_recovery_is_under_way, "would not have noticed anything"),
        (nothing_at_all, "No such state is reachable"),
    ],
    "say_what_is_promised": [
        (acknowledged_is_closed, 'it says "an acknowledged entry is not in the ledger"'),
        (nothing_is_claimed, "but also where w1 acknowledges an entry that only one"),
    ],
    "make_a_no_last": [
        (fence_with_every_answer, "never: a bookie that has the entry says so, and is not fenced")
    ],
    "begin_where_it_is_safe": [(believe_the_bookie, "only_valid_fragments breaks")],
    "say_that_you_do_not_know": [(never_know, "never")],
    "append_only_to_what_you_have_read": [
        (append_whatever_is_there, "breaks after"),
        (append_nothing, "append_ledger_success never happens"),
    ],
    "say_what_was_meant": [
        (by_position, "only one ledger of the list is open"),
        (nothing_is_claimed, "but also where leaders leave the last ledger open"),
    ],
    "say_when_a_ledger_is_fenced": [
        (all_are_fenced, "that is enough, and you say otherwise"),
        (an_ack_quorum_is_fenced, "that is not enough, and you say otherwise"),
    ],
    "count_from_the_right_mark": [(count_from_the_lac, "breaks after 28 steps")],
}
