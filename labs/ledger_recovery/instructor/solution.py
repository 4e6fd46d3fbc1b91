"""The instructor's solution: the functions that a learner writes, and helpers of ours.

The grader puts them into the skeleton, which defines all other names that they use.
"""

from protocol_lab import TAKEN, with_node


def add_entry(s, c, bookie, entry):
    """A bookie stores an entry that the writer has sent, and tells the writer."""
    if bookie in s.crashed:
        return "the bookie has crashed"
    if bookie in s.fenced:
        return "the bookie is fenced"
    if entry > s.sent:
        return "the writer has not sent it"
    if bookie in s.stored[entry]:
        return "the bookie has it"
    s.stored[entry] = with_node(s.stored[entry], bookie)
    s.acks[entry] = with_node(s.acks[entry], bookie)
    return TAKEN


def fence(s, c, bookie):
    """The recovery fences a bookie: from now on it stores nothing for the writer."""
    if s.recovery.phase != "fencing":
        return "the recovery does not fence"
    if bookie in s.crashed:
        return "the bookie has crashed"
    if bookie in s.recovery.fenced:
        return "the bookie is fenced"
    s.fenced = with_node(s.fenced, bookie)
    s.recovery.fenced = with_node(s.recovery.fenced, bookie)
    return TAKEN


def may_begin(s, c):
    """TAKEN if enough bookies are fenced for the recovery to read, or why not."""
    if c.bookies - len(s.recovery.fenced) >= c.ack_quorum:
        return "an ack quorum may not be fenced"
    return TAKEN


def read_entry(s, c, bookie):
    """The recovery asks a bookie whether it has the next entry, and notes the answer."""
    if s.recovery.phase != "reading":
        return "the recovery does not read"
    if bookie in s.crashed:
        return "the bookie has crashed"
    if bookie in s.recovery.having or bookie in s.recovery.lacking:
        return "the bookie has answered"
    s.fenced = with_node(s.fenced, bookie)
    s.recovery.fenced = with_node(s.recovery.fenced, bookie)
    if has_entry(s, c, bookie, s.recovery.next):
        s.recovery.having = with_node(s.recovery.having, bookie)
    else:
        s.recovery.lacking = with_node(s.recovery.lacking, bookie)
    return TAKEN


def may_restore(s, c):
    """TAKEN if the answers say that the next entry is there, or why not."""
    if s.recovery.having == 0:
        return "nobody has said that it has the entry"
    return TAKEN


def may_close(s, c):
    """TAKEN if the answers say that the next entry was never confirmed, or why not."""
    if c.bookies - len(s.recovery.lacking) >= c.ack_quorum:
        return "an ack quorum may have the entry"
    return TAKEN
