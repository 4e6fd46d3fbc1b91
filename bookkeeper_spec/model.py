"""The constants and the state of a ledger, and small reads of it, which most variants share.

A ledger is a short log. One client creates it, writes entries 1, 2, 3, ... to it and closes it;
afterwards nobody writes to it any more. Entries are stored on bookies: each on all bookies of an
ensemble, of which there are `write_quorum`, and the client tells its own caller that an entry is
written once `ack_quorum` of them have confirmed it. The last entry up to which everything is
confirmed is the client's LAC (last add confirmed); the last one it has sent is its LAP (last add
pushed).

The metadata stand in a store of their own (ZooKeeper's part) and are changed by compare-and-set on
their version. They hold the status, and the list of fragments: from which entry on which ensemble
stores the ledger. If a bookie fails, the client replaces it by beginning a new fragment after its
LAC, or by giving the last fragment another ensemble if nothing of it is confirmed yet.

Entry ids begin with 1 and a LAC of 0 means "nothing yet", as in the original specifications;
BookKeeper itself counts entries from 0, and its LAC begins with -1. An entry's data are the number
that the writer meant it to have, so that a mix-up would show.

Throughout: `s` is the state and `c` the constants, `mine` or `writer` a client's own record. `lac`
and `lap` are the last entries confirmed and pushed; entries and bookies count from 1, 0 is none.
`meta_` marks what the metadata store holds, `b_` what bookies hold. In `messages` the adds of an
entry stand at `of[entry - 1]`, their requests at the LAC that they carry; a `Mail` is three sets of
bookies: to whom a message is under way, from whom it was lost, and who has handled it.

In this order: constants; the ledger; messages; clients; the state of `bookkeeper.protocol`; reads,
and small changes, of each of these.
"""

from typing import Annotated, NamedTuple

from protocol_lab import *

# --- Constants -----------------------------------------------------------------------------------

BookieCount = Annotated[int, Limits(1, 7, "bookies that there are")]

ClientCount = Annotated[int, Limits(1, 4, "clients, one of which creates the ledger")]

WriteQuorum = Annotated[int, Limits(1, "bookies", "bookies that store each entry")]

AckQuorum = Annotated[int, Limits(1, "write_quorum", "bookies that have to confirm each entry")]

SendLimit = Annotated[int, Limits(1, 6, "entries that the writer has to write")]

InflightLimit = Annotated[int, Limits(1, 6, "entries that may be unconfirmed at a time")]

MaxLostMessages = Annotated[
    int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
]

EnsembleChoice = Annotated[
    str, choice("smallest", "any", meaning="which available ensemble is taken")
]

RecoveryReadsFence = Annotated[int, flag("do recovery reads fence")]

IgnoreLateReads = Annotated[
    int, flag("are reads that are under way ignored once an entry is decided about")
]

CountFromLac = Annotated[
    int, flag("does a LAC rise from where it is, and not only if counted from entry 1")
]

CloseOverridesRecovery = Annotated[
    int, flag("does the writer close a ledger that is being recovered, as in BookKeeper 4.18.0")
]


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 2
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: SendLimit = 1
    inflight_limit: InflightLimit = 1
    recovery_reads_fence: RecoveryReadsFence = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = "smallest"
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: CountFromLac = 0
    close_overrides_recovery: CloseOverridesRecovery = 0


CONFIGURATIONS = (
    Configuration("default", "the smallest ensemble with a replica", "285,773 distinct states"),
    Configuration(
        "both_acknowledge",
        "every entry is confirmed by both bookies",
        "1,795,149 distinct states",
        {"ack_quorum": 2},
    ),
    Configuration(
        "shipped",
        "as in BookKeeperProtocol.cfg, which comes with the original",
        "more than 3,000,000 distinct states",
        {"bookies": 4, "clients": 2, "write_quorum": 3, "ack_quorum": 2},
    ),
)


# --- The ledger ----------------------------------------------------------------------------------

Bookie = Node("bookies")

EntryId = Node("send_limit")

SomeEntry = Range(1, "send_limit")
SomeLac = Range(0, "send_limit")

Status = Named(
    "nil", "open", "in_recovery", "closed", "invalid", "client_withdrawn", "recovery_aborted"
)
"""What a ledger or a client may be. nil: it does not exist yet, or takes no part (any more)."""


class Entry(Struct):
    """What the writer wrote: an id, and data."""

    id: Int8
    data: Int8


class Fragment(Struct):
    """The bookies that store the entries from `first_entry_id` on. The id counts from 1."""

    id: Int8
    ensemble: NodeSet(Bookie)
    first_entry_id: Int8


class PendingAddOp(Struct):
    """An entry that is not confirmed yet, and to which fragment and ensemble it was sent."""

    entry: Entry
    fragment_id: Int8
    ensemble: NodeSet(Bookie)


class StoredEntries(Struct):
    """What one bookie stores: under each entry id the set of data, which is one number or none."""

    data: Per(EntryId, NodeSet(EntryId))


class Ledger(Struct):
    """The ledger's metadata, and what each bookie holds of it."""

    meta_status: Status
    meta_fragments: Seq(Fragment, "send_limit + 1")
    meta_last_entry: Int8  # known once the ledger is closed
    meta_version: Int8
    b_entries: Per(Bookie, StoredEntries)
    b_lac: Per(Bookie, Int8)


class FencedLedger(Ledger):
    """A ledger with one writer: a client that takes over fences it, and closes it."""

    b_fenced: NodeSet(Bookie)  # those that take no adds any more but a recovery's


# --- Messages ------------------------------------------------------------------------------------

# A client sends the same request to several bookies, so a request is stored as three sets of
# bookies: those to which it is still under way, those that have handled it, and those for which it
# was lost. (For an answer they are the bookies that it is from.) Nothing is ever sent twice: a
# message that was sent stays in one of the three sets.
#
# Whether a message is lost is decided when it is sent, by the parameter `lost` of the action that
# sends it. The client notices a loss as a time-out, at any time later. Once it has acted upon the
# time-out, the message counts as handled.
#
# Requests to add the same entry with different LACs are different messages. In today's protocol the
# LAC is their `stamp`, which distinguishes the requests for one entry; in other variants the stamp
# has more parts.
#
# Messages may overtake each other, but one client's adds to one bookie are handled in the order of
# their entries, and so are the answers to them. No other order is guaranteed.


class Mail(Struct):
    """One message to, or from, several bookies."""

    waiting: NodeSet(Bookie)  # under way
    handled: NodeSet(Bookie)  # processed, or lost and the time-out acted upon
    lost: NodeSet(Bookie)  # lost, and nobody has acted upon it


class Adds(Struct):
    """All messages between one client and the bookies about adding one entry."""

    data: Int8  # of the entry; the same in all these messages
    requests: Array(Mail, "send_limit + 1")  # by their stamp, the LAC
    confirmed: Mail
    refused: Mail  # because the ledger is fenced there


class AddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(Adds, "send_limit")


class WriteAndFenceMessages(Struct):
    """The messages between one client and the bookies, but for reads."""

    adds: AddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC


# --- Clients -------------------------------------------------------------------------------------

# The first client to act creates the ledger; every other client may recover it. A client does one
# or the other, once. So fenced bookies accept the adds of exactly those clients that have begun a
# recovery.

Client = Node("clients")

NOT_STARTED, FENCING, READ_WRITE = range(3)
"""The phases of a recovery: numbers, as in the original. Other variants have other ones after
FENCING (`v4_13`)."""

NO_ENTRY = -1
"""The last recoverable entry while it is not known; 0 means that no entry is recoverable."""


class Writer(Struct):
    """What a client knows of the ledger, whether it created it or recovers it."""

    meta_version: Int8  # of the metadata, when it last read or wrote them; 0 for none
    status: Status
    curr_fragment: Fragment
    pending_add_ops: Bag(PendingAddOp, "send_limit")
    lap: Int8  # last add pushed
    lac: Int8  # last add confirmed: entries up to it are acknowledged to the caller
    confirmed: Per(EntryId, NodeSet(Bookie))  # who has confirmed each entry
    fenced: NodeSet(Bookie)  # who has confirmed to a recoverer that it is fenced
    recovery_phase: Int8


class KnownLedger(Writer):
    """What every client has of the ledger."""

    fragments: Seq(Fragment, "send_limit + 1")  # a recoverer's may be ahead of the metadata's


# --- The state of `bookkeeper.protocol` ----------------------------------------------------------


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    last_recoverable_entry: Int8


class Reads(Struct):
    """Requests for one entry, and the answers: its data, or "no such entry"."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1
    no_such_entry: Mail


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


def init(s: State, c: Constants):
    """There is no ledger."""
    for client in range(1, c.clients + 1):
        s.clients[client].last_recoverable_entry = NO_ENTRY
    return TAKEN


# --- Entries on bookies --------------------------------------------------------------------------


def store(s, bookie, entry, data, lac) -> None:
    """The bookie stores an entry, and the LAC that came with it, even a lower one than before."""
    s.b_entries[bookie].data[entry] = with_node(s.b_entries[bookie].data[entry], data)
    s.b_lac[bookie] = lac


def has_entry(s, bookie, entry) -> bool:
    """Does the bookie store an entry of this id?"""
    return s.b_entries[bookie].data[entry] != 0


def data_of(s: State, bookie, entry) -> int:
    """What the bookie stores under this id."""
    return smallest(s.b_entries[bookie].data[entry])


def answer_from(s, c, bookie, reads, entry, denial):
    """The messages with a bookie's answer to a read: with the data, or `denial` if it has none."""
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        return reads.responses[data_of(s, bookie, entry) - 1]
    return denial


def copies(s, fragment, entry) -> int:
    """How many bookies of the fragment's ensemble store the entry."""
    return sum(1 for bookie in fragment.ensemble if has_entry(s, bookie, entry))


# --- The end of a ledger, and its fragments ------------------------------------------------------


def close_ledger(s, mine, last_entry) -> None:
    """Close the ledger at an entry."""
    s.meta_version += 1
    s.meta_status = "closed"
    s.meta_last_entry = last_entry
    mine.meta_version = s.meta_version
    mine.status = "closed"


def why_not_end_recovery(s, mine, has_read_all) -> str:
    """Why a recovery can't write its result to the metadata; "" if it can."""
    if mine.status != "in_recovery" or s.meta_status != "in_recovery":
        return "the client does not recover, or somebody has ended the recovery"
    if not has_read_all:
        return "the recovery has not read all there is"
    if len(mine.pending_add_ops) != 0:
        return "an entry that was read is not written back yet"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return TAKEN


def fragment_of_entry(fragments, entry) -> int:
    """Where in the list this entry's fragment stands: the last that begins at or before it."""
    position = len(fragments) - 1
    while position > 0 and fragments[position].first_entry_id > entry:
        position -= 1
    return position


def ensemble_of(s, entry) -> NodeSet(Bookie):
    """The bookies that store an entry, by the metadata."""
    return s.meta_fragments[fragment_of_entry(s.meta_fragments, entry)].ensemble


def update_fragments(fragments, current, first_entry_id, ensemble) -> None:
    """Begin a new fragment, or replace the ensemble of the last one if it begins there as well."""
    if first_entry_id == current.first_entry_id:
        last(fragments).ensemble = ensemble
        return
    number = len(fragments) + 1
    append(fragments, Fragment(id=number, ensemble=ensemble, first_entry_id=first_entry_id))


def begin_fragment(c, writer, fragments, first_entry_id, failed, ensemble) -> None:
    """Use another ensemble from an entry on.

    The failed bookies' confirmations of these entries no longer count: the new ensemble does not
    have those bookies.
    """
    update_fragments(fragments, writer.curr_fragment, first_entry_id, ensemble)
    writer.curr_fragment = last(fragments)
    for entry in range(first_entry_id, c.send_limit + 1):
        writer.confirmed[entry] &= ~failed


# --- Ensembles -----------------------------------------------------------------------------------


def has_quorum_coverage(c, count, cohort_size) -> bool:
    """Are so many bookies of a cohort enough that every ack quorum has one of them?

    `quorum_coverage.enough_satisfy` for a count; three other ways to say it stand beside that.
    """
    return count >= cohort_size - c.ack_quorum + 1


def is_in_use(s: State, ensemble) -> bool:
    """Does a fragment of the metadata have exactly this ensemble?"""
    return any(fragment.ensemble == ensemble for fragment in s.meta_fragments)


def is_valid_ensemble(s: State, ensemble, include, exclude) -> bool:
    """Does it have all of `include` and none of `exclude`, and is it no fragment's yet?"""
    return is_subset(include, ensemble) and ensemble & exclude == 0 and not is_in_use(s, ensemble)


def comes_before(ensemble: NodeSet(Bookie), other: NodeSet(Bookie)) -> bool:
    """Does the first of two sets have the smallest bookie in which they differ?

    Of sets of one size this is the order of their sorted lists: {1, 4} comes before {2, 3}.
    """
    return smallest((ensemble | other) & ~(ensemble & other)) in ensemble


def smallest_ensemble(s, c, include, exclude) -> NodeSet(Bookie):
    """The first valid ensemble with all of `include` and none of `exclude`; 0 if there is none.

    The original takes an arbitrary one, always the same; TLC takes this one.
    """
    chosen = nodes_up_to(0)
    for others in subsets(nodes_up_to(c.bookies) & ~include & ~exclude):
        ensemble = include | others
        is_better = chosen == 0 or comes_before(ensemble, chosen)
        if is_better and len(ensemble) == c.write_quorum and not is_in_use(s, ensemble):
            chosen = ensemble
    return chosen


def bookies_to_choose(s, c, include, exclude) -> NodeSet(Bookie):
    """The bookies of which an ensemble can be made, for the domain of a parameter."""
    chosen = nodes_up_to(c.bookies) & ~exclude
    if c.ensemble_choice == "smallest":
        chosen = smallest_ensemble(s, c, include, exclude)
    return chosen if len(chosen) >= c.write_quorum else placeholder_ensemble(c)


def placeholder_ensemble(c) -> NodeSet(Bookie):
    """A placeholder where no ensemble can be chosen, so that the action is tried and says why."""
    return nodes_up_to(c.write_quorum)


def symmetric_bookies(c) -> NodeSet(Bookie):
    """The bookies that are symmetric: none where the smallest ensemble is chosen among several."""
    is_symmetric = c.ensemble_choice == "any" or c.write_quorum == c.bookies
    return nodes_up_to(c.bookies) if is_symmetric else nodes_up_to(0)


# --- One message ---------------------------------------------------------------------------------


def its_own(bookie) -> NodeSet(Bookie):
    """The bookie whose answer may be lost: the only one that answers in a step."""
    return only(bookie)


def sent(mail) -> NodeSet(Bookie):
    """The bookies to or from which the message was ever sent."""
    return mail.waiting | mail.handled | mail.lost


def send(mail, bookies, lost) -> None:
    """Send a message to, or from, some bookies, of which some messages are lost."""
    mail.waiting |= bookies & ~lost
    mail.lost |= bookies & lost


def handle(mail, bookie) -> None:
    """Mark a message that was under way as handled."""
    mail.waiting = without_node(mail.waiting, bookie)
    mail.handled = with_node(mail.handled, bookie)


def reply_to(request, answer, bookie, lost) -> str:
    """A bookie answers a request that is under way to it. It sends no answer twice."""
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    reply(request, answer, bookie, lost)
    return TAKEN


def reply(request, answer, bookie, lost) -> None:
    """A bookie answers a request that is under way to it."""
    handle(request, bookie)
    send(answer, only(bookie), lost)


def act_upon_losses(mail, bookies) -> None:
    """Mark what was lost from and to these bookies as handled: the client has timed out."""
    mail.handled |= mail.lost & bookies
    mail.lost &= ~bookies


def ignore(mail, bookies) -> None:
    """Mark what is still under way from or to these bookies as handled: nobody will look at it."""
    mail.handled |= mail.waiting & bookies
    mail.waiting &= ~bookies


# --- Adds ----------------------------------------------------------------------------------------


def is_earliest_request(messages, entry, bookie) -> bool:
    """Is there no request of the client for an earlier entry under way to this bookie?"""
    return not any(
        bookie in request.waiting for k in range(entry - 1) for request in messages.of[k].requests
    )


def is_earliest_answer(messages, entry, bookie) -> bool:
    """Is there no answer about an earlier entry under way from this bookie to the client?"""
    return not any(
        bookie in messages.of[k].confirmed.waiting | messages.of[k].refused.waiting
        for k in range(entry - 1)
    )


def why_not_handle_add(messages, entry, stamp, bookie) -> str:
    """Why a bookie can't handle this request to add an entry; "" if it can."""
    if bookie not in messages.of[entry - 1].requests[stamp].waiting:
        return "no such request is under way to this bookie"
    if not is_earliest_request(messages, entry, bookie):
        return "a request for an earlier entry is under way to this bookie"
    return TAKEN


def why_not_hear_refusal(messages, entry, bookie) -> str:
    """Why a client can't receive this bookie's refusal of an entry; "" if it can."""
    if bookie not in messages.of[entry - 1].refused.waiting:
        return "no refusal of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    return TAKEN


def add_time_outs(messages) -> NodeSet(Bookie):
    """The bookies of which the client has lost a request to add an entry, or an answer to one."""
    bookies = nodes_up_to(0)
    for adds in messages.of:
        bookies |= adds.confirmed.lost | adds.refused.lost
        for request in adds.requests:
            bookies |= request.lost
    return bookies


def act_upon_add_time_outs(messages, bookies) -> None:
    """The client has replaced these bookies."""
    for adds in messages.of:
        act_upon_losses(adds.confirmed, bookies)
        act_upon_losses(adds.refused, bookies)
        for request in adds.requests:
            act_upon_losses(request, bookies)


def send_adds(adds, data, stamp, bookies, lost) -> None:
    """Ask these bookies to add an entry; the requests to `lost` get lost."""
    if bookies != 0:
        adds.data = data
        send(adds.requests[stamp], bookies, lost)


def was_add_sent(adds) -> bool:
    """Was any request to add this entry ever sent?"""
    return any(sent(request) != 0 for request in adds.requests)


def were_adds_sent(adds, stamp, bookies) -> bool:
    """Was this very request to add an entry sent to one of these bookies before?"""
    return sent(adds.requests[stamp]) & bookies != 0


# --- Clients and their pending adds --------------------------------------------------------------


def recovers(s, client) -> bool:
    """Has the client begun to recover the ledger, rather than created it?"""
    return s.clients[client].recovery_phase != NOT_STARTED


def needs_resend(op, fragment) -> bool:
    """Was the entry sent before the fragment got its ensemble?"""
    return op.fragment_id != fragment.id or op.ensemble != fragment.ensemble


def has_pending_resends(writer) -> bool:
    """Are there pending adds that were not sent to the current ensemble yet?"""
    return any(needs_resend(op, writer.curr_fragment) for op in writer.pending_add_ops)


def add_pending_op(writer, entry, data) -> None:
    """Remember that an entry is to be confirmed by the current ensemble."""
    add(
        writer.pending_add_ops,
        PendingAddOp(
            entry=Entry(id=entry, data=data),
            fragment_id=writer.curr_fragment.id,
            ensemble=writer.curr_fragment.ensemble,
        ),
    )


def confirmed_from(c, writer: Writer, known, quorum) -> int:
    """The last entry up to which a quorum of bookies confirmed every entry after `known`."""
    entry = known
    while entry < c.send_limit and len(writer.confirmed[entry + 1]) >= quorum:
        entry += 1
    return entry


def drop_pending_ops(writer, reached) -> None:
    """Forget the pending adds up to an entry: enough bookies have confirmed them."""
    k = 0
    while k < len(writer.pending_add_ops):
        op = writer.pending_add_ops.items[k]
        if op.entry.id <= reached:
            take(writer.pending_add_ops, op)
        else:
            k += 1


def new_bookies_for(writer, entry) -> NodeSet(Bookie):
    """The bookies of the current ensemble to which a pending add was not sent."""
    for op in writer.pending_add_ops:
        if op.entry.id == entry:
            return writer.curr_fragment.ensemble & ~op.ensemble
    return nodes_up_to(0)


def is_sent_later(writer, op) -> bool:
    """Does an earlier pending add of the same fragment and ensemble have to be sent first?"""
    return any(
        other.entry.id < op.entry.id
        and other.fragment_id == op.fragment_id
        and other.ensemble == op.ensemble
        for other in writer.pending_add_ops
    )
