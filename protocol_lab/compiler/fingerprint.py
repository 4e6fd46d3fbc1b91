"""The fingerprint of a state, 64 bits.

The function is the same in every engine and never changes. It mixes the row's 8-byte words
one by one with multiplications and a rotation, each of which is invertible, so that no information
about a word is lost; 0 is reserved for "empty" in hash tables. `VERSION` changes with the function
and is written into whatever is stored by fingerprint.

The kernel cache sees edits in their own file only, so `fingerprint_words`, which other files
call, must not change.
"""

import numpy as np
from numba import njit

from protocol_lab.compiler.kernel_cache import kernel

VERSION = 1

_START, _WORD, _STEP = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F
_MASK = 2**64 - 1


@njit
def _mixed(mixed, word):
    """An unfinished fingerprint, with one more word mixed in."""
    mixed = mixed ^ (word * np.uint64(_WORD))
    return ((mixed << np.uint64(29)) | (mixed >> np.uint64(35))) * np.uint64(_STEP)


@njit
def _finished(mixed):
    """The fingerprint, once all words are mixed in."""
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(_WORD)
    mixed ^= mixed >> np.uint64(29)
    return mixed if mixed != np.uint64(0) else np.uint64(1)


@kernel()
def fingerprint_words(words: np.ndarray, row: int) -> int:
    """The fingerprint of row `row` of a uint64 array (rows, words per row)."""
    mixed = np.uint64(_START)
    for k in range(words.shape[1]):
        mixed = _mixed(mixed, words[row, k])
    return _finished(mixed)


@kernel()
def fingerprints(words: np.ndarray) -> np.ndarray:
    """The fingerprints (uint64) of all rows of a uint64 array.

    Four rows at a time: each multiplication waits for the one before it of the same row, and the
    processor does those of other rows meanwhile.
    """
    found = np.empty(words.shape[0], np.uint64)
    whole = words.shape[0] - words.shape[0] % 4
    for row in range(0, whole, 4):
        one = other = third = fourth = np.uint64(_START)
        for k in range(words.shape[1]):
            one = _mixed(one, words[row, k])
            other = _mixed(other, words[row + 1, k])
            third = _mixed(third, words[row + 2, k])
            fourth = _mixed(fourth, words[row + 3, k])
        found[row], found[row + 1] = _finished(one), _finished(other)
        found[row + 2], found[row + 3] = _finished(third), _finished(fourth)
    for row in range(whole, words.shape[0]):
        found[row] = fingerprint_words(words, row)
    return found


def fingerprint(row: bytes) -> int:
    """The fingerprint of one state in plain Python."""
    mixed = _START
    for at in range(0, len(row), 8):
        mixed ^= int.from_bytes(row[at : at + 8], "little") * _WORD & _MASK
        mixed = ((mixed << 29 | mixed >> 35) & _MASK) * _STEP & _MASK
    mixed ^= mixed >> 32
    mixed = mixed * _WORD & _MASK
    mixed ^= mixed >> 29
    return mixed or 1
