"""The request of a simulation: that of a search, and the options that only walks have."""

from dataclasses import dataclass
from typing import Any

from protocol_lab.checker.options import SIMULATION, option
from protocol_lab.checker.request import SearchRequest
from protocol_lab.errors import LabError, quoted
from protocol_lab.model.spec import Model
from protocol_lab.quantities import amount, whole_number

BIASES = ("steps", "actions", "rare", "swarm")
"""steps: every possible step is equally likely. actions: first one of the enabled actions is drawn,
then one of its steps. rare: the same, but an action that this batch has taken n times has the
weight 1 / (1 + n). swarm: the same, but each walk has its own weights for actions, and its own
preference for their first or last steps; steps that change nothing are left out."""

WALKS = 10_000
"""Walks that are taken if neither their number nor a time is given."""

MOST_WALKS = 2**40
_MOST_STEPS = 1_000_000
_SECONDS = 1e-6, 1e8
"""The shortest and the longest time that can be given: the latter is three years."""


def _bias(model: Model, value: Any) -> str:
    if value not in BIASES:
        raise LabError(f"There is no bias {quoted(value)}; use one of {', '.join(BIASES)}.")
    return value


@dataclass
class SimulationRequest(SearchRequest):
    """One simulation: what to check, how many walks to take, and how.

    walks: None for WALKS, or for as many as fit into `seconds`.
    """

    walks: int | None = option(
        None,
        help="the most walks to take; by default 10,000, or any number if a time is given",
        word="--walks",
        kind=int,
        metavar="N",
        supported_by=(SIMULATION,),
        read=lambda model, value: whole_number("walks", value, 1, MOST_WALKS),
    )
    steps: int = option(
        100,
        help="the most steps of a walk; by default 100",
        word="--steps",
        kind=int,
        metavar="N",
        supported_by=(SIMULATION,),
        read=lambda model, value: whole_number("steps", value, 1, _MOST_STEPS),
        unset=100,
    )
    seconds: float | None = option(
        None,
        help="stop after this time",
        word="--seconds",
        kind=float,
        metavar="S",
        supported_by=(SIMULATION,),
        read=lambda model, value: amount("seconds", value, *_SECONDS, "seconds"),
    )
    seed: int = option(
        0,
        help="random seed: the same one gives the same walks, on any machine; by default 0",
        word="--seed",
        kind=int,
        metavar="N",
        supported_by=(SIMULATION,),
        read=lambda model, value: whole_number("seed", value, -(2**63), 2**64 - 1),
        unset=0,
    )
    bias: str = option(
        BIASES[0],
        help="what is drawn: steps (the default), actions, rare (the actions taken least), or"
        " swarm (each walk draws its own action weights)",
        word="--bias",
        metavar="BIAS",
        supported_by=(SIMULATION,),
        read=_bias,
        unset=BIASES[0],
    )
