"""A compactor that crashes: readers see the latest value of each key, whenever it stops.

What it models: a topic of messages with keys, and a compactor that reads it to the end, notes the
last offset of each key, and copies those messages into a new compacted ledger. Its memory is lost
when it crashes; ledgers and the topic's metadata survive. A reader reads the compacted ledger that
the metadata names, and then the topic from the horizon on, the first offset that was not compacted.

What breaks: nothing is written yet. Write `begin`, `note`, `turn` and `copy`, then `publish` and
`delete_ledger`; README.md says what is asked of each.

Left out: messages without a value, several compactors, and the trimming of the topic.

    python3 lab.py check compactor.py
"""

from typing import Annotated, NamedTuple

from protocol_lab import *  # the language of specs: all that your functions may call
from protocol_lab.drawing import Bar, Cluster, Entry, Lane, Text, Value, drawing_of

# --- Given: the state ------------------------------------------------------------------------


class Constants(NamedTuple):
    keys: Annotated[int, Limits(1, 3, "keys")] = 2
    messages: Annotated[int, Limits(1, 4, "messages that are sent")] = 2
    crashes: Annotated[int, Limits(0, 3, "crashes of the compactor")] = 0
    ledgers: Annotated[int, Limits(1, 4, "compacted ledgers that there is room for")] = 2


Key = Node("keys")
Slot = Node("ledgers", noun="ledger")


class Ledger(Struct):
    """A compacted ledger: the offsets of the messages in it, in their order."""

    exists: Bool
    offsets: Seq(Int8, "messages")


class Compactor(Struct):
    """The compactor's memory, which a crash empties."""

    phase: Named("idle", "noting", "copying")
    position: Int8  # the offset that it reads next
    end: Int8  # where it stopped to note: the horizon of the next compacted ledger
    latest: Per(Key, Int8)  # 1 + the last offset of the key before `position`, or 0
    ledger: Slot  # the ledger that it writes, or NONE


class State(Struct):
    topic: Seq(Key, "messages")  # the key of the message at each offset
    ledgers: Per(Slot, Ledger)
    compactor: Compactor
    current: Slot  # metadata: the compacted ledger that readers use, or NONE
    horizon: Int8  # metadata: the first offset that it does not stand for
    crashed: Int8


spec = Spec("compactor", State, Constants, __doc__)


@spec.init
def start(s: State, c: Constants):
    """Nothing was sent."""
    return TAKEN


# --- Given: what happens ---------------------------------------------------------------------


@spec.action
def send(s: State, c: Constants, key: Key):
    """A producer sends a message with this key."""
    if len(s.topic) >= c.messages:
        return "all messages were sent"
    append(s.topic, key)
    return TAKEN


@spec.action
def crash(s: State, c: Constants):
    """The compactor stops and starts again, with nothing in its memory."""
    if s.crashed >= c.crashes:
        return "there were enough crashes"
    if s.compactor == Compactor():
        return "its memory is empty"
    s.crashed += 1
    s.compactor = Compactor()
    return TAKEN


# --- Yours -----------------------------------------------------------------------------------


@spec.action
def begin(s: State, c: Constants):
    """The compactor begins to note, at the start of the topic."""
    return "not written yet"


@spec.action
def note(s: State, c: Constants):
    """It reads the next message, and notes its offset as the last one of its key."""
    return "not written yet"


@spec.action
def turn(s: State, c: Constants, slot: Slot):
    """It has read enough: it makes a new ledger in a free place, and goes on to copy."""
    return "not written yet"


@spec.action
def copy(s: State, c: Constants):
    """It reads the next message again, and copies it if it is the last one of its key."""
    return "not written yet"


@spec.action
def publish(s: State, c: Constants):
    """Everything is copied: the metadata name the new ledger, and the compactor is done."""
    return "not written yet"


@spec.action
def delete_ledger(s: State, c: Constants, slot: Slot):
    """A ledger that nobody needs is deleted."""
    return "not written yet"


# --- Given: what is promised -----------------------------------------------------------------


def last_in_topic(s: State, key):
    """The last offset of a key in the topic, or -1."""
    found = -1
    for offset in range(len(s.topic)):
        if s.topic[offset] == key:
            found = offset
    return found


def last_that_is_read(s: State, key):
    """The last offset of a key that a reader of the compacted topic sees, or -1."""
    found = -1
    if s.current != NONE:
        for offset in s.ledgers[s.current].offsets:
            if offset < len(s.topic) and s.topic[offset] == key:
                found = offset
    for offset in range(s.horizon, len(s.topic)):
        if s.topic[offset] == key:
            found = offset
    return found


@spec.invariant
def readers_see_the_latest(s: State, c: Constants):
    """A reader of the compacted topic sees the last message of each key."""
    for key in range(1, c.keys + 1):
        if last_that_is_read(s, key) != last_in_topic(s, key):
            return "a reader misses the last message of a key"
    return HOLDS


@spec.invariant
def the_current_ledger_exists(s: State, c: Constants):
    """The ledger that the metadata name exists."""
    if s.current != NONE and not s.ledgers[s.current].exists:
        return "readers look for a ledger that was deleted"
    return HOLDS


@spec.situation(expected=True)
def everything_is_compacted(s: State, c: Constants):
    """All messages were sent, and none is beyond the horizon."""
    return len(s.topic) == c.messages and s.horizon == c.messages


def is_compacted_and_clean(s: State, c: Constants):
    """Everything that was sent is compacted, and no ledger is left but the current one."""
    if s.horizon != len(s.topic):
        return False
    return all(s.ledgers[n].exists == (n == s.current) for n in range(1, c.ledgers + 1))


@spec.property
def compaction_ends():
    """Eventually everything is compacted and all other ledgers are deleted, and it stays so."""
    return eventually_always(is_compacted_and_clean)


spec.weakly_fair(begin, note, turn, copy, publish)
spec.weakly_fair(delete_ledger, each="slot")

# --- Given: the picture ----------------------------------------------------------------------


def describe(s: State, c: Constants):
    """The picture of one state, as plain values."""
    topic = [Entry(k, f"key {key}", shade=key) for k, key in enumerate(s.topic)]
    lanes = [Lane([[Text("Topic", bold=True)]], topic, empty="no message")]
    for n in range(1, c.ledgers + 1):
        words = "is there" if s.ledgers[n].exists else "does not exist"
        words = "current" if n == s.current else words
        boxes = [Entry(k, f"offset {k}") for k in s.ledgers[n].offsets]
        lanes.append(Lane([[Text(f"Ledger {n}", bold=True)], [Text(words)]], boxes, empty="empty"))
    memory = s.compactor
    noted = ", ".join(f"key {k}: {at - 1}" for k, at in enumerate(memory.latest, 1) if at)
    values = [Value("phase", Text(str(memory.phase))), Value("reads", Text(str(memory.position)))]
    values.append(Value("last offsets", Text(noted or "none")))
    bars = [Bar("Compactor", values), Bar("Metadata", [Value("horizon", Text(str(s.horizon)))])]
    return Cluster(lanes=lanes, bars=bars, columns=c.messages)


spec.draw = drawing_of(describe)
