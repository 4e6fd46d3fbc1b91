"""What the logs say as HTML: the parts of a page, which a notebook shows, too; and a partition's
moments in the lessons' pictures, each with what it changed. They are narrow, so that a phone shows
one and a screen several beside each other.
"""

from collections.abc import Sequence
from html import escape

from protocol_lab.drawing import Cluster as Picture
from protocol_lab.drawing import Lane, Text, draw_cluster
from protocol_lab.drawing.arrangement import Arrangement, arranged
from protocol_lab.drawing.changes import with_changes
from protocol_lab.drawing.pictures import image_html
from real_systems.kafka.logs.answers.rules import listed
from real_systems.kafka.logs.broker_events import Event, away_at, events_of_brokers
from real_systems.kafka.logs.histories import Cluster, ends_at
from real_systems.kafka.logs.moments import NONE, UNKNOWN, UNSAID, Moment
from real_systems.kafka.logs.reading.entries import clock, day
from real_systems.kafka.picture import controller, replica_lane

Ends = dict[int, tuple[list[str], str]]

_UNKNOWN = "where its log ends is not said"

_NARROW = Arrangement(narrow=True, stacked=True, width=284)


def _kept(
    cluster: Cluster, partition: str, broker: int, moment: Moment
) -> tuple[list[str], str] | None:
    """Where the log of a broker that is away ends: nothing changes it, so that is what the broker
    says when it starts again. None if it never does."""
    for said in cluster.said_of(None, partition):
        entry = said.entry
        if entry.node == broker and entry.time > moment.time and "end" in said.fields:
            fact = f"log end {said.fields['end']}"
            return [fact], f"as it says at {clock(entry.time)}, back again"
    return None


def describe(moment: Moment, ends: Ends, away: set[int]) -> Picture:
    """A moment as a picture.

    ends: what is known of each broker's own log, and since when; its records are not in the
    servers' logs. away: the brokers that are fenced or have shut down.
    """
    unsaid = moment.leader == UNSAID
    leader = None if moment.leader == NONE else "not said" if unsaid else moment.leader
    epoch = None if moment.epoch == UNKNOWN else moment.epoch
    replicas = {*moment.replicas, *(moment.isr or ()), moment.leader} - {NONE, UNSAID}
    return Picture(
        bars=[controller(leader, epoch, moment.isr, moment.elr, moment.last_known)],
        lanes=[
            _lane(each, moment, *ends.get(each, ([], _UNKNOWN)), each in away)
            for each in sorted(replicas)
        ],
        columns=0,
    )


def _lane(broker: int, moment: Moment, facts: list[str], since: str, is_away: bool) -> Lane:
    leads, notes = broker == moment.leader, [_note(each) for each in facts]
    return replica_lane(broker, leads, is_away, moment.isr, moment.elr, notes=notes, empty=since)


def _note(fact: str) -> Text:
    """Something about a log, as in "log end 7"."""
    topic, _, number = fact.rpartition(" ")
    return Text(fact, "muted", topic=topic, short=number)


_DRAWN = 12
"""Moments of a partition that are drawn: the last ones, all are in the text."""

_GRID = (
    "display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr));"
    " gap: 1.5rem; list-style: none; padding: 0; margin: 1rem 0"
)

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
  color: #17202b; background: #fff; }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere; }
.findings li { margin: 0 0 0.6rem; }
.place { color: #4f5d6c; }
pre { overflow-x: auto; background: #f5f7f9; padding: 0.75rem; border-radius: 6px; }
.moments img { width: 100%; border: 1px solid #d9e0e7; border-radius: 8px; }
.moments ul { padding-left: 1.1rem; margin: 0.3rem 0 0; font-size: 14px; }
.findings, .moments { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { color: #edf2f7; background: #151b23; }
  .place { color: #a9b6c4; }
  pre { background: #0e131a; }
  .moments img { filter: invert(0.93) hue-rotate(180deg); }
}
"""
"""In the dark, pictures are turned round as in protocol_lab/drawing/dark.css."""


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""The page has no scripts and fetches nothing, whatever the logs that it quotes may contain."""


def whole_page(content: str) -> str:
    """One HTML page that needs nothing else."""
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>What the logs say</title><style>{_STYLE}</style>"
        f"<body><h1>What the logs say</h1>{content}</body></html>\n"
    )


def paragraph(text: str) -> str:
    """A text by itself."""
    return f"<p>{escape(text)}</p>"


def folded(title: str, text: str) -> str:
    """A text whose lines are shown as they are when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def drawn_moments(
    cluster: Cluster, partition: str, moments: Sequence[Moment], events: Sequence[Event]
) -> str:
    """A partition's moments in pictures, each with its differences from the one before it marked,
    and with the events that follow it."""
    drawn, brokers = moments[-_DRAWN:], events_of_brokers(cluster)
    items, before = [], None
    for moment, after in zip(drawn, [*drawn[1:], None], strict=True):
        away = away_at(brokers, moment.time)
        ends = ends_at(cluster, partition, moment.time)
        ends |= {each: end for each in away if (end := _kept(cluster, partition, each, moment))}
        now = describe(moment, ends, away)
        with arranged(_NARROW):
            picture = draw_cluster(with_changes(now, before) if before else now)
        before = now
        time = f"{day(moment.time)} <b>{clock(moment.time)}</b>" if moment.time else "at some time"
        title = f"{time} <span class='place'>{escape(moment.place)}</span>"
        image = image_html(picture, f"{partition} at {clock(moment.time)}")
        then = [
            str(each)
            for each in events
            if moment.time <= each.time and (after is None or each.time < after.time)
        ]
        items.append(f"<li>{title}{image}{listed(then)}</li>")
    grid = f"<ol class='moments' style='{_GRID}'>{''.join(items)}</ol>"
    if len(drawn) < len(moments):
        return paragraph(f"The last {_DRAWN} of {len(moments):,} moments:") + grid
    return grid
