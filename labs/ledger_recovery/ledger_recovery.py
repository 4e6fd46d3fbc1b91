"""A ledger's recovery: whoever closes it keeps every entry that was confirmed to a client.

What it models: a writer adds entries to a ledger on several bookies, and confirms an entry to its
client once an ack quorum has stored it and all entries before it. Somebody else, who takes the
writer for dead, recovers and closes the ledger meanwhile: it fences bookies, reads entry by entry,
and writes the last entry of the closed ledger into the metadata. The writer may be alive and learns
of nothing.

What breaks: nothing is written yet. Write `add_entry` and `fence`, then `may_begin`, `read_entry`,
`may_restore` and `may_close`; README.md says what is asked of each.

Left out: several ensembles, bookies that come back, a second recovery, and messages: a bookie
answers at once or never.

    python3 lab.py check ledger_recovery.py
"""

from typing import Annotated, NamedTuple

from protocol_lab import *  # the language of specs: all that your functions may call
from protocol_lab.drawing import Bar, Cluster, Entry, Lane, Text, Value, drawing_of

# --- Given: the state ------------------------------------------------------------------------


class Constants(NamedTuple):
    bookies: Annotated[int, Limits(1, 5, "bookies of the ensemble; all get every entry")] = 3
    ack_quorum: Annotated[int, Limits(1, "bookies", "bookies that must store an entry")] = 2
    entries: Annotated[int, Limits(1, 3, "entries that the writer adds")] = 1
    crashes: Annotated[int, Limits(0, "bookies", "bookies that crash, for good")] = 0


Bookie = Node("bookies")


class Recovery(Struct):
    """What whoever recovers the ledger knows."""

    phase: Named("idle", "fencing", "reading", "done")
    fenced: NodeSet(Bookie)  # the bookies that have told it that they are fenced
    next: Int8  # the entry that it is about to restore, or to miss
    having: NodeSet(Bookie)  # the bookies that have answered that they have this entry
    lacking: NodeSet(Bookie)  # those that have answered that they lack it


Number = Node("entries", noun="entry")


class State(Struct):
    sent: Int8  # the writer has sent the entries 1, 2, ..., sent to all bookies
    acks: Per(Number, NodeSet(Bookie))  # who has told the writer that it has stored the entry
    confirmed: Int8  # the client was told that the entries 1, 2, ..., confirmed are safe
    stored: Per(Number, NodeSet(Bookie))  # the bookies that have stored the entry
    fenced: NodeSet(Bookie)
    crashed: NodeSet(Bookie)
    metadata: Named("open", "in_recovery", "closed")
    last: Int8  # the last entry of the closed ledger
    recovery: Recovery


spec = Spec("ledger_recovery", State, Constants, __doc__)


@spec.init
def start(s: State, c: Constants):
    """The ledger is open and empty."""
    return TAKEN


def has_entry(s: State, c: Constants, bookie, entry) -> bool:
    """Has the bookie stored the entry? There is none beyond the last one that the writer adds."""
    return entry <= c.entries and bookie in s.stored[entry]


# --- Given: the writer, crashes, and the frame of the recovery --------------------------------


@spec.action
def send(s: State, c: Constants):
    """The writer sends its next entry to all bookies."""
    if s.sent >= c.entries:
        return "the writer has sent everything"
    s.sent += 1
    return TAKEN


@spec.action
def confirm(s: State, c: Constants):
    """The writer tells its client that the next entry is safe: an ack quorum has stored it."""
    if s.confirmed >= s.sent:
        return "there is no further entry"
    if len(s.acks[s.confirmed + 1]) < c.ack_quorum:
        return "fewer than an ack quorum have stored it"
    s.confirmed += 1
    return TAKEN


@spec.action
def crash(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes, and does not come back."""
    if len(s.crashed) >= c.crashes:
        return "there were enough crashes"
    if bookie in s.crashed:
        return "the bookie has crashed"
    s.crashed = with_node(s.crashed, bookie)
    return TAKEN


@spec.action
def begin_recovery(s: State, c: Constants):
    """Somebody takes the writer for dead."""
    if s.metadata != "open":
        return "the ledger is not open"
    s.metadata = "in_recovery"
    s.recovery.phase = "fencing"
    return TAKEN


@spec.action
def begin_reading(s: State, c: Constants):
    """The recovery goes on to read the entries, as soon as it may."""
    if s.recovery.phase != "fencing":
        return "the recovery does not fence"
    reason = may_begin(s, c)
    if reason:
        return reason
    s.recovery.phase = "reading"
    s.recovery.next = 1
    return TAKEN


@spec.action
def restore(s: State, c: Constants):
    """The recovery writes an entry to all bookies that are alive, and goes on to the next one."""
    if s.recovery.phase != "reading":
        return "the recovery does not read"
    if s.recovery.next > c.entries or s.stored[s.recovery.next] == 0:
        return "nobody has such an entry"
    if c.bookies - len(s.crashed) < c.ack_quorum:
        return "fewer than an ack quorum are alive"
    reason = may_restore(s, c)
    if reason:
        return reason
    alive = nodes_up_to(c.bookies) & ~s.crashed
    s.stored[s.recovery.next] = s.stored[s.recovery.next] | alive
    s.recovery.next += 1
    s.recovery.having = nodes_up_to(0)
    s.recovery.lacking = nodes_up_to(0)
    return TAKEN


@spec.action
def close(s: State, c: Constants):
    """The recovery closes the ledger before the entry that is missing."""
    if s.recovery.phase != "reading":
        return "the recovery does not read"
    reason = may_close(s, c)
    if reason:
        return reason
    s.metadata = "closed"
    s.last = s.recovery.next - 1
    s.recovery = Recovery(phase="done")
    return TAKEN


# --- Yours -----------------------------------------------------------------------------------


@spec.action
def add_entry(s: State, c: Constants, bookie: Bookie, entry: Range(1, "entries")):
    """A bookie stores an entry that the writer has sent, and tells the writer."""
    return "not written yet"


@spec.action
def fence(s: State, c: Constants, bookie: Bookie):
    """The recovery fences a bookie: from now on it stores nothing for the writer."""
    return "not written yet"


def may_begin(s: State, c: Constants):
    """TAKEN if enough bookies are fenced for the recovery to read, or why not."""
    return "not written yet"


@spec.action
def read_entry(s: State, c: Constants, bookie: Bookie):
    """The recovery asks a bookie whether it has the next entry, and notes the answer."""
    return "not written yet"


def may_restore(s: State, c: Constants):
    """TAKEN if the answers say that the next entry is there, or why not."""
    return "not written yet"


def may_close(s: State, c: Constants):
    """TAKEN if the answers say that the next entry was never confirmed, or why not."""
    return "not written yet"


# --- Given: what is promised -----------------------------------------------------------------


@spec.invariant
def confirmed_is_kept(s: State, c: Constants):
    """A closed ledger has every entry that was confirmed, also what is confirmed later."""
    if s.metadata == "closed" and s.last < s.confirmed:
        return "the closed ledger lacks an entry that the client was told is safe"
    return HOLDS


@spec.invariant
def entries_are_durable(s: State, c: Constants):
    """An ack quorum has every entry of a closed ledger."""
    if s.metadata == "closed":
        for entry in range(1, s.last + 1):
            if len(s.stored[entry]) < c.ack_quorum:
                return "fewer than an ack quorum have an entry of the closed ledger"
    return HOLDS


@spec.situation(expected=True)
def everything_is_recovered(s: State, c: Constants):
    """The ledger is closed, with all entries that the writer adds."""
    return s.metadata == "closed" and s.last == c.entries


def is_in_recovery(s: State, c: Constants):
    """The ledger is being recovered."""
    return s.metadata == "in_recovery"


def is_closed(s: State, c: Constants):
    """The ledger is closed."""
    return s.metadata == "closed"


@spec.property
def recovery_ends():
    """A ledger that is being recovered is eventually closed."""
    return leads_to(is_in_recovery, is_closed)


spec.weakly_fair(begin_reading, restore, close)
spec.weakly_fair(fence, read_entry, each="bookie")

# --- Given: the picture ----------------------------------------------------------------------


def lane(s: State, c: Constants, n):
    """The picture of one bookie."""
    words = ["fenced"] * (n in s.fenced) + ["crashed"] * (n in s.crashed)
    boxes = [
        Entry(k, f"entry {k}", committed=k <= s.confirmed)
        for k in range(1, c.entries + 1)
        if n in s.stored[k]
    ]
    lines = [[Text(f"Bookie {n}", bold=True)], [Text(", ".join(words) or "takes entries")]]
    return Lane(lines, boxes, badge="dead" if n in s.crashed else "", empty="no entry")


def describe(s: State, c: Constants):
    """The picture of one state, as plain values."""
    known = s.recovery
    ledger = str(s.metadata) + (f", last entry {s.last}" if s.metadata == "closed" else "")
    answers = f"has it: {sorted(known.having)}, lacks it: {sorted(known.lacking)}"
    recovery = [Value("phase", Text(str(known.phase)))]
    recovery.append(Value("knows as fenced", Text(str(sorted(known.fenced)))))
    if known.phase == "reading":
        recovery.append(Value(f"entry {known.next}", Text(answers)))
    writer = [Value("sent", Text(str(s.sent))), Value("confirmed", Text(str(s.confirmed)))]
    return Cluster(
        lanes=[lane(s, c, n) for n in range(1, c.bookies + 1)],
        bars=[
            Bar("Writer", writer),
            Bar("Metadata", [Value("ledger", Text(ledger))]),
            Bar("Recovery", recovery),
        ],
        columns=c.entries,
        first=1,
        axis="entry",
        ticked="confirmed",
    )


spec.draw = drawing_of(describe)
