"""The events of a step, for a sequence diagram: messages and local events.

A step of a walk becomes `Arrow`s and `Note`s on lifelines, derived from the states before and after
it and its parameters: first the messages that were put into and taken out of the channels that the
spec declares with `Spec.messages`, then what the spec's own `events` returns. If there is neither,
the step is an arrow between the nodes that it names, or a note at the only one.

The same in a sentence or two, with the names that the pictures use: "Replica 2 gets “record 1”
from replica 1." The sentences are made of the step's events, so that a spec that draws a sequence
diagram needs nothing for them, and what a step does is told in one way.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.declarations import Channel, End, lifeline
from protocol_lab.model.layout import Node
from protocol_lab.model.parameters import Member, Subset
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import Step, as_json, told_fields
from protocol_lab.traces.scenarios import split_caption
from protocol_lab.traces.walk import Moment, Walk

SENT, DELIVERED, LOST, AT_ONCE = "sent", "delivered", "lost", "at once"
LOCAL, CRASH, RESTART = "local", "crash", "restart"

EVERYBODY = ""
"""The end of an arrow whose receiver is not known when it is sent, or the place of a note about
everybody."""


@dataclass(frozen=True)
class Arrow:
    """A message. kind: sent, delivered, lost, or "at once" for both ends in one step.

    `message` identifies the message that was delivered or lost; of messages that are equal in every
    respect any one is meant. The `dest` of a sent message may be EVERYBODY: any node may take it.
    """

    kind: str
    source: str
    dest: str
    label: str
    message: Any = field(default=None, compare=False)

    @property
    def identity(self) -> Any:
        """The same for the sending of a message and for its delivery or loss."""
        return (self.source, self.dest, self.label) if self.message is None else self.message


@dataclass(frozen=True)
class Note:
    """An event at one lifeline (or EVERYBODY's). kind: local, crash or restart."""

    at: str
    text: str
    kind: str = LOCAL


Event = Arrow | Note


def events(model: Model, before: bytes, step: Step, after: bytes) -> list[Event]:
    """What happened in this step, in the order in which to show it; never empty.

    Raises LabError if the spec's own `events` fails.
    """
    arrows = [
        arrow
        for each in model.spec.channels
        for arrow in _traffic(model, each, before, step, after)
    ]
    # Deliveries come first: they cause what is sent in the same step.
    order = {DELIVERED: 0, LOST: 1, SENT: 2}
    told = sorted(arrows, key=lambda each: order[each.kind])
    own = _own_events(model, before, step, after)
    if own is None:
        return told or [_by_parameters(model, step)]
    return [*told, *own] or [_note(model, step)]


def walk_events(walk: Walk) -> list[tuple[Step, list[Event]]]:
    """The steps taken so far, each with its events."""
    moments = walk.moment.path()[1:]
    return [
        (each.step, events(walk.model, each.previous.row, each.step, each.row)) for each in moments
    ]


def lifelines(model: Model, told: Iterable[Event] = ()) -> list[str]:
    """The participants, in the order of the diagram; those that only events name come last."""
    names: dict[str, None] = {}
    for each in model.spec.lifelines or _found_lifelines(model):
        names |= dict.fromkeys(_names(model, each))
    for each in told:
        ends = [each.at] if isinstance(each, Note) else [each.source, each.dest]
        names |= dict.fromkeys(end for end in ends if end != EVERYBODY)
    return list(names) or ["system"]


def _names(model: Model, each: str | Node | Callable[[Any], list[str]]) -> list[str]:
    if isinstance(each, str):
        return [each]
    if callable(each):
        return each(model.constants)
    return [lifeline(each, node) for node in range(1, each.number(model.constants) + 1)]


def _found_lifelines(model: Model) -> list[str | Node]:
    """The ends of the declared messages, and all kinds of nodes that actions choose from."""
    found = [
        each.node_of(end) or end
        for each in model.spec.channels
        for end in (each.source, each.dest)
        if not callable(end)
    ]
    for action in model.spec.actions:
        found += [domain for domain in action.domains.values() if isinstance(domain, Node)]
    return found


def _own_events(model: Model, before: bytes, step: Step, after: bytes) -> list[Event] | None:
    if model.spec.events is None:
        return None
    states = (view(model.layout, row) for row in (before, after))
    try:
        return model.spec.events(*states, model.constants, step)
    except Exception as error:
        raise LabError(
            f"{model.spec.name}: its events of {step.text} failed with"
            f" {type(error).__name__}: {error}."
        ) from error


# --- Declared messages -------------------------------------------------------------------------


def _traffic(
    model: Model, channel: Channel, before: bytes, step: Step, after: bytes
) -> list[Arrow]:
    """What was put into this channel, and what was taken out of it."""
    old, new = _messages(model, channel, before), _messages(model, channel, after)
    counts = Counter({each: len(old[each]) for each in old})
    counts_after = Counter({each: len(new[each]) for each in new})
    sent, gone = counts_after - counts, counts - counts_after
    fate = LOST if step.action in channel.lost_by else DELIVERED
    arrows = [
        _arrow(model, channel, kind, each, messages[each][0])
        for kind, found, messages in ((SENT, sent, new), (fate, gone, old))
        for each in found.elements()
    ]
    kept = _handled(model, channel, step)
    if kept is not None and fate == DELIVERED:
        # It was handled but stays in the channel: it may be delivered again.
        arrows += [
            _arrow(model, channel, DELIVERED, each, messages[0])
            for each, messages in old.items()
            if _plain(messages[0]) == kept and counts_after[each] == counts[each]
        ]
    return arrows + _vanished(model, channel, step, arrows)


Identity = tuple[tuple[int, ...], Any]
"""A message's channel, by the nodes that index it, and its bytes or number."""


def _messages(model: Model, channel: Channel, row: bytes) -> dict[Identity, list[Any]]:
    """The messages in a state, with equal ones of one channel counted together."""
    found: dict[Identity, list[Any]] = {}
    at: Any = view(model.layout, row)
    for name in channel.path.split("."):
        at = getattr(at, name)
    counts = [each.number(model.constants) for each in channel.nodes]
    for nodes in product(*(range(1, count + 1) for count in counts)):
        container = at
        for node in nodes:
            container = container[node]
        for each in container.items:
            identity = nodes, each if isinstance(each, int) else bytes(each)
            found.setdefault(identity, []).append(each)
    return found


def _plain(message: Any) -> Any:
    return message if isinstance(message, int) else as_json(plain(message))


def _handled(model: Model, channel: Channel, step: Step) -> Any:
    """The message of this channel that the step handled, if it handled one."""
    for name, domain in model.action(step.action).domains.items():
        if isinstance(domain, Member) and domain.path == channel.path:
            return step.args[name]
    return None


def _vanished(model: Model, channel: Channel, step: Step, sent: list[Arrow]) -> list[Arrow]:
    """The messages that were lost as they were sent, according to the step's parameter."""
    domain = model.action(step.action).domains.get(channel.lost)
    if not isinstance(domain, Subset):
        return []
    sources = [each.source for each in sent if each.kind == SENT]
    labels = [each.label for each in sent if each.kind == SENT]
    label = labels[0] if labels else step.action.replace("_", " ")
    to, by = channel.node_of(channel.dest), channel.node_of(channel.source)
    arrows = []
    for node in step.args[channel.lost]:
        if to:
            source = sources[0] if sources else _first_node(model, step)
            arrows.append(Arrow(LOST, source, lifeline(to, node), label))
        elif by and isinstance(channel.dest, str):
            arrows.append(Arrow(LOST, lifeline(by, node), channel.dest, label))
    return arrows


def _arrow(model: Model, channel: Channel, kind: str, identity: Identity, message: Any) -> Arrow:
    nodes, _ = identity
    source, dest = (
        _end(model, channel, end, nodes, message) for end in (channel.source, channel.dest)
    )
    return Arrow(kind, source, dest, _label(channel, message), (channel.path, identity))


def _end(model: Model, channel: Channel, end: End, nodes: tuple[int, ...], message: Any) -> str:
    if callable(end):
        return end(message, model.constants)
    if isinstance(end, int):
        return lifeline(channel.nodes[end], nodes[end])
    kind = channel.node_of(end)
    return lifeline(kind, getattr(message, end)) if kind else end


def _label(channel: Channel, message: Any) -> str:
    """A message as text without sender and receiver: "request number 1"."""
    if channel.label is not None:
        return channel.label(message)
    noun = channel.path.rpartition(".")[2].replace("_", " ")
    noun = noun[:-3] + "y" if noun.endswith("ies") else noun.removesuffix("s")
    if isinstance(message, int):
        return f"{noun} {message}"
    values = _plain(message)
    told = told_fields(message._layout, plain(message), [])
    ends = (channel.source, channel.dest)
    parts = [_field(name, values[name]) for name in told if name not in ends]
    if any(isinstance(value, str) for value in values.values()):
        return ", ".join(parts)  # a name among the fields says what kind of message it is
    return f"{noun}: {', '.join(parts)}" if parts else noun


def _field(name: str, value: Any) -> str:
    match value:
        case str():
            return value.replace("_", " ")
        case dict():
            value = "(" + ", ".join(_field(*each) for each in value.items()) + ")"
        case list():
            value = "{" + ", ".join(map(str, value)) + "}" if _are_numbers(value) else len(value)
        case bool():
            value = "yes" if value else "no"
    return f"{name.replace('_', ' ')} {value}"


def _are_numbers(values: list) -> bool:
    return all(isinstance(each, int) for each in values)


# --- Without any declaration -------------------------------------------------------------------


def _by_parameters(model: Model, step: Step) -> Event:
    """An arrow from the first node that the step names to the second, or a note at the only one."""
    named = _nodes(model, step)
    if len(named) >= 2 and named[0] != named[1]:
        return Arrow(AT_ONCE, named[0], named[1], step.action.replace("_", " "))
    return _note(model, step)


def _note(model: Model, step: Step) -> Note:
    return Note(_first_node(model, step), step.action.replace("_", " "))


def _first_node(model: Model, step: Step) -> str:
    return next(iter(_nodes(model, step)), EVERYBODY)


def _nodes(model: Model, step: Step) -> list[str]:
    domains = model.action(step.action).domains
    return [
        lifeline(domain, step.args[name])
        for name, domain in domains.items()
        if isinstance(domain, Node)
    ]


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
        yield _note_told(same[0]) if isinstance(same[0], Note) else _arrows(same)


def _arrows(same: list[Arrow]) -> str:
    first = same[0]
    what = f"“{first.label}”"
    if first.kind == SENT:
        return f"{_opening(first.source)} sends {what} to {_listed(each.dest for each in same)}."
    if first.kind == LOST:
        return f"{what} from {first.source} to {_listed(each.dest for each in same)} is lost."
    verb = "get" if " and " in first.dest else "gets"
    return f"{_opening(first.dest)} {verb} {what} from {_listed(each.source for each in same)}."


def _note_told(event: Note) -> str:
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
