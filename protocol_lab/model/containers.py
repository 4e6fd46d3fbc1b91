"""Sequences and bags inside a state: plain functions, compiled with the actions that call them.

Both are read like a list: `len(s.log)`, `item in s.log`, `for item in s.log`; a sequence also has
indices, `s.log[0]`. They are stored as `length` and `items`, a bag as `size` and `items` in sorted
order, which makes equal bags equal bytes; slots beyond the end are zero. What is in a container is
changed by these functions; an item of a sequence may also be assigned to. A full container raises
CapacityExceeded: that is never a refusal, it ends the search as undecided.
"""


def overflow(container) -> None:
    """Raise CapacityExceeded for a full container, naming the constant to raise.

    Compiled code has its own version, which raises it without words (see `compiler`).
    """
    container.overflow()


def capacity(container) -> int:
    """How many items a sequence or bag has room for."""
    return container.capacity()


def put_item(container, position, item) -> None:
    """Store an item, or 0, in any slot of a container. The caller keeps its items in order."""
    container.put_item(position, item)


def set_count(container, count) -> None:
    """Store the number of items of a container. The caller keeps the other slots zero."""
    container.set_count(count)


def erase(items, index) -> None:
    """Set one slot of an array back to zero."""
    items[index] = 0


def append(sequence, item) -> None:
    """Add an item at the end of a sequence."""
    if sequence.length >= capacity(sequence):
        overflow(sequence)
    put_item(sequence, sequence.length, item)
    set_count(sequence, sequence.length + 1)


def truncate(sequence, length) -> None:
    """Keep the first `length` items of a sequence (no effect if it is not longer). A fault if
    length is negative."""
    if length < 0:
        erase(sequence.items, length)  # a fault: there is no such item
    while sequence.length > length:
        set_count(sequence, sequence.length - 1)
        put_item(sequence, sequence.length, 0)


def remove_at(sequence, index) -> None:
    """Take the item at an index out of a sequence; the later ones move up. Index 0 is its head."""
    erase(sequence.items, index)  # a fault if the sequence has no such item
    for k in range(index + 1, sequence.length):
        put_item(sequence, k - 1, sequence.items[k])
    truncate(sequence, sequence.length - 1)


def last(sequence):
    """The last item of a sequence; a fault if it has none."""
    return sequence.items[sequence.length - 1]


def pop_first(sequence):
    """Take the first item out of a sequence, and return it; a fault if it has none."""
    item = sequence.items[0]
    item = item.copy() if hasattr(item, "copy") else item
    remove_at(sequence, 0)
    return item


def find(bag, item) -> int:
    """The position of the first item that is not smaller: where `item` is, or would be."""
    item, position = bag.as_item(item), 0
    while position < bag.size and bag.items[position] < item:
        position += 1
    return position


def is_in(bag, item) -> bool:
    """Does the bag contain the item?"""
    position = find(bag, item)
    return position < bag.size and bag.items[position] == item


def add(bag, item) -> None:
    """Put one more such item into the bag."""
    if bag.size >= capacity(bag):
        overflow(bag)
    position = find(bag, item)
    for k in range(bag.size, position, -1):
        put_item(bag, k, bag.items[k - 1])
    put_item(bag, position, item)
    set_count(bag, bag.size + 1)


def add_once(bag, item) -> None:
    """Put the item into the bag unless it is there already: the bag as a set."""
    if not is_in(bag, item):
        add(bag, item)


def take(bag, item) -> None:
    """Take one such item out of the bag; a fault if there is none."""
    position = find(bag, item)
    if position >= bag.size or bag.items[position] != item:
        bag.has_no(item)
    for k in range(position, bag.size - 1):
        put_item(bag, k, bag.items[k + 1])
    set_count(bag, bag.size - 1)
    put_item(bag, bag.size, 0)


COMPILED_APART = (
    *(overflow, capacity, put_item, set_count, pop_first),
    *(find, is_in, add, add_once, take),
)
"""The functions of which compiled code has versions of its own (`compiler.operations`)."""

ONLY_LOOK = (capacity, find, is_in, last, overflow)
"""The functions that change nothing; all others do."""
