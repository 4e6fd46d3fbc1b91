"""Ids are handed out one by one: 0, 1, ..., max_id, and then no more.

Two counters of the Kafka models work like this: record ids, so that no two records are the same,
and leader epochs, so that of two requests that name a leader it is known which one is later.

Left out: who takes the ids. Nothing breaks here; it is the smallest spec of the kit.

Source: IdSequence.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.logs import draw_id_sequence
from protocol_lab import *


class Constants(NamedTuple):
    """The size of the model."""

    max_id: Annotated[int, Limits(0, 9999, "the last id, counted from 0")] = 3


CONFIGURATIONS = (Configuration("default", "four ids", "5 distinct states"),)


class State(Struct):
    """The counter."""

    next_id: Int16


spec = Spec(
    "kafka.id_sequence",
    State,
    Constants,
    __doc__,
    draw=draw_id_sequence,
    choices={"next_id": "Take the next id"},
    original="IdSequence",
    configurations=CONFIGURATIONS,
)


@spec.init
def init(s: State, c: Constants):
    """The first id is 0."""
    return TAKEN


# --- The action ------------------------------------------------------------------------------


@spec.action
def next_id(s: State, c: Constants, id: Range(0, "max_id")):
    """The next id is taken."""
    if id != s.next_id:
        return "it is not this id's turn"
    s.next_id += 1
    return TAKEN


# --- Properties ------------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """The counter stays between 0 and one past the last id."""
    if s.next_id < 0 or s.next_id > c.max_id + 1:
        return "the next id is out of range"
    return HOLDS


@spec.situation(expected=True)
def all_ids_taken(s: State, c: Constants) -> bool:
    """The last id is handed out, after which nothing can happen."""
    return s.next_id == c.max_id + 1


@spec.situation
def one_id_is_left(s: State, c: Constants) -> bool:
    """One id is left."""
    return s.next_id == c.max_id
