"""State identity under symmetry reduction and VIEW: canonical fingerprints, compiled.

Under symmetry a state's key is the fingerprint of its canonical form. Nodes are renamed in the
order of their colours, which depend on what the state says about each, but on no name
(`permutation_code`). Where nodes have the same colour, all their orders are tried and the smallest
bytes win (`canonical_form`); usually all colours differ, and one renaming is enough.

The stored state is the one that was found, not its canonical form, so a path through stored states
is a path of the protocol.
"""

import hashlib
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np

from protocol_lab.compiler.fingerprint import fingerprint_words, fingerprints
from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.kernels import Kernels, check_some, constants_array
from protocol_lab.compiler.loops import address_of
from protocol_lab.model.node_sets import members
from protocol_lab.model.spec import Model
from protocol_lab.symmetry import canonical_form
from protocol_lab.symmetry.permutation_code import naming_code

_CALLED = {
    **{name: value for name, value in vars(canonical_form).items() if hasattr(value, "py_func")},
    "address_of": address_of,
    "fingerprint_words": fingerprint_words,
    "inner": inner,
    "make_canonical": canonical_form.make_canonical,
    "np": np,
}
"""The names that the generated code reads."""

_REMEMBERED = 1 << 15
"""Entries of the cache from raw to canonical fingerprints: as many as fit into the processor's
cache."""

_VERSION = hashlib.sha256(Path(canonical_form.__file__).read_bytes()).hexdigest()[:16]


def slots_of(model: Model) -> dict[str, int]:
    """Where the nodes of each symmetric kind begin in arrays that hold all of them; "": the end."""
    slots, end = {}, 0
    room = model.spec.room_for(model.constants)
    for each in model.spec.symmetries:
        slots[each.kind] = end
        end += room[each.kind] + 1
    return {**slots, "": end}


class Identity:
    """How one search identifies states: by all their bytes, by a canonical form, or by a view.

    symmetry: merge states that differ by a renaming of the spec's symmetric nodes; view: merge
    those that differ by what its view erases.
    """

    def __init__(self, kernels: Kernels, symmetry: bool, view: bool):
        model = kernels.model
        self._identify = None
        if symmetry or view:
            erase = {"erase": model.spec.erase} if view else {}
            source = _source(model, symmetry, view)
            self._identify = kernels.identify(erase, source, _CALLED)
            self._fixed = [constants_array(model), *_alike(model)]
            self._own = threading.local()

    def prints(self, rows: np.ndarray, count: int, wanted: np.ndarray) -> tuple[np.ndarray, int]:
        """The fingerprint by which each of rows[:count] is known; of those not wanted, anything.

        Returns the fingerprints, and the number of rows before the first for which the view can't
        be computed. Several threads may call it at once.
        """
        if self._identify is None:
            return fingerprints(rows[:count]), count
        if not hasattr(self._own, "memo"):
            self._own.memo = np.zeros((_REMEMBERED, 2), np.uint64)
        found, memo = np.empty(count, np.uint64), self._own.memo
        work = np.empty((3, rows.shape[1]), np.uint64)
        could = check_some(
            count,
            lambda count: self._identify(rows, count, wanted, *self._fixed, memo, work, found),
        )
        return found, could


def _alike(model: Model) -> list[np.ndarray]:
    """The interchangeable nodes: (their slots, their numbers, where each kind begins among them,
    the number of every slot)."""
    slots, places, labels, edges = slots_of(model), [], [], [0]
    for each in model.spec.symmetries:
        alike = list(members(each.alike(model.constants)))
        places += [slots[each.kind] + node for node in alike]
        labels += alike
        edges.append(len(labels))
    begins = list(slots.values())
    numbers = [k for begin, end in pairwise(begins) for k in range(end - begin)]
    return [np.array(each, np.int64) for each in (places, labels, edges, numbers)]


def _source(model: Model, symmetry: bool, view: bool) -> str:
    """The text of `identify`: prints[k] becomes the fingerprint of what rows[k] is known by.

    alike, labels, edges, numbers: see `_alike`. memo: a cache of pairs (raw fingerprint, canonical
    fingerprint), in which about half of the lookups hit. work: memory for three rows.
    """
    lines = [f"# calls canonical_form.py {_VERSION}"]
    lines += naming_code(model.layout, slots_of(model)) if symmetry else []
    lines += [
        "def identify(rows, count, wanted, constants, alike, labels, edges, numbers, memo, work,"
        " prints):",
    ]
    if symmetry:
        lines += [
            "    data, sig = work.view(np.uint8).ravel(), np.empty(numbers.shape[0], np.uint64)",
            "    names, order = numbers.copy(), alike.copy()",
            "    ties = np.empty((alike.shape[0] + 1, 2), np.int64)",
        ]
    if view:
        lines.append("    c = constants_at(address_of(constants))")
    lines += [
        "    for k in range(count):",
        "        if not wanted[k]:",
        "            continue",
        "        whole = fingerprint_words(rows, k)",
        "        slot = np.int64(whole) & (memo.shape[0] - 1)",
        "        if memo[slot, 0] != whole:",
        "            for word in range(rows.shape[1]):",
        "                work[0, word] = rows[k, word]",
    ]
    if view:
        lines.append("            erase(state_at(address_of(work), 0), c)")
    found = "0"
    if symmetry:
        found = "canonical(work, data, sig, names, alike, labels, edges, order, ties)"
    lines += [
        f"            found = {found}",
        "            memo[slot, 0] = whole",
        "            memo[slot, 1] = fingerprint_words(work, found)",
        "        prints[k] = memo[slot, 1]",
    ]
    return "\n".join(lines) + "\n"
