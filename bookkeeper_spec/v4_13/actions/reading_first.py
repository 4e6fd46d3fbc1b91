"""A recovery that reads everything first and writes it back afterwards.

`v4_13` and `with_limbo` recover in this way; BookKeeper itself overlaps both (`actions.recovery`).
The recovery waits until every bookie that it has asked for an entry has answered or timed out. It
recovers the entry if an ack quorum has it, and has read all there is once so many bookies deny it
that no ack quorum can have it.

The functions take the client's own record (`mine`) and its messages.
"""

from bookkeeper_spec.actions.adding import add_pending_op
from bookkeeper_spec.model.ledger import IN_RECOVERY, fragment_of_entry
from bookkeeper_spec.model.messages import act_upon_losses, send, sent
from bookkeeper_spec.v4_13.model import (
    FENCING,
    NO_SUCH_ENTRY,
    OK,
    PENDING_READ_RESPONSE,
    READ,
    WRITE,
)
from protocol_lab import TAKEN, size, with_node

# --- Requests ------------------------------------------------------------------------------------


def has_quorum_coverage(c, bookies, cohort) -> bool:
    """Does every ack quorum of the cohort have one of these bookies?"""
    return size(bookies & cohort) >= size(cohort) - c.ack_quorum + 1


def read_was_sent(messages, entry) -> bool:
    """Has the client asked for this entry?"""
    return sent(messages.reads[entry - 1].requests) != 0


def has_asked(c, messages) -> bool:
    """Has the client asked for any entry?"""
    return any(read_was_sent(messages, entry) for entry in range(1, c.send_limit + 2))


def ensemble_to_read(mine, fragments) -> int:
    """The bookies that a recovery asks for the entry after its LAP."""
    if mine.status != IN_RECOVERY:
        return 0
    return fragments.items[fragment_of_entry(fragments, mine.lap + 1)].ensemble


def ask_for_next_entry(c, mine, messages, fragments, lost) -> str:
    """Ask for the entry after the LAP, once no ack quorum is left that is not fenced."""
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    if mine.recovery_phase != READ:
        if mine.recovery_phase != FENCING:
            return "the recovery is not about to read"
        if not has_quorum_coverage(c, mine.fenced, mine.curr_fragment.ensemble):
            return "there may be an ack quorum of bookies that are not fenced"
    if read_was_sent(messages, mine.lap + 1):
        return "the recovery has asked for this entry before"
    mine.recovery_phase = PENDING_READ_RESPONSE
    send(messages.reads[mine.lap].requests, ensemble_to_read(mine, fragments), lost)
    return TAKEN


def its_write_ensemble(mine) -> int:
    """The bookies to which a recovery writes entries back: none before it has read everything."""
    return mine.curr_fragment.ensemble if mine.recovery_phase == WRITE else 0


# --- Time-outs -----------------------------------------------------------------------------------


def read_time_outs(c, messages) -> int:
    """The bookies of which the client has lost a read, or an answer to one."""
    bookies = messages.no_such_entry.lost
    for k in range(c.send_limit + 1):
        bookies |= messages.reads[k].requests.lost
        for data in range(c.send_limit):
            bookies |= messages.reads[k].responses[data].lost
    return bookies


def act_upon_read_time_outs(c, messages, bookies) -> None:
    """Forget that reads from these bookies have timed out."""
    act_upon_losses(messages.no_such_entry, bookies)
    for k in range(c.send_limit + 1):
        act_upon_losses(messages.reads[k].requests, bookies)
        for data in range(c.send_limit):
            act_upon_losses(messages.reads[k].responses[data], bookies)


def asked_for(fragments, entry) -> int:
    """The bookies whose time-outs count: the original looks at them only with a positive answer."""
    return fragments.items[fragment_of_entry(fragments, entry)].ensemble if entry > 0 else 0


# --- Answers -------------------------------------------------------------------------------------


def who_said(bookies, bookie, answer, what) -> int:
    """The bookies that gave this answer to the current read, including this one if it gives it."""
    return with_node(bookies, bookie) if answer == what else bookies


def positive(mine, bookie, answer) -> int:
    """How many bookies have the entry, as far as the recovery knows with this answer."""
    return size(who_said(mine.has_entry, bookie, answer, OK))


def negative(mine, bookie, answer) -> int:
    """How many bookies do not have the entry, as far as the recovery knows with this answer."""
    return size(who_said(mine.no_such_entry, bookie, answer, NO_SUCH_ENTRY))


def note_answer(mine, bookie, answer, entry, data) -> None:
    """Remember what a bookie has answered; 0 for the entry if the answer is none."""
    mine.has_entry = who_said(mine.has_entry, bookie, answer, OK)
    mine.no_such_entry = who_said(mine.no_such_entry, bookie, answer, NO_SUCH_ENTRY)
    if answer == OK:
        mine.curr_read_entry.id = entry
        mine.curr_read_entry.data = data


def forget_answers(mine) -> None:
    """Forget the answers about the entry: it is decided."""
    mine.has_entry = 0
    mine.no_such_entry = 0
    mine.curr_read_entry.id = 0
    mine.curr_read_entry.data = 0


def recover_entry(mine, answer, data) -> None:
    """The entry is to be written back, and the next one read."""
    mine.lap += 1
    add_pending_op(mine, mine.lap, data if answer == OK else mine.curr_read_entry.data)
    mine.recovery_phase = READ
