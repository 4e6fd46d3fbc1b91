"""The picture of the asynchronous ISR protocol."""

from collections.abc import Callable
from typing import Any

from kafka_spec.draw import LEGEND
from protocol_lab.drawing import *


def draw_async_isr(high_watermark: Callable[[Any], int]) -> Callable[..., str]:
    """The drawing; high_watermark: a function of the state, which the spec has."""
    return drawing_of(lambda s, c: describe(s, c, high_watermark(s)))


def describe(s, c, hw: int) -> Cluster:
    """The controller's ISR and the leader's, the offsets, and what is on its way between them."""
    return Cluster(
        bars=[_controller(s), _leader(s)],
        lanes=[_lane(s, c, r, hw) for r in range(1, c.replicas + 1)],
        line=Flag(
            hw, Text(f"high watermark {hw}", bold=True, topic="high watermark", short=str(hw))
        ),
        messages=[
            _isr_messages(
                "Requests to the controller",
                s.requests,
                lambda version: version != s.controller_state.version,
            ),
            _isr_messages(
                "Updates to the leader",
                s.updates,
                lambda version: version <= s.leader_state.version,
            ),
        ],
        columns=4,
        lane_width=247,
        legend=LEGEND,
    )


def _controller(s) -> Bar:
    controller = s.controller_state
    return Bar(
        "Controller",
        [
            Value("ISR", Text(set_text(controller.isr))),
            Value("version", Text(str(controller.version))),
        ],
    )


def _leader(s) -> Bar:
    leader = s.leader_state
    return Bar(
        "Leader",
        [
            Value("ISR", Text(set_text(leader.isr))),
            Value("version", Text(str(leader.version))),
            Value("pending ISR", Text(set_text(leader.pending_isr))),
            Value("pending version", Text(or_none(leader.pending_version, -1))),
        ],
    )


def _lane(s, c, r: int, hw: int) -> Lane:
    end = s.leader_state.offsets[r]
    is_member = r in s.controller_state.isr
    missing = range(end, hw) if is_member else ()
    return Lane(
        lines=[
            [Text(f"Broker {r}", bold=True)],
            [Text("leader", "accent", bold=True) if r == c.leader else Text("follower", "muted")],
            [membership(is_member, "in controller's ISR", "not in controller's ISR")],
            [Text(_leader_says(s, r), "muted")],
        ],
        entries=entries_of(
            _offsets_only(end),
            set(enumerate(_offsets_only(hw))),
            {offset: _offsets_only(hw)[offset] for offset in missing},
            hw if r == c.leader else 0,
            lambda offset, _: offset < s.leader_state.offsets[c.leader],
        ),
        badge="crown" if r == c.leader else "",
    )


def _leader_says(s, r: int) -> str:
    if r in s.leader_state.isr:
        return "in leader's ISR"
    return "pending at leader" if r in s.leader_state.pending_isr else "not in leader's ISR"


def _offsets_only(end: int) -> Log:
    """A log of which only its length is known."""
    return [Shown(letter(offset + 1)) for offset in range(end)]


def _isr_messages(name: str, bag, is_stale: Callable[[int], bool]) -> Messages:
    items = []
    for message in bag:
        isr, version = set_text(message.isr), message.version
        items.append(
            Message(
                f"ISR {isr}",
                f"version {version} · {'stale' if is_stale(version) else 'can be taken'}",
                faded=is_stale(version),
                topic=f"{isr} {version}",
            )
        )
    return Messages(name, items)
