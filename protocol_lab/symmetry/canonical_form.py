"""The canonical form of a state: the compiled search that `permutation_code` generates for.

It is compiled with the code that calls it, so it has no signatures of its own. Rows are passed
twice: as words, and as the bytes of the same memory.
"""

import numpy as np

from protocol_lab.compiler.inner_functions import inner


@inner
def mixed(seen, value):
    """Two hashes combined into one."""
    seen = (seen ^ value) * np.uint64(0xD6E8FEB86659FD93)
    return seen ^ (seen >> np.uint64(32))


@inner
def read_set(source, at, width):
    """The bitmask in `width` bytes."""
    mask = np.int64(source[at])
    for k in range(1, width):
        mask |= np.int64(source[at + k]) << (8 * k)
    return mask


@inner
def set_shape(source, at, width, most, owner):
    """The size of a set of nodes up to `most`, and whether the owner is in it."""
    mask, count = read_set(source, at, width), 0
    for node in range(1, most + 1):
        count += (mask >> node) & 1
    return np.uint64(2 * count + ((mask >> owner) & 1))


@inner
def mark_set(source, at, width, most, sig, first, seen) -> None:
    """Add a hash to the colours of a set's members."""
    mask = read_set(source, at, width)
    for node in range(1, most + 1):
        sig[first + node] += seen * np.uint64((mask >> node) & 1)


@inner
def rename_set(source, at, to, width, most, names, first) -> None:
    """Write a set under the new names of its members."""
    mask, after = read_set(source, at, width), np.int64(0)
    for node in range(1, most + 1):
        after |= ((mask >> node) & 1) << names[first + node]
    for k in range(width):
        source[to + k] = (after >> (8 * k)) & 255


@inner
def sort_items(data, at, count, width, first, sign) -> None:
    """Sort items of `width` bytes, as a bag keeps them: records by their bytes, where `first` is 0;
    numbers from their highest byte down, which is the last, with sign 128 if they may be
    negative."""
    step = -1 if first > 0 else 1
    for k in range(1, count):
        j = k
        while j > 0:
            left, right = at + (j - 1) * width, at + j * width
            b, same = first, 0
            while same < width and data[left + b] == data[right + b]:
                b, same = b + step, same + 1
            flipped = sign if same == 0 else 0  # the highest byte has the sign
            if same == width or data[left + b] ^ flipped < data[right + b] ^ flipped:
                break
            for b in range(width):
                data[left + b], data[right + b] = data[right + b], data[left + b]
            j -= 1


@inner
def rank(sig, alike, edges, order, ties):
    """Sort the nodes of every kind by colour; ties has the stretches of equal colour; returns how
    many."""
    tied = 0
    for kind in range(edges.shape[0] - 1):
        begin, end = edges[kind], edges[kind + 1]
        for k in range(begin, end):
            node, j = alike[k], k
            while j > begin and sig[order[j - 1]] > sig[node]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = node
        k = begin
        while k < end:
            j = k + 1
            while j < end and sig[order[j]] == sig[order[k]]:
                j += 1
            if j - k > 1:
                ties[tied, 0], ties[tied, 1] = k, j
                tied += 1
            k = j
    return tied


@inner
def next_order(order, ties, tied):
    """Make the next order of nodes of equal colour; False after the last, when they are sorted
    again."""
    for tie in range(tied):
        begin, end = ties[tie, 0], ties[tie, 1]
        k = end - 2
        while k >= begin and order[k] > order[k + 1]:
            k -= 1
        if k >= begin:
            j = end - 1
            while order[j] < order[k]:
                j -= 1
            order[k], order[j] = order[j], order[k]
        left, right = k + 1, end - 1
        while left < right:
            order[left], order[right] = order[right], order[left]
            left, right = left + 1, right - 1
        if k >= begin:
            return True
    return False


@inner
def is_less(work, one, other):
    """Is the first row smaller, compared word by word?"""
    for word in range(work.shape[1]):
        if work[one, word] != work[other, word]:
            return work[one, word] < work[other, word]
    return False


def make_canonical(colours, permuted, name):
    """The compiled search for a canonical form, over the two functions generated for a layout.

    name: the layout's, to be part of the compiled functions' names.
    """

    def compiled(function):
        function.__qualname__ += f"_{name}"
        return inner(function)

    @compiled
    def rename(work, data, names, labels, order, to):
        """Write work[0] to work[to], its nodes renamed to the labels in this order."""
        for k in range(labels.shape[0]):
            names[order[k]] = labels[k]
        for word in range(work.shape[1]):
            work[to, word] = work[0, word]
        permuted(data, names, 8 * to * work.shape[1])

    @compiled
    def are_twins(work, data, names, labels, order, ties, tied):
        """Is the state the same for every order of the nodes of equal colour?

        It is if it is the same after each exchange of two neighbours; False means only that it may
        differ.
        """
        same = True
        for tie in range(tied):
            for k in range(ties[tie, 0] + 1, ties[tie, 1]):
                if same:
                    order[k - 1], order[k] = order[k], order[k - 1]
                    rename(work, data, names, labels, order, 2)
                    order[k - 1], order[k] = order[k], order[k - 1]
                    for word in range(work.shape[1]):
                        same = same and work[1, word] == work[2, word]
        return same

    @compiled
    def canonical(work, data, sig, names, alike, labels, edges, order, ties):
        """Write the canonical form of work[0] to one of the other rows; returns which."""
        for k in range(sig.shape[0]):
            sig[k] = 0
        colours(data, sig)
        tied = rank(sig, alike, edges, order, ties)
        rename(work, data, names, labels, order, 1)
        if tied == 0 or are_twins(work, data, names, labels, order, ties, tied):
            return 1
        best = 1
        while next_order(order, ties, tied):
            rename(work, data, names, labels, order, 3 - best)
            if is_less(work, 3 - best, best):
                best = 3 - best
        return best

    return canonical
