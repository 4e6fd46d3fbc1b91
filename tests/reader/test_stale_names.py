"""Names for parts of the state: what is accepted gives what copies would give.

Programs are made of an alias, a store and a read, in all orders, in branches and loops, with and
without a comprehension that has a variable of the same name. Each runs on a state of the kit, and
on plain Python objects of which every alias is a copy.
"""

import copy
from collections.abc import Callable
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any

import pytest

from protocol_lab import TAKEN, Array, Int8, LabError, Spec, Struct
from protocol_lab.errors import SpecError
from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import initial
from protocol_lab.reader.dry_run import read_code


class Parcel(Struct):
    weight: Int8


class State(Struct):
    n: Int8
    found: Int8
    kept: Parcel
    box: Array(Parcel, 3)


spec = Spec("toy.parcels", State)


@spec.init
def begin(s, c):
    s.n = 1
    for k in range(3):
        s.box[k].weight = k + 1
    return TAKEN


MODEL = spec.bind()
START = next(initial(MODEL)).row

HELPERS = """
def put(s, k):
    s.box[k] = Parcel(weight=7)

def box_of(s, k):
    return s.box[k]

def weight_of(parcel):
    return parcel.weight

"""

ALIASES = (
    "old = copy(s.box[1])",
    "old = copy(box_of(s, 1))",
    "boxes = s.box\nold = copy(boxes[1])",
    "old, other = copy(s.box[1]), s.n",
    "first = copy(s.box[1])\nold = copy(first)",
    "old = copy(s.box[1] if s.n == 1 else s.box[2])",
    "old = copy(s.box[s.n])",
)
STORES = (
    "s.box[1] = Parcel(weight=7)",
    "put(s, 1)",
    "s.box[s.n] = Parcel(weight=7)",
    "k = 1\ns.box[k] = Parcel(weight=7)",
    "boxes = s.box\nboxes[1] = s.box[2]",
    "s.kept = Parcel(weight=7)",
)
READS = (
    "s.found = old.weight",
    "s.found = sum(old.weight for k in range(1))",
    "s.found = weight_of(old)",
    "s.kept = old\ns.found = s.kept.weight",
    "s.found = max(old.weight, 2)",
)
AROUND = (
    "{}",
    "if s.n == 1:\n    {}",
    "for j in range(2):\n    {}",
    "if s.n == 1:\n    {}\nelse:\n    {}",
)
SHADOWS = ("", "if all(old > 0 for old in (1, 2)):\n    s.n += 0")
LOOPS = ("{}", "for turn in range(2):\n    {}")


def filled(template: str, code: str) -> str:
    return template.replace("{}", code.replace("\n", "\n    " if "\n" in template else "\n"))


def programs(order: tuple[int, ...]) -> list[str]:
    """The bodies with this order of the alias (0), the store (1) and the read (2)."""
    found = []
    for number, (around, shadow, loop) in enumerate(
        product(product(AROUND, repeat=3), SHADOWS, LOOPS)
    ):
        kinds = [of[number % len(of)] for of in (ALIASES, STORES, READS)]
        parts = [filled(around[k], kinds[k]) for k in order]
        parts.insert(2, shadow)
        found.append(filled(loop, "\n".join(filter(None, parts))))
    return found


def made(text: str, scope: dict[str, Any]) -> Callable:
    """The function in a text, which reads these names."""
    exec(text, scope)
    function = scope[text[4 : text.index("(")]]
    function.lab_source, function.__module__ = text, __name__
    return function


IN_THE_KIT = {"Parcel": Parcel, "__name__": __name__}
WITH_COPIES = {"Parcel": SimpleNamespace, "copy": copy.deepcopy}
for helper in HELPERS.strip().split("\n\n"):
    made(f"{helper}\n", IN_THE_KIT)
    made(f"{helper}\n", WITH_COPIES)


def action(body: str) -> str:
    return "def act(s):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def with_copies(body: str) -> int | None:
    """What the program finds where an alias is a copy; None where a variable has no value."""
    box = [SimpleNamespace(weight=each) for each in (1, 2, 3)]
    s = SimpleNamespace(n=1, found=0, kept=None, box=box)
    try:
        made(action(body), WITH_COPIES)(s)
    except NameError:
        return None
    return s.found


def in_the_kit(body: str) -> int | None:
    """What the program finds on a state of the kit; None if it is refused."""
    act = made(action(body.replace("copy", "")), IN_THE_KIT)
    try:
        read_code(MODEL, [act])
    except LabError:
        return None
    s = view(MODEL.layout, bytearray(START))
    try:
        evaluated(act, s)
    except SpecError as error:
        raise AssertionError(f"{body}\n{error}") from None
    return s.found


@pytest.mark.slow
@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_what_is_accepted_finds_what_copies_would_find(order):
    accepted = 0
    chosen = programs(order)[::3]
    for body in chosen:
        found = in_the_kit(body)
        accepted += found is not None
        assert found in (None, with_copies(body)), body
    alias, store, read = map(order.index, range(3))
    if alias < read and not alias < store < read:
        assert accepted > len(chosen) / 2, "what is safe is not refused"
