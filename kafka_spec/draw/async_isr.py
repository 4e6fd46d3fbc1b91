"""The picture of the asynchronous ISR protocol."""

from collections.abc import Callable

from kafka_spec.draw.shared import (
    LEGEND,
    Log,
    Shown,
    alarms,
    changed_width,
    compared,
    entries_of,
    membership,
    or_none,
    set_text,
    views,
)
from protocol_lab.drawing import (
    Bar,
    Cluster,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
    draw_cluster,
)
from protocol_lab.nodes import members
from protocol_lab.spec import Model


def draw_async_isr(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """The controller's ISR and the leader's, the offsets, and what is on its way between them."""
    s, old = views(model, row, previous)
    c = model.constants
    hw, before = _async_high_watermark(s), old and _async_high_watermark(old)
    lanes = []
    for r in range(1, c.replicas + 1):
        end = s.leader_state.offsets[r]
        old_end = None if old is None else old.leader_state.offsets[r]
        missing = range(end, hw) if r in members(s.controller_state.isr) else ()
        lanes.append(
            Lane(
                lines=[
                    [Text(f"Replica {r}", bold=True)],
                    [
                        Text("leader", "accent", True)
                        if r == c.leader
                        else Text("follower", "muted")
                    ],
                    [membership(s, old, r, lambda at: at.controller_state.isr, "controller's ISR")],
                    [compared(s, old, lambda at, r=r: _leader_says(at, r), "muted")],
                ],
                entries=entries_of(
                    _offsets_only(end),
                    None if old_end is None else _offsets_only(old_end),
                    set(enumerate(_offsets_only(hw))),
                    set(enumerate(_offsets_only(hw if before is None else before))),
                    {offset: _offsets_only(offset + 1)[offset] for offset in missing},
                ),
                badge="crown" if r == c.leader else "",
            )
        )
    bars = [
        Bar(
            "Controller",
            [
                Value("ISR", compared(s, old, lambda at: set_text(at.controller_state.isr))),
                Value("version", compared(s, old, lambda at: str(at.controller_state.version))),
            ],
        ),
        Bar(
            "Leader",
            [
                Value("ISR", compared(s, old, lambda at: set_text(at.leader_state.isr))),
                Value("version", compared(s, old, lambda at: str(at.leader_state.version))),
                Value(
                    "pending ISR",
                    compared(s, old, lambda at: set_text(at.leader_state.pending_isr)),
                ),
                Value(
                    "pending version",
                    compared(s, old, lambda at: or_none(at.leader_state.pending_version, -1)),
                ),
            ],
        ),
    ]
    return draw_cluster(
        Cluster(
            title=title or model.spec.name,
            show_title=title is not None,
            bars=bars,
            lanes=lanes,
            line=Flag(
                hw,
                Text(
                    f"high watermark {hw}",
                    bold=True,
                    was=None if before in (None, hw) else str(before),
                ),
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
            alarms=alarms(model, row),
            columns=4,
            lane_width=changed_width("not in leader's ISR", "pending at leader"),
            legend=LEGEND,
        )
    )


def _async_high_watermark(s) -> int:
    in_sync = members(s.leader_state.isr | s.leader_state.pending_isr)
    return min(s.leader_state.offsets[r] for r in in_sync)


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
