"""Seeded random walks, for what is too large to exhaust. They can find a violation; they never
say that something holds."""

import random
import time

from protocol_lab.declaring.spec import Model
from protocol_lab.errors import CapacityExceeded
from protocol_lab.exploring.result import Result
from protocol_lab.exploring.search import Question, add_trace
from protocol_lab.stepping.attempts import evaluate, evaluate_step, initial, successors


def simulate(
    model: Model, question: Question, *, walks: int = 100, steps: int = 100, seed: int = 0
) -> Result:
    """Walk at random, uncompiled, every enabled step being equally likely.

    The result is violated, with the trace of that walk (not a shortest one), or undecided;
    `per_depth` counts the states visited, the same one as often as it was met.
    """
    chance, began = random.Random(seed), time.perf_counter()
    result = Result(model, "simulation", question.names)
    result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
    result.undecided_reason = f"{walks} random walks of up to {steps} steps, seed {seed}"
    try:
        for _ in range(walks):
            if _walk(result, question, steps, chance):
                result.undecided_reason = None
                break
    except CapacityExceeded as error:
        result.undecided_reason = str(error)
    except KeyboardInterrupt:
        result.undecided_reason = "interrupted"
    result.seconds = time.perf_counter() - began
    return result


def _walk(result: Result, question: Question, steps: int, chance: random.Random) -> bool:
    model = result.model
    start = chance.choice(list(initial(model)))
    rows = [start.row]
    result.per_action["init"] += 1
    for depth in range(steps + 1):
        if depth == len(result.per_depth):
            result.per_depth.append(0)
        result.per_depth[depth] += 1
        broken = _broken(model, question, rows)
        if broken:
            result.violated = broken
            add_trace(result, rows)
            return True
        if any(evaluate(model, rows[-1], each.function) for each in model.spec.constraints):
            return False
        ahead = list(successors(model, rows[-1]))
        if not ahead or depth == steps:
            return False
        taken = chance.choice(ahead)
        result.per_action[taken.action.name] += 1
        rows.append(taken.row)
    return False


def _broken(model: Model, question: Question, rows: list[bytes]) -> str | None:
    for each in question.invariants:
        if evaluate(model, rows[-1], each.function):
            return each.name
    for each in question.step_invariants if len(rows) > 1 else []:
        if evaluate_step(model, rows[-2], rows[-1], each.function):
            return each.name
    return None
