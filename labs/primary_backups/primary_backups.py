"""Primary and backups: no write that a client was told is safe may be lost.

What it models: a client writes to a primary, which sends each value to its backups; the network
may lose what a write sends. Servers crash, and another one takes over. Everybody knows at once who
is alive and who leads: that is an assumption, and your guards may rely on it.

What breaks: nothing is written yet. Write `receive` and `send_again`, then `acknowledge`, then
`restart`; README.md says what is asked of each.

Left out: servers that wrongly take another one for dead.

    python3 lab.py check primary_backups.py
"""

from typing import Annotated, NamedTuple

from protocol_lab import *  # the language of specs: all that your functions may call
from protocol_lab.drawing import Card, Cluster, Entry, Lane, Message, Messages, Text, drawing_of

# --- Given: the state ------------------------------------------------------------------------


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 4, "servers")] = 2
    writes: Annotated[int, Limits(0, 4, "values that the client writes")] = 1
    crashes: Annotated[int, Limits(0, 4, "crashes in total")] = 0


Server = Node("servers")


class Update(Struct):
    """The primary of an epoch tells a backup the value at an offset."""

    dest: Server
    epoch: Int8
    offset: Int8
    value: Int8


class State(Struct):
    primary: Server
    epoch: Int8  # how often somebody has taken over
    alive: NodeSet(Server)
    crashed: Int8  # how many crashes there were
    written: Int8  # the client has sent the values 1, 2, ..., written
    log: Per(Server, Seq(Int8, "writes"))
    updates: Bag(Update, "servers * writes * (crashes + 1)")  # on their way
    acknowledged: Bag(Int8, "writes")  # the values that the client was told are safe


spec = Spec("primary_backups", State, Constants, __doc__)
spec.messages("updates", source="primary", dest="dest", lost="lost")


@spec.init
def start(s: State, c: Constants):
    """Server 1 leads, everybody is alive, nothing is written."""
    s.primary = 1
    s.alive = nodes_up_to(c.servers)
    return TAKEN


def backups(s: State, c: Constants) -> NodeSet(Server):
    """All who are alive, but for the primary."""
    return without_node(s.alive, s.primary)


# --- Given: the client, and what can go wrong ------------------------------------------------


@spec.action
def write(s: State, c: Constants, lost: Subset(backups)):
    """The client writes a value. The primary appends it, and sends it to the backups."""
    if s.primary not in s.alive:
        return "the primary is down"
    if s.written >= c.writes:
        return "the client has written everything"
    s.written += 1
    append(s.log[s.primary], s.written)
    offset = len(s.log[s.primary]) - 1
    for backup in backups(s, c):
        if backup not in lost:
            update = Update(dest=backup, epoch=s.epoch, offset=offset, value=s.written)
            add(s.updates, update)
    return TAKEN


@spec.action
def crash(s: State, c: Constants, server: Server):
    """A server stops. One always stays."""
    if s.crashed >= c.crashes:
        return "there were enough crashes"
    if server not in s.alive:
        return "the server is down already"
    if s.alive == only(server):
        return "somebody has to stay"
    s.crashed += 1
    s.alive = without_node(s.alive, server)
    return TAKEN


@spec.action
def take_over(s: State, c: Constants, server: Server):
    """A backup becomes the primary, in a new epoch."""
    if s.primary in s.alive:
        return "the primary is alive"
    if server not in s.alive:
        return "the server is down"
    s.primary = server
    s.epoch += 1
    return TAKEN


# --- Yours -----------------------------------------------------------------------------------


@spec.action
def receive(s: State, c: Constants, update: Member("updates")):
    """A backup takes in what it was sent."""
    return "not written yet"


@spec.action
def send_again(s: State, c: Constants, backup: Server):
    """The primary sends a backup the first value that it lacks."""
    return "not written yet"


@spec.action
def acknowledge(s: State, c: Constants, offset: Range(0, "writes - 1")):
    """The primary tells the client that the value at an offset is safe."""
    return "not written yet"


@spec.action
def restart(s: State, c: Constants, server: Server):
    """A server that was down is alive again."""
    return "not written yet"


# --- Given: what is promised -----------------------------------------------------------------


def has(log, value) -> bool:
    """Does the log hold this value?"""
    return any(each == value for each in log)


@spec.invariant
def acknowledged_is_kept(s: State, c: Constants):
    """The primary has all that the client was told is safe."""
    if all(has(s.log[s.primary], value) for value in s.acknowledged):
        return HOLDS
    return "the primary lacks a value that the client was told is safe"


@spec.step_invariant
def nothing_safe_is_removed(before: State, after: State, c: Constants):
    """A server that has a value which the client was told is safe keeps it."""
    for n in range(1, c.servers + 1):
        for value in before.acknowledged:
            if has(before.log[n], value) and not has(after.log[n], value):
                return "a server has removed a value that the client was told is safe"
    return HOLDS


@spec.situation(expected=True)
def everything_is_answered(s: State, c: Constants):
    """The client was told that all its values are safe."""
    return len(s.acknowledged) == c.writes


def is_answered(s: State, c: Constants):
    """Somebody leads, and everything that this server has is acknowledged."""
    return s.primary in s.alive and all(value in s.acknowledged for value in s.log[s.primary])


@spec.property
def nobody_waits_for_ever():
    """Eventually everything that the primary has is acknowledged, and stays so."""
    return eventually_always(is_answered)


spec.weakly_fair(take_over, acknowledge)
spec.weakly_fair(receive, each="update.dest")
spec.weakly_fair(send_again, each="backup")

# --- Given: the picture ----------------------------------------------------------------------


def lane(s: State, n):
    """The picture of one server."""
    role = ("primary" if n == s.primary else "backup") if n in s.alive else "down"
    boxes = [
        Entry(k, f"value {value}", shade=value, committed=value in s.acknowledged)
        for k, value in enumerate(s.log[n])
    ]
    badge = {"primary": "crown", "backup": "", "down": "dead"}[role]
    return Lane([[Text(f"Server {n}", bold=True)], [Text(role)]], boxes, badge=badge)


def describe(s: State, c: Constants):
    """The picture of one state, as plain values."""
    told = ", ".join(f"value {each}" for each in s.acknowledged)
    sent = [Message(f"value {u.value} to {u.dest}", f"epoch {u.epoch}") for u in s.updates]
    return Cluster(
        lanes=[lane(s, n) for n in range(1, c.servers + 1)],
        cards=[Card("Client was told", [Text(told or "nothing")])],
        messages=[Messages("On the way", sent)],
        columns=c.writes,
        legend="✓: the client was told that it is safe",
    )


spec.draw = drawing_of(describe)
