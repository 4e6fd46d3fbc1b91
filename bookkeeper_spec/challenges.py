"""The challenges of BookKeeper, the easiest first: what an adversary can do to it."""

from bookkeeper_spec.ledger_chaining import two_clients_have_a_ledger
from protocol_lab.teaching.challenges import Challenge

TWO_BOOKIES = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2}

CHALLENGES = [
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
            "The first one must not hear that it was deposed, and it hears of it only if it asks.",
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
        breaks="no_divergence_between_client_and_meta_data",
        hints=[
            "A bookie's answer that is under way survives the bookie.",
            "Crash it after it has stored the entry, and let a recovery ask it.",
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
            " So let an entry be acknowledged, and then let the client hear of another one.",
            "A fragment is left when a bookie has timed out: lose a message to the bookie that is"
            " to lack the entry.",
        ],
    ),
]
