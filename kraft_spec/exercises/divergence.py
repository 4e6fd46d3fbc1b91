"""The exercise of notebooks/kraft/14_which_rules_does_kafka_add on logs: say where to cut."""

from itertools import product
from types import SimpleNamespace

from kraft_spec.actions.replication import end_offset_for_epoch, epoch_at, highest_common_offset
from protocol_lab import *
from protocol_lab.teaching.exercises import *


def as_log(epochs: tuple[int, ...]) -> list[SimpleNamespace]:
    """A log of which only the epochs matter."""
    return [SimpleNamespace(epoch=epoch) for epoch in epochs]


def logs_of(most: int, epochs: int) -> list[tuple[int, ...]]:
    """Every log of up to so many entries, with epochs that never fall."""
    return [
        log
        for length in range(1, most + 1)
        for log in product(range(1, epochs + 1), repeat=length)
        if list(log) == sorted(log)
    ]


def can_meet(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Can one cluster have both logs? An epoch has one leader, who begins at one place."""
    return all(
        epoch not in one
        or epoch not in other
        or one[: one.index(epoch)] == other[: other.index(epoch)]
        for epoch in (1, 2, 3)
    )


def keep(log, end_offset, epoch):
    kept = 0
    for offset in range(1, len(log) + 1):
        mine = log[offset - 1].epoch
        if mine < epoch or (mine == epoch and offset <= end_offset):
            kept = offset
    return kept


@exercise(
    hints=[
        "The leader says: up to my epoch `epoch` I have `end_offset` entries. What of yours can't"
        " be in its log?",
        "An entry of a later epoch than that can't be. Nor can one of just that epoch, beyond the"
        " end.",
        "An entry of an earlier epoch may stay: if it is wrong, the next fetch will say so.",
    ],
    answer=keep,
    why="One answer need not be enough: an entry of an earlier epoch stays although the leader may"
    " lack it, and the next fetch brings another diverging answer. Each one cuts off at least one"
    " epoch, so it ends. Offsets are counted from 1 here, as in the original.",
)
def where_to_cut(answer) -> Feedback:
    """Where does the follower cut?

    The leader has answered that its log holds `end_offset` entries up to and including epoch
    `epoch`. Write `keep(log, end_offset, epoch)`: how many of its entries the follower keeps.
    There are `len(log)` entries; the first is `log[0]`, with its `.epoch`. The check lets a
    follower fetch from a leader, for every pair of logs of up to four entries in three epochs
    that one cluster can have.
    """
    expect_parameters(answer, "log", "end_offset", "epoch")
    pairs, most = 0, 0
    for mine, theirs in product(logs_of(4, 3), repeat=2):
        if mine[0] != theirs[0] or not can_meet(mine, theirs):
            continue
        rounds, log = 0, mine
        while log[: len(theirs)] != theirs[: len(log)]:
            leader = as_log(theirs)
            end = end_offset_for_epoch(leader, log[-1])
            told = (end, epoch_at(leader, end))
            kept, expected = answer(as_log(log), *told), highest_common_offset(as_log(log), *told)
            if kept != expected:
                return wrong(
                    f"The follower's epochs are {log}, the leader's {theirs}. It is told"
                    f" {told[0]} entries up to epoch {told[1]}: you keep {kept}, of which"
                    + (" some must go." if kept > expected else " too many go.")
                )
            log, rounds = log[:kept], rounds + 1
        pairs, most = pairs + 1, max(most, rounds)
    return right(f"All {pairs:,} pairs of logs agree eventually, after {most} answers at most.")
