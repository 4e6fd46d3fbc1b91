"""The biases of a simulation: how a random walk draws its next step, compiled.

Uniform walks are all alike. What is possible at every step (losing a message, giving up, beginning
an election) happens early in nearly all of them, and what needs a long stretch without it never
happens. Swarm testing (Groce, Zhang, Eide, Chen and Regehr, "Swarm Testing", 2012) chooses a random
set of features for each test and leaves the others out, so that tests differ more from each other.
Here each walk draws its own weights:

- Each action has a weight between 1 and 1/256. No action is left out entirely, so that a walk does
  not get stuck for lack of one that the others wait for.
- Among an action's steps it draws evenly, or prefers the first, or the last. The first are those
  with the smallest numbers and nodes, and with the empty subset: a walk that prefers first choices
  loses few messages, one that prefers the last ones loses nearly all.

Each walk draws from a random stream of its own, and its weights come from the same seed: so a walk
does not depend on the others, nor on the machine.
"""

import numpy as np

from protocol_lab.compiler.kernel_cache import kernel

_STEPS, _ACTIONS, _RARE, _SWARM = range(4)

_WEIGHTS = 5
"""How many different weights of actions there are: 1, 1/4, ... 1/256."""


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def next_random(chance, k) -> int:
    """The next 64 bits of stream k (SplitMix64)."""
    chance[k] += np.uint64(0x9E3779B97F4A7C15)
    mixed = chance[k]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel()
def streams(seed, numbers) -> np.ndarray:
    """The initial values of these walks' random streams."""
    found, own = np.empty(numbers.shape[0], np.uint64), np.empty(1, np.uint64)
    for k in range(numbers.shape[0]):
        own[0] = seed
        own[0] = next_random(own, 0) ^ np.uint64(numbers[k])
        found[k] = next_random(own, 0)
    return found


@kernel()
def draw(chance, among) -> np.ndarray:
    """One of `among` for every stream."""
    found = np.empty(chance.shape[0], np.int64)
    for k in range(chance.shape[0]):
        found[k] = np.int64(next_random(chance, k) % np.uint64(among))
    return found


@kernel()
def fraction(chance, k) -> float:
    """The next number of stream k, in [0, 1)."""
    return (next_random(chance, k) >> np.uint64(11)) / 9007199254740992.0


@kernel()
def pick(
    rows, out, parent_of, action_of, written, begin, end, chance, weight_seed, bias, taken, after,
    alive, picked,
) -> None:  # fmt: skip
    """Draw a successor for each of the walkers [begin, end) and write it to `after`.

    rows: the walkers' states. out[:written]: their successors, in the order of walkers and, for
    each, of actions. picked: the position of the drawn one among the walker's; alive: was there
    one? bias: an index into BIASES.
    """
    first = 0
    for walker in range(begin, end):
        last = first
        while last < written and parent_of[last] == walker:
            last += 1
        chosen = -1
        if bias == _SWARM:
            chosen = pick_weighted(rows, out, action_of, first, last, chance, weight_seed, walker)
        elif last > first:
            chosen_from, chosen_to = first, last
            if bias != _STEPS:
                chosen_from, chosen_to = pick_action(
                    action_of, first, last, chance, walker, bias, taken
                )
            among = np.uint64(chosen_to - chosen_from)
            chosen = chosen_from + np.int64(next_random(chance, walker) % among)
        if chosen >= 0:
            for word in range(out.shape[1]):
                after[walker, word] = out[chosen, word]
            taken[action_of[chosen]] += 1
            alive[walker] = 1
            picked[walker] = chosen - first
        first = last


@kernel()
def pick_action(action_of, first, last, chance, walker, bias, taken) -> tuple[int, int]:
    """The range of one action's successors within [first, last), drawn by the actions' weights."""
    total, k = 0.0, first
    while k < last:
        total += 1.0 if bias == _ACTIONS else 1.0 / (1.0 + taken[action_of[k]])
        action = action_of[k]
        while k < last and action_of[k] == action:
            k += 1
    point = fraction(chance, walker) * total
    begin = end = first
    while end < last and (end == first or point >= 0.0):
        begin, action = end, action_of[end]
        point -= 1.0 if bias == _ACTIONS else 1.0 / (1.0 + taken[action])
        while end < last and action_of[end] == action:
            end += 1
    return begin, end


@kernel()
def pick_weighted(rows, out, action_of, first, last, chance, weight_seed, walker) -> int:
    """One of the successors [first, last) that differ from the walker's state; -1 if none does.

    Among the actions that change the state it takes the one with the highest score u ** (1 /
    weight), u being random in [0, 1): so each is chosen in proportion to its weight (Efraimidis and
    Spirakis).
    """
    best, chosen, k = -1.0, -1, first
    while k < last:
        begin, leading_on = k, 0
        while k < last and action_of[k] == action_of[begin]:
            leading_on += leads_on(rows, out, walker, k)
            k += 1
        if leading_on == 0:
            continue
        bits = weight_bits(weight_seed, walker, action_of[begin])
        score = fraction(chance, walker) ** (4.0 ** (bits % np.uint64(_WEIGHTS)))
        if score > best:
            best = score
            skip = place(fraction(chance, walker), bits, leading_on)
            chosen = begin
            while skip > 0 or not leads_on(rows, out, walker, chosen):
                skip -= leads_on(rows, out, walker, chosen)
                chosen += 1
    return chosen


@kernel()
def leads_on(rows, out, walker, k) -> bool:
    """Does successor k differ from the walker's state?"""
    for word in range(out.shape[1]):
        if out[k, word] != rows[walker, word]:
            return True
    return False


@kernel()
def weight_bits(weight_seed, walker, action) -> int:
    """64 random bits for a walker and an action, always the same, from which its weight is made."""
    own = np.empty(1, np.uint64)
    own[0] = weight_seed[walker] ^ np.uint64(action + 1)
    return next_random(own, 0)


@kernel()
def place(point, bits, count) -> int:
    """One of 0..count-1, from a number in [0, 1): evenly, or with a preference for the first or
    last.

    Half of all walks' preferences are for the first ones, which do the least harm, a quarter for
    the last.
    """
    kind = (bits >> np.uint64(32)) % np.uint64(4)
    if kind == 1 or kind == 2:
        point = point**3
    if kind == 3:
        point = 1.0 - point**3
    return min(np.int64(point * count), count - 1)
