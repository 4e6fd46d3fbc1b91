"""Sequences and bags inside a state: plain functions, compiled with the actions that call them.

A sequence has `length` and `items`; a bag has `size` and `items` in sorted order, which makes
equal bags equal bytes. Slots beyond the end are zero. A full container raises CapacityExceeded:
that is never a refusal, it ends the search as undecided.
"""

from protocol_lab.errors import CapacityExceeded


def overflow(container) -> None:
    """Raise CapacityExceeded for a full container, naming the constant to raise.

    Compiled code has its own version, which raises it without words (see `compiling`).
    """
    raise CapacityExceeded(container.remedy())


def erase(items, index) -> None:
    """Set one slot of an array back to zero."""
    items[index] = 0


def append(sequence, item) -> None:
    """Add an item at the end of a sequence."""
    if sequence.length >= len(sequence.items):
        overflow(sequence)
    sequence.items[sequence.length] = item
    sequence.length += 1


def truncate(sequence, length) -> None:
    """Keep the first `length` items of a sequence (no effect if it is not longer)."""
    while sequence.length > length:
        sequence.length -= 1
        erase(sequence.items, sequence.length)


def find(bag, item) -> int:
    """The position of the first item that is not smaller: where `item` is, or would be."""
    position = 0
    while position < bag.size and bag.items[position] < item:
        position += 1
    return position


def is_in(bag, item) -> bool:
    """Does the bag contain the item?"""
    position = find(bag, item)
    return position < bag.size and bag.items[position] == item


def add(bag, item) -> None:
    """Put one more such item into the bag."""
    if bag.size >= len(bag.items):
        overflow(bag)
    position = find(bag, item)
    for k in range(bag.size, position, -1):
        bag.items[k] = bag.items[k - 1]
    bag.items[position] = item
    bag.size += 1


def add_once(bag, item) -> None:
    """Put the item into the bag unless it is there already: the bag as a set."""
    if not is_in(bag, item):
        add(bag, item)


def take(bag, item) -> None:
    """Take one such item out of the bag; no effect if there is none."""
    position = find(bag, item)
    if position < bag.size and bag.items[position] == item:
        for k in range(position, bag.size - 1):
            bag.items[k] = bag.items[k + 1]
        bag.size -= 1
        erase(bag.items, bag.size)
