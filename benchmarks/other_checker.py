"""Runs minicheck, another model checker in Python, on a model written for it.

The model is `kafka.finite_replicated_log`: records are appended to logs, copied from one log to
another, and truncated anywhere. It has one field for each replica: its log, as a tuple.
The `bench` extra of pyproject.toml installs minicheck.
"""

import time
from collections.abc import Iterator
from typing import Any

SPEC = "kafka.finite_replicated_log"
CONSTANTS = {"replicas": 3, "log_records": 2, "log_size": 4}
QUICK = {"replicas": 2, "log_records": 2, "log_size": 3}

Logs = tuple[tuple[int, ...], ...]


def steps(logs: Logs, records: int, size: int) -> Iterator[tuple[str, Logs]]:
    """Every step from a state, with its label."""
    for k, log in enumerate(logs):

        def changed(new: tuple[int, ...], k: int = k) -> Logs:
            return (*logs[:k], new, *logs[k + 1 :])

        if len(log) < size:
            for record in range(1, records + 1):
                yield f"append({k}, {record})", changed((*log, record))
        for end in range(min(len(log), size - 1) + 1):
            yield f"truncate_to({k}, {end})", changed(log[:end])
        for source, other in enumerate(logs):
            if len(other) > len(log):
                yield f"replicate_to({source}, {k})", changed((*log, other[len(log)]))


def checked(constants: dict[str, int]) -> tuple[int, float]:
    """How many states minicheck finds, and in how many seconds. Raises ImportError without it."""
    from minicheck import Protocol, check_safety

    replicas, records, size = (constants[k] for k in ("replicas", "log_records", "log_size"))

    def type_ok(state: dict[str, Any]) -> bool:
        return all(
            len(log) <= size and all(1 <= each <= records for each in log) for log in state.values()
        )

    protocol = Protocol(
        name=SPEC,
        candidate=False,
        fields=tuple(f"log {k + 1}" for k in range(replicas)),
        initial=((),) * replicas,
        transitions=lambda logs: list(steps(logs, records, size)),
        invariants={"type_ok": type_ok},
    )
    began = time.perf_counter()
    found = check_safety(protocol, max_states=10**7)
    return found["reachable_states"], time.perf_counter() - began
