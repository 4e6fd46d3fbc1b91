"""A step in a sentence or two, with the names that the pictures use: "Replica 2 gets “record 1”
from replica 1."

The sentences are made of the step's events, so that a spec that draws a sequence diagram needs
nothing for them, and what a step does is told in one way.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from protocol_lab.errors import LabError
from protocol_lab.model.spec import Model
from protocol_lab.traces.events import EVERYBODY, LOST, SENT, Arrow, Event, Note, events
from protocol_lab.traces.scenarios import split_caption
from protocol_lab.traces.walk import Moment

LONGEST = 170
"""Characters; of more than this the last sentence is told, and those at the beginning."""

_VERB = re.compile(r"[a-z]+s(?! \{)\b")
"""A note that begins so has its place as the subject; another one is set off by a colon."""


def narrated(model: Model, moment: Moment, instead: str = "") -> str:
    """What happened to whom in the step to this moment; empty if the spec has nothing to tell.

    A scenario's own caption leaves room for less. instead: the sentence of the choice that was
    made, which stands for the messages, and for notes that are no sentences.
    """
    if moment.step is None or moment.previous is None or moment.going_on:
        return ""
    try:
        told = events(model, moment.previous.row, moment.step, moment.row)
    except LabError:
        return ""  # the diagram says what is wrong with the spec's events
    action = moment.step.action.replace("_", " ")
    told = [each for each in told if not action.endswith(_text(each))]
    whole = [each for each in told if isinstance(each, Note) and _is_sentence(each)]
    sentences = list(_sentences(told))
    if instead and len(whole) < len(told):
        sentences = list(dict.fromkeys([f"{instead}.", *_sentences(whole)]))
    _, written = split_caption(moment.caption)
    return _shortened(sentences, LONGEST - len(written), must=not written)


def _is_sentence(note: Note) -> bool:
    return note.at == EVERYBODY or bool(_VERB.match(note.text))


def _sentences(told: Iterable[Event]) -> Iterator[str]:
    """One for each event; messages that differ only in who gets them have one in common."""

    def alike(event: Event) -> tuple:
        if isinstance(event, Note):
            return (event.at, event.text)
        ends = event.source if event.kind in (SENT, LOST) else event.dest
        return (event.kind, ends, event.label)

    for _, group in groupby(told, key=alike):
        same = list(group)
        yield _note(same[0]) if isinstance(same[0], Note) else _arrows(same)


def _arrows(same: list[Arrow]) -> str:
    first = same[0]
    what = f"“{first.label}”"
    if first.kind == SENT:
        return f"{_opening(first.source)} sends {what} to {_listed(each.dest for each in same)}."
    if first.kind == LOST:
        return f"{what} from {first.source} to {_listed(each.dest for each in same)} is lost."
    verb = "get" if " and " in first.dest else "gets"
    return f"{_opening(first.dest)} {verb} {what} from {_listed(each.source for each in same)}."


def _note(event: Note) -> str:
    if event.at == EVERYBODY:
        return f"{_opening(event.text)}."
    between = " " if _VERB.match(event.text) else ": "
    return f"{_opening(event.at)}{between}{event.text}."


def _text(event: Event) -> str:
    return event.text if isinstance(event, Note) else event.label


def _opening(name: str) -> str:
    """With a capital, unless it is a short name as b1 or zk, which pictures write small."""
    first = name.split(" ")[0]
    return name[:1].upper() + name[1:] if first.isalpha() and len(first) > 2 else name


def _listed(names: Iterable[str]) -> str:
    *most, last = dict.fromkeys(name or "everybody" for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _shortened(sentences: list[str], room: int, must: bool) -> str:
    """As many as there is room for: the last, which says what came of it, and then the first
    ones. must: the last has to be there."""
    kept = sentences[-1:]
    room -= sum(map(len, kept))
    if room < 0 and not must:
        return ""
    for each in sentences[:-1]:
        room -= len(each) + 1
        if room < 0:
            break
        kept.insert(-1, each)
    return " ".join(kept)
