"""The search itself: breadth first, one state at a time, over rows in one linear memory.

It is written as the kit's other kernels are, with numbers at addresses, and is compiled with the
pieces of one model. The counts are those of the reference engine: the successors of a state are
handled in order, states outside a constraint are judged but neither counted nor expanded, and a
violation ends the search at once.

Whoever runs the search makes the memory and fills the table of numbers, `control`, whose positions
are named below; the first of them are those of `compiler.loops`.
"""

from collections.abc import Callable

import numpy as np

from protocol_lab.compiler import fingerprint
from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.loops import (
    ACTION_OF,
    MULTIPLICITY_OF,
    OUT,
    ROOM,
    ROWS,
    number_at,
    put_number,
)

(
    JUDGED, WORDS, CAPACITY, SLOTS, MASK, PARENTS, PER_ACTION,
    INVARIANTS, STEP_INVARIANTS, CONSTRAINTS, UNMET,
    COUNT, DONE, LEVEL_END, DEPTH, MADE, BROKEN, BROKEN_STEP, AT,
) = range(ROOM + 1, ROOM + 20)  # fmt: skip
"""What is given: the address of the table that properties read, in which the rows are the
candidates; the words of a row, the most states, the address and the mask of the hash table, and the
addresses of the parents' positions and of the counts by action, the first of which is that of the
initial states. Then the properties to judge, as bits: invariants, step invariants, constraints, and
the expected situations that no state has yet.

What is told: the states found and those expanded, where the level ends, the depth; how many
initial states there are; and of a violation its bits, and which of the candidates it is."""

GOING_ON, COMPLETE, VIOLATED, FULL, TOO_MANY = range(5)
"""What `search` returns. FULL: there are more states than there is room for; TOO_MANY: a state has
more successors than there is room for."""

_mixed, _finished = inner(fingerprint._mixed.py_func), inner(fingerprint._finished.py_func)


@inner
def _print_of(address, words):
    """The fingerprint of the row at an address, the same as everywhere else."""
    mixed = np.uint64(fingerprint._START)
    for k in range(words):
        mixed = _mixed(mixed, np.uint64(number_at(address, k)))
    return _finished(mixed)


@inner
def _copy(source, target, words) -> None:
    for k in range(words):
        put_number(target, k, number_at(source, k))


def make_search(expand: Callable, judge: Callable, judge_step: Callable) -> Callable:
    """The function search(control, most), which expands up to `most` states.

    expand(control, source) writes the successors and returns how many; judge(table, candidate,
    source, wanted) and judge_step, the same for steps, return which of the wanted properties fail.
    All are compiled. `most` 0 enters the initial states, which are among the candidates.
    """

    @inner
    def enter(control, candidate, source):
        """Handle one candidate; source: the position it was found from, or -1."""
        words, table = number_at(control, WORDS), number_at(control, JUDGED)
        row = number_at(control, OUT) + 8 * words * candidate
        action = number_at(number_at(control, ACTION_OF), candidate) if source >= 0 else -1
        times = number_at(number_at(control, MULTIPLICITY_OF), candidate) if source >= 0 else 1
        counts = number_at(control, PER_ACTION)
        constraints = number_at(control, CONSTRAINTS)
        outside = constraints != 0 and judge(table, candidate, source, constraints) != 0
        is_new = False
        if not outside:
            slots, mask = number_at(control, SLOTS), number_at(control, MASK)
            wanted = np.int64(_print_of(row, words))
            slot = (wanted >> 20) & mask
            there = number_at(slots, slot)
            while there != 0 and there != wanted:
                slot = (slot + 1) & mask
                there = number_at(slots, slot)
            is_new = there == 0
            if is_new:
                count = number_at(control, COUNT)
                if count == number_at(control, CAPACITY):
                    return FULL
                put_number(slots, slot, wanted)
                _copy(row, number_at(control, ROWS) + 8 * words * count, words)
                put_number(number_at(control, PARENTS), count, source)
                put_number(control, COUNT, count + 1)
        put_number(counts, action + 1, number_at(counts, action + 1) + times)
        if is_new or outside:
            unmet = number_at(control, UNMET) if is_new else 0
            invariants = number_at(control, INVARIANTS)
            failed = judge(table, candidate, source, invariants | unmet)
            if is_new:
                put_number(control, UNMET, unmet & failed)
            put_number(control, BROKEN, failed & invariants)
        steps = number_at(control, STEP_INVARIANTS)
        if source >= 0 and steps != 0:
            put_number(control, BROKEN_STEP, judge_step(table, candidate, source, steps))
        if number_at(control, BROKEN) != 0 or number_at(control, BROKEN_STEP) != 0:
            put_number(control, AT, candidate)
            return VIOLATED
        return GOING_ON

    @inner
    def enter_all(control, made, source):
        for candidate in range(made):
            status = enter(control, candidate, source)
            if status != GOING_ON:
                return status
        return GOING_ON

    @inner
    def search(control, most):
        if most == 0:
            status = enter_all(control, number_at(control, MADE), -1)
            put_number(control, LEVEL_END, number_at(control, COUNT))
            put_number(control, DEPTH, 1 if number_at(control, MADE) else 0)
            return status
        words = number_at(control, WORDS)
        for _ in range(most):
            source = number_at(control, DONE)
            if source == number_at(control, COUNT):
                return COMPLETE
            if source == number_at(control, LEVEL_END):
                put_number(control, LEVEL_END, number_at(control, COUNT))
                put_number(control, DEPTH, number_at(control, DEPTH) + 1)
            row = number_at(control, ROWS) + 8 * words * source
            _copy(row, number_at(control, OUT), words)
            made = expand(control, source)
            if made < 0:
                return TOO_MANY
            status = enter_all(control, made, source)
            if status == VIOLATED and number_at(control, COUNT) > number_at(control, LEVEL_END):
                put_number(control, DEPTH, number_at(control, DEPTH) + 1)
            if status != GOING_ON:
                return status
            put_number(control, DONE, source + 1)
        return GOING_ON

    return search
