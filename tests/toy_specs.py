"""Small made-up protocols that use every part of the foundation that Kafka does not."""

from typing import Annotated, NamedTuple

from protocol_lab import *

Server = Node("servers")


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 3, "servers")] = 2
    values: Annotated[int, Limits(0, 9, "values that may be sent")] = 2
    slots: int = 8  # exactly: tests fill it
    starts: Annotated[int, Limits(0, 9, "initial states")] = 2
    lossy: Annotated[int, flag("may messages be lost")] = 1


class Message(Struct):
    source: Server
    dest: Server
    value: Int8


class ServerState(Struct):
    seen: Bag(Int8, 4)
    log: Seq(Message, "slots")
    mode: Named("idle", "busy")


class State(Struct):
    next_value: Int8
    flag: Bool
    reached: NodeSet(Server)
    server: Per(Server, ServerState)
    messages: Bag(Message, "slots")


letters = Spec("toy.letters", State, Constants, "Servers send numbered letters; some get lost.")
letters.messages("messages", source="source", dest="dest", lost="lost")


@letters.init
def start(s: State, c: Constants, first: Range(0, "starts - 1")):
    s.next_value = first
    return TAKEN


def others(c, source) -> int:
    """Everybody but the sender."""
    return without_node(nodes_up_to(c.servers), source)


def may_be_lost(c, source) -> int:
    """Which of the letters of a broadcast may get lost."""
    return others(c, source) if c.lossy else 0


@letters.action
def broadcast(s: State, c: Constants, source: Server, lost: Subset(may_be_lost)):
    """A server writes to all others; the letters to `lost` vanish."""
    if s.next_value >= c.values:
        return "all values are sent"
    for dest in members(others(c, source)):
        if not contains(lost, dest):
            add(s.messages, Message(source=source, dest=dest, value=s.next_value))
    s.server[source].mode = 1
    s.next_value += 1
    return TAKEN


@letters.action
def receive(s: State, c: Constants, message: Member("messages")):
    """A letter arrives and is kept."""
    here = s.server[message.dest]
    take(s.messages, message)
    add_once(here.seen, message.value)
    append(here.log, message)
    s.reached = with_node(s.reached, message.dest)
    s.flag = s.messages.size == 0
    return TAKEN


@letters.action
def forget(s: State, c: Constants, server: Server):
    """A server throws its newest letter away."""
    if s.server[server].log.length == 0:
        return "the log is empty"
    truncate(s.server[server].log, s.server[server].log.length - 1)
    s.server[server].mode = 0
    return TAKEN


@letters.invariant
def few_letters(s: State, c: Constants):
    """Never more than two letters are under way."""
    return HOLDS if s.messages.size <= 2 else "three letters are under way"


@letters.invariant(by_default=False)
def logged_values_were_seen(s: State, c: Constants):
    """What is in a log was seen."""
    if all(
        is_in(s.server[n].seen, s.server[n].log.items[k].value)
        for n in range(1, c.servers + 1)
        for k in range(s.server[n].log.length)
    ):
        return HOLDS
    return "a logged value was not seen"


@letters.step_invariant
def values_grow(before: State, after: State, c: Constants):
    """The next value never goes down."""
    return HOLDS if after.next_value >= before.next_value else "the next value went down"


def values_last(before: State, after: State, c: Constants):
    """The values are never used up: a step invariant that fails, for who adds it to the spec."""
    return "a value too many" if before.next_value < c.values <= after.next_value else HOLDS


@letters.situation(expected=True)
def a_letter_arrives(s: State, c: Constants):
    return s.reached != 0


@letters.situation(expected=True)
def pigs_fly(s: State, c: Constants):
    return False


# --- A parameter that is one of several names ----------------------------------------------------


class Polls(Struct):
    answers: Per(Server, Named("none", "yes", "no"))


polls = Spec("toy.polls", Polls, Constants, "Everybody is asked once.")


@polls.init
def nobody_was_asked(s: Polls, c: Constants):
    return TAKEN


@polls.action
def hear(s: Polls, c: Constants, server: Server, answer: Named("yes", "no")):
    """A server says what it thinks."""
    if s.answers[server] != 0:
        return "the server has answered"
    s.answers[server] = answer + 1
    return TAKEN


@polls.invariant
def somebody_agrees(s: Polls, c: Constants):
    """Not everybody says no."""
    if all(s.answers[server] == 2 for server in range(1, c.servers + 1)):
        return "all said no"
    return HOLDS


# --- Parameters that are sequences of numbers ----------------------------------------------------


class Shelf(Struct):
    books: Seq(Int8, 4)
    rearranged: Bool


shelves = Spec("toy.shelves", Shelf, Constants, "Books stand in some order, then in another one.")


def as_many(s) -> int:
    """As many books as there are."""
    return s.books.length


@shelves.init
def fill(s: Shelf, c: Constants, books: Sequences(1, "servers", 2)):
    for k in range(len(books)):
        append(s.books, books[k])
    return TAKEN


@shelves.action
def rearrange(s: Shelf, c: Constants, books: Sequences(0, "values - 1", as_many)):
    """All books are exchanged, for some of rising numbers."""
    if s.rearranged:
        return "that was done already"
    if any(books[k] >= books[k + 1] for k in range(len(books) - 1)):
        return "the numbers do not rise"
    truncate(s.books, 0)
    for k in range(len(books)):
        append(s.books, books[k])
    s.rearranged = True
    return TAKEN


class CounterConstants(NamedTuple):
    limit: Annotated[int, Limits(0, 999, "where the counter stops", may_be_none=True)] = 5
    step: Annotated[int, Limits(1, 99, "how much one step adds")] = 1


class CounterState(Struct):
    n: Int8.bounded_by("limit")


counter = Spec("toy.counter", CounterState, CounterConstants, "Counts up, and wraps nowhere.")


@counter.init
def zero(s: CounterState, c: CounterConstants):
    return TAKEN


@counter.action
def count(s: CounterState, c: CounterConstants):
    if s.n >= c.limit:
        return "the limit is reached"
    s.n += c.step
    return TAKEN


@counter.step_invariant(by_default=False)
def never_to_three(before: CounterState, after: CounterState, c: CounterConstants):
    return "it went to three" if after.n == 3 else HOLDS


def asserts_few(s) -> bool:
    """Fails where n is 260 or more. It stands here as pytest rewrites the asserts of its tests."""
    assert s.n < 260, "too many"
    return True
