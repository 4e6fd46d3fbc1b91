"""A bookie crashes and forgets what it has confirmed, and that it was fenced."""

from bookkeeper_spec.model.ledger import CLOSED, IN_RECOVERY, OPEN, Bookie
from bookkeeper_spec.with_limbo.model import Constants, State
from protocol_lab import TAKEN, only, with_node, without_node


def lose(mail, bookie) -> None:
    """The message is lost after all: the bookie crashes before it handles it."""
    mail.lost |= mail.waiting & only(bookie)
    mail.waiting = without_node(mail.waiting, bookie)


def lose_requests(c, messages, bookie) -> None:
    """Lose all requests that are under way from a client to the bookie."""
    lose(messages.fence_requests, bookie)
    for k in range(c.send_limit + 1):
        lose(messages.reads[k].requests, bookie)
    for k in range(c.send_limit):
        for lac in range(c.send_limit + 1):
            lose(messages.adds.of[k].requests[lac], bookie)


def restart_with_data_loss(s, c, bookie) -> str:
    """A bookie restarts with nothing stored; the requests that it has not handled are lost."""
    if s.crashes > 0:
        return "a bookie has crashed already"
    s.crashes += 1
    for entry in range(1, c.send_limit + 1):
        s.b_entries[bookie].data[entry] = 0
    s.b_lac[bookie] = 0
    s.b_fenced = without_node(s.b_fenced, bookie)
    if c.fence_on_unclean_shutdown:
        s.b_fenced = with_node(s.b_fenced, bookie)
    if c.set_limbo_on_unclean_shutdown:
        s.b_limbo = with_node(s.b_limbo, bookie)
    for client in range(1, c.clients + 1):
        lose_requests(c, s.messages[client], bookie)
    return TAKEN


def bookie_crashes_when_ledger_open(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is open."""
    if not c.allow_crash_when_ledger_open or s.meta_status != OPEN:
        return "the ledger is not open, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_in_recovery(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is recovered."""
    if not c.allow_crash_when_ledger_in_recovery or s.meta_status != IN_RECOVERY:
        return "the ledger is not in recovery, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_closed(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, after the ledger was closed."""
    if not c.allow_crash_when_ledger_closed or s.meta_status != CLOSED:
        return "the ledger is not closed, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)
