"""The picture of the asynchronous ISR protocol."""

from collections.abc import Callable

from kafka_spec.draw.shared import (
    LEGEND,
    Log,
    Shown,
    States,
    changed_width,
    entries_of,
    or_none,
    set_text,
)
from kafka_spec.isr_changes.model import high_watermark
from protocol_lab.drawing import Bar, Flag, Lane, Message, Messages, Text
from protocol_lab.language.node_sets import members
from protocol_lab.spec.spec import Model


def draw_async_isr(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """The controller's ISR and the leader's, the offsets, and what is on its way between them."""
    states = States(model, row, previous)
    s, old, c = states.s, states.old, states.c
    hw, before = high_watermark(s), states.before(high_watermark)
    before = hw if before is None else before
    return states.draw(
        title,
        bars=[_controller(states), _leader(states)],
        lanes=[_lane(states, r, hw, before) for r in range(1, c.replicas + 1)],
        line=Flag(
            hw,
            Text(f"high watermark {hw}", bold=True, was=None if before == hw else str(before)),
        ),
        messages=[
            _isr_messages(
                "Requests to the controller",
                s.requests,
                old and old.requests,
                lambda version: version != s.controller_state.version,
            ),
            _isr_messages(
                "Updates to the leader",
                s.updates,
                old and old.updates,
                lambda version: version <= s.leader_state.version,
            ),
        ],
        columns=4,
        lane_width=changed_width("not in leader's ISR", "pending at leader"),
        legend=LEGEND,
    )


def _controller(states: States) -> Bar:
    return Bar(
        "Controller",
        [
            states.value("ISR", lambda at: set_text(at.controller_state.isr)),
            states.value("version", lambda at: at.controller_state.version),
        ],
    )


def _leader(states: States) -> Bar:
    return Bar(
        "Leader",
        [
            states.value("ISR", lambda at: set_text(at.leader_state.isr)),
            states.value("version", lambda at: at.leader_state.version),
            states.value("pending ISR", lambda at: set_text(at.leader_state.pending_isr)),
            states.value(
                "pending version", lambda at: or_none(at.leader_state.pending_version, -1)
            ),
        ],
    )


def _lane(states: States, r: int, hw: int, hw_before: int) -> Lane:
    s = states.s
    leads = r == states.c.leader
    end = s.leader_state.offsets[r]
    missing = range(end, hw) if r in members(s.controller_state.isr) else ()
    return Lane(
        lines=[
            [Text(f"Replica {r}", bold=True)],
            [Text("leader", "accent", bold=True) if leads else Text("follower", "muted")],
            [
                states.membership(
                    r,
                    lambda at: at.controller_state.isr,
                    "in controller's ISR",
                    "not in controller's ISR",
                )
            ],
            [states.text(lambda at: _leader_says(at, r), "muted")],
        ],
        entries=entries_of(
            _offsets_only(end),
            states.before(lambda at: _offsets_only(at.leader_state.offsets[r])),
            set(enumerate(_offsets_only(hw))),
            set(enumerate(_offsets_only(hw_before))),
            {offset: _offsets_only(hw)[offset] for offset in missing},
        ),
        badge="crown" if leads else "",
    )


def _leader_says(s, r: int) -> str:
    if r in members(s.leader_state.isr):
        return "in leader's ISR"
    pending = r in members(s.leader_state.pending_isr)
    return "pending at leader" if pending else "not in leader's ISR"


def _offsets_only(end: int) -> Log:
    """A log of which only its length is known."""
    return [Shown(f"rec {offset}") for offset in range(end)]


def _isr_messages(name: str, bag, old_bag, is_stale: Callable[[int], bool]) -> Messages:
    old_items = None if old_bag is None else {_pair(old_bag.items[k]) for k in range(old_bag.size)}
    items = []
    for k in range(bag.size):
        isr, version = _pair(bag.items[k])
        is_new = old_items is not None and (isr, version) not in old_items
        items.append(
            Message(
                f"ISR {isr}",
                f"version {version} · {'stale' if is_stale(version) else 'can be taken'}",
                mark="new" if is_new else "",
                faded=is_stale(version),
            )
        )
    return Messages(name, items)


def _pair(message) -> tuple[str, int]:
    return set_text(message.isr), message.version
