"""The challenges of BookKeeper, the easiest first: what an adversary can do to it."""

from bookkeeper_spec.guaranteed_write_quorum import a_bookie_is_pinned
from bookkeeper_spec.ledger_chaining import two_clients_have_a_ledger
from protocol_lab.teaching.challenges import Challenge

TWO_BOOKIES = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2}
LOST = "no_divergence_between_client_and_meta_data"


def is_acknowledged(s, c) -> bool:
    """Has w1 told its caller that its first entry is written?"""
    return s.w1.lac == 1


def a_stored_entry_is_dropped(s, c) -> bool:
    """Has a recovery closed the ledger as empty, although a bookie stores an entry?"""
    return (
        s.w2.status == "closed"
        and s.meta_last_entry == 0
        and any(s.b_entries[bookie].data[1] != 0 for bookie in range(1, c.bookies + 1))
    )


CHALLENGES = [
    Challenge(
        "acknowledge_an_entry",
        "Acknowledge an entry",
        "Three bookies, a write quorum of 3 and an ack quorum of 2. Bring w1 to tell its caller"
        " that e0 is written.",
        spec="bookkeeper.v4_13",
        reach=is_acknowledged,
        hints=[
            "A bookie's answer needs a step of the bookie, and another one in which w1 takes it.",
            "Two of three bookies are an ack quorum. What becomes of the third does not matter.",
        ],
    ),
    Challenge(
        "two_clients_have_a_ledger",
        "Let two clients lead one log",
        "Ledgers are chained to a log, and nothing prevents two leaders. Make both clients believe"
        " that they lead, each with a ledger of its own in the list.",
        spec="bookkeeper.ledger_chaining",
        constants={},
        reach=two_clients_have_a_ledger,
        hints=[
            "A client can append to the list only if it is the list that it has read.",
            "The first one must not learn that it was deposed, and it learns that only if it asks.",
        ],
    ),
    Challenge(
        "pin_a_bookie",
        "Pin a bookie",
        "A proposal lets a client replace a bookie only once each acknowledged entry is on a write"
        " quorum. One writer with two entries, a write quorum of 2 and an ack quorum of 1: bring it"
        " to where a bookie has timed out and can't be replaced.",
        spec="bookkeeper.guaranteed_write_quorum",
        constants={"bookies": 3, "clients": 1, "send_limit": 2, "max_lost_messages": 1},
        reach=a_bookie_is_pinned,
        hints=[
            "A bookie is pinned from the moment at which the client has acknowledged an entry that"
            " it has confirmed, until the entry is on a write quorum.",
            "Which message to it has to be lost, so that it seems to have failed? Not one about the"
            " first entry.",
        ],
    ),
    Challenge(
        "crash_once",
        "Lose an entry by one crash",
        "A bookie without a journal comes back fenced, but it does not know that it has lost"
        " something. Lose an entry that was acknowledged.",
        spec="bookkeeper.with_limbo",
        constants={
            "bookies": 1,
            "write_quorum": 1,
            "set_limbo_on_unclean_shutdown": "false",
        },
        breaks=LOST,
        hints=[
            "A bookie's answer that is under way survives the bookie.",
            "Crash it after it has stored the entry, and let a recovery ask it.",
        ],
    ),
    Challenge(
        "lose_it_on_two_bookies",
        "Lose an entry on two bookies",
        "Two bookies, a write quorum of 2 and an ack quorum of 1; a bookie that has lost its memory"
        " answers as if it had not. Lose an entry that was acknowledged.",
        spec="bookkeeper.with_limbo",
        constants={"set_limbo_on_unclean_shutdown": "false"},
        breaks=LOST,
        hints=[
            "An answer that is under way survives the crash of the bookie that has sent it.",
            "Both bookies have to say that they have no e0. One has lost it, and the other one"
            " never got it: it is fenced before the add reaches it.",
        ],
    ),
    Challenge(
        "drop_an_entry",
        "Drop an entry that a bookie has",
        "BookKeeper since 4.14, whose recovery reads fence; two bookies, both quorums 2. Have w2"
        " close the ledger as empty, although a bookie stores e0.",
        spec="bookkeeper.v4_13",
        constants=TWO_BOOKIES | {"recovery_reads_fence": "true"},
        reach=a_stored_entry_is_dropped,
        hints=[
            "One bookie that says that it has no such entry is enough to drop the entry: two of two"
            " are an ack quorum.",
            "w1 has to be cut off from the second bookie. The read itself fences it.",
        ],
    ),
    Challenge(
        "outrun_the_fence",
        "Outrun the fence",
        "BookKeeper 4.13, two bookies, both quorums 2. Have a recovery close the ledger, and then"
        " let the writer acknowledge an entry that is not in it. No message needs to be lost.",
        spec="bookkeeper.v4_13",
        constants=TWO_BOOKIES,
        breaks="no_divergence_between_writer_and_meta_data",
        hints=[
            "One fenced bookie of two is enough for the recovery to read. What may that one have"
            " stored, and told the writer, before it was fenced?",
            "The other one says that it has no such entry. What if it is not fenced when it says"
            " so?",
        ],
    ),
    Challenge(
        "lose_what_one_yes_would_save",
        "Lose an entry that one yes would save",
        "Today's protocol, but with recovery reads that do not fence. One positive answer keeps an"
        " entry here. Two bookies, both quorums 2, and no message is lost: lose an acknowledged"
        " entry.",
        spec="bookkeeper.protocol",
        constants=TWO_BOOKIES
        | {
            "clients": 2,
            "recovery_reads_fence": "false",
            "ignore_late_reads": "true",
            "max_lost_messages": 0,
        },
        breaks=LOST,
        hints=[
            "The answer that comes first decides: one that has the entry saves it, and one that"
            " denies it rules it out.",
            "The bookie that says no must say so before it stores e0, and must not be fenced by"
            " then. One fenced bookie of two is enough to begin to read.",
        ],
    ),
    Challenge(
        "begin_too_early",
        "Get a recovery stuck",
        "BookKeeper 4.13 without its second fix: a recovery believes what the last fragment's"
        " bookies tell of the LAC. Make it try to begin a fragment before the last one.",
        spec="bookkeeper.v4_13",
        constants={
            "bookies": 3,
            "write_quorum": 2,
            "ack_quorum": 1,
            "lac_from_fragment": "false",
        },
        breaks="only_valid_fragments",
        hints=[
            "There have to be two fragments: let the writer lose a bookie after it has acknowledged"
            " its entry.",
            "The bookies of the second fragment know nothing. So the recovery reads from the very"
            " beginning, and writes what it finds to the second fragment.",
            "One of these writes has to be lost, so that the recovery must replace a bookie.",
        ],
    ),
    Challenge(
        "leave_an_entry_behind",
        "Leave an entry behind",
        "A proposal promises that a fragment is left only once all its entries are on a write"
        " quorum. One writer, three bookies, a write quorum of 2: make it leave an entry on one"
        " bookie.",
        spec="bookkeeper.unbounded_ledgers",
        constants={"bookies": 3, "clients": 1, "send_limit": 2, "inflight_limit": 2},
        breaks="tail_fragments_reach_write_quorum",
        hints=[
            "The mark of what is fully replicated is counted from the mark of what is acknowledged."
            " So let an entry be acknowledged, and then let the client learn of another one.",
            "A fragment is left when a bookie has timed out: lose a message to the bookie that is"
            " to lack the entry.",
        ],
    ),
]
