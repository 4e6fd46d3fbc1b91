"""The configurations that are measured: one spec of each protocol, with growing constants."""

from dataclasses import dataclass
from typing import Any

Constants = dict[str, Any]


@dataclass(frozen=True)
class Growth:
    """A protocol's spec and its configurations, the smallest first.

    changing: the constants that differ between them, which the table shows. invariants: as for
    `explore`; where a default one would be violated, those that hold.
    """

    spec: str
    changing: tuple[str, ...]
    configurations: tuple[Constants, ...]
    invariants: list[str] | None = None


def kafka(replicas: int, records: int, epoch: int) -> Constants:
    """Logs as long as there are records."""
    return {
        "replicas": replicas,
        "log_size": records,
        "max_records": records,
        "max_leader_epoch": epoch,
    }


def _bookkeeper(bookies: int, ack_quorum: int) -> Constants:
    """Every bookie gets every entry."""
    return {"bookies": bookies, "write_quorum": bookies, "ack_quorum": ack_quorum}


def kraft(servers: int, epoch: int, values: int, restarts: int = 0) -> Constants:
    """Voters that are never replaced."""
    return {
        "init_cluster_size": servers,
        "min_cluster_size": servers,
        "max_cluster_size": servers,
        "hosts": servers,
        "max_spawned_servers": servers,
        "max_epoch": epoch,
        "max_values_per_epoch": values,
        "max_restarts": restarts,
    }


GROWTHS = (
    Growth(
        "kafka.kip_320",
        ("replicas", "max_records", "max_leader_epoch"),
        (kafka(2, 2, 2), kafka(3, 1, 2), kafka(3, 2, 2), kafka(3, 3, 2), kafka(3, 2, 3)),
    ),
    Growth(
        "bookkeeper.protocol",
        ("bookies", "write_quorum", "ack_quorum"),
        (_bookkeeper(1, 1), _bookkeeper(2, 1), _bookkeeper(2, 2)),
    ),
    Growth(
        "pulsar.compaction",
        ("message_sent_limit", "compaction_times_limit"),
        tuple(
            {"message_sent_limit": sent, "compaction_times_limit": compacted}
            for sent, compacted in ((2, 2), (3, 3), (4, 3))
        ),
        ["type_safe", "compaction_horizon_correctness"],
    ),
    Growth(
        "kraft.kip_853",
        ("init_cluster_size", "max_epoch", "max_values_per_epoch", "max_restarts"),
        (kraft(2, 2, 0), kraft(2, 2, 1), kraft(3, 1, 1, restarts=1), kraft(2, 3, 0)),
    ),
)
