"""The constants of the protocols of one ledger: what they mean, and their bounds."""

from typing import Annotated, NamedTuple

from protocol_lab import NO_LIMIT, Configuration, Limits, choice, flag

SMALLEST, ANY = 0, 1
"""How an ensemble is chosen: the smallest that is available, or any that is available."""

BookieCount = Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))]


ClientCount = Annotated[int, Limits(1, 4, "clients, one of which creates the ledger", (2, 3, 4))]

WriteQuorum = Annotated[int, Limits(1, "bookies", "bookies that store each entry")]


AckQuorum = Annotated[int, Limits(1, "write_quorum", "bookies that have to confirm each entry")]

SendLimit = Annotated[
    int, Limits(1, 6, "entries that the writer has to write", classes=(1, 2, 4, 6))
]


InflightLimit = Annotated[int, Limits(1, 6, "entries that may be unconfirmed at a time")]

MaxLostMessages = Annotated[
    int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
]


EnsembleChoice = Annotated[
    int, choice("smallest", "any", meaning="which available ensemble is taken")
]


RecoveryReadsFence = Annotated[int, flag("do recovery reads fence")]

IgnoreLateReads = Annotated[
    int, flag("are reads that are under way ignored once an entry is decided about")
]


CountFromLac = Annotated[
    int, flag("does a LAC rise from where it is, and not only if counted from entry 1")
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
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: CountFromLac = 0


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
