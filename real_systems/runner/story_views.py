"""A recording for people: as text, as a table of stories by release, and drawn in a notebook."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape

from protocol_lab.drawing import Cluster, draw_cluster
from protocol_lab.drawing.changes import with_changes
from protocol_lab.drawing.pictures import image_html, strip_of
from protocol_lab.errors import LabError
from protocol_lab.traces.scenarios import scenario
from real_systems.runner.recordings import Act, Recording
from real_systems.runner.stories import Story, recorded

_PICTURE_COLUMNS = 2


class StoryRun:
    """A recording as a notebook shows it: what it is, its acts, and the moments that decide it.

    is_live: it ran just now, on this machine; otherwise it travelled with the kit.
    """

    def __init__(self, story: Story, recording: Recording, is_live: bool):
        self.story, self.recording, self.is_live = story, recording, is_live

    def __str__(self) -> str:
        return "\n".join([self.header, *map(str, self.recording.acts), *self.verdict])

    def __repr__(self) -> str:
        return "\n".join([self.header, *self.verdict])

    def beside_model(self) -> str:
        """As text, each act with the step of the model that it stands for."""
        return "\n".join([self.header, *map(beside_step, self.recording.acts), *self.verdict])

    def beside_slides(self) -> str:
        """The acts as text, each with the slide of the story's scenario whose step it stands for.

        They start at the first act that stands for one. Raises LabError if there is no scenario.
        """
        left = [line for line in scenario(self.story.scenario).lines if line.kind == "step"]
        lines = ["slide  second"]
        for act in self.recording.acts:
            line = next((line for line in left if line.text == act.step), None)
            if line is not None:
                left.remove(line)
            if line is not None or len(lines) > 1:
                lines.append(f"{line.slide if line else '':>5} {act}")
        return "\n".join(lines)

    @property
    def header(self) -> str:
        """Which run this is, and whether it ran here."""
        ran = self.recording
        source = (
            f"run here, {ran.seconds:.0f} s"
            if self.is_live
            else f"recorded on {ran.day}, it took {ran.seconds:.0f} s; run it here with"
            f" `python3 lab.py real {command_of(ran)}`"
        )
        settings = "".join(f", {name}={value}" for name, value in ran.settings.items())
        return f"{ran.story} on {ran.release}{settings} ({source})"

    @property
    def verdict(self) -> list[str]:
        """What came of it; of a live run also how it differs from the recording of its release."""
        ran = self.recording
        if not self.is_live:
            return [str(ran.outcome)]
        return [str(ran.outcome), *_compared(recorded(self.story, ran.release, ran.settings), ran)]

    def strip(self) -> str:
        """The moments at which the story takes a turn, as SVG, each with what it has changed."""
        pictures, captions = [], []
        describe, moments = self.story.staging.describe, decisive(self.story, self.recording.acts)
        idle = _idle([describe(act.seen) for _, act in moments])
        for before, act in moments:
            cluster = describe(act.seen)
            if before is not None:
                cluster = with_changes(cluster, describe(before.seen))
            lanes = [each for each in cluster.lanes if each.name not in idle]
            pictures.append(partial(draw_cluster, replace(cluster, lanes=lanes)))
            captions.append(f"{act.text}: {act.answer}" if act.answer else act.text)
        title = f"{self.recording.story} on {self.recording.release}"
        return strip_of(pictures, captions, _PICTURE_COLUMNS, title)

    def _repr_html_(self) -> str:
        lines = escape("\n".join(map(str, self.recording.acts)))
        verdict = "<br>".join(map(escape, self.verdict))
        header = re.sub("`(.*?)`", r"<code>\1</code>", escape(self.header))
        parts = [
            f"<p><b>{header}</b></p>",
            f"<details><summary>every act, with the second in which it happened</summary>"
            f"<pre>{lines}</pre></details>",
            f"<p>{verdict}</p>",
        ]
        if decisive(self.story, self.recording.acts):
            alternative = f"{self.recording.story}, moment by moment"
            parts.insert(2, image_html(self.strip(), alternative))
        return "".join(parts)


def recorded_run(story: Story, release: str, settings: Mapping[str, str]) -> StoryRun:
    """The run that travels with the kit. Raises LabError if there is none."""
    recording = recorded(story, release, settings)
    if recording is None:
        raise LabError(
            f"No run of {story.name} on {release} with these settings is recorded: take one of the"
            " cases that `lab.py real` lists, or run it: there without --recorded, in a notebook"
            " with live=True."
        )
    return StoryRun(story, recording, is_live=False)


def beside_step(act: Act) -> str:
    """An act as a line, with the step of the model that it stands for, if there is one."""
    return f"{act}  [the model: {act.step}]" if act.step else str(act)


def decisive(story: Story, acts: Sequence[Act]) -> list[tuple[Act | None, Act]]:
    """The acts by which the story takes a turn, each behind the one before it; and the last act
    that is more than a line of a log.

    Only what can be drawn counts; the first of these has none before it.
    """
    seen = [each for each in acts if each.seen]
    moments = [
        (before, each)
        for before, each in zip([None, *seen], seen)
        if before is None or story.staging.is_turn(before.seen, each.seen)
    ]
    last = max((k for k, each in enumerate(seen) if not each.text.endswith(" logs")), default=0)
    if seen and seen.index(moments[-1][1]) < last:
        moments.append((seen[last - 1], seen[last]))
    return moments


def _idle(pictures: Sequence[Cluster]) -> set[str]:
    """The names of the lanes that have no log in any picture, if other lanes have one."""
    lanes = [lane for each in pictures for lane in each.lanes]
    with_a_log = {each.name for each in lanes if each.entries or each.empty}
    return {each.name for each in lanes} - with_a_log if with_a_log else set()


def command_of(recording: Recording) -> str:
    """The words after `lab.py real` that run this again."""
    settings = (f" --set {name}={value}" for name, value in recording.settings.items())
    return f"{recording.story} --release {recording.release}{''.join(settings)}"


def table(runs: Sequence[Recording]) -> str:
    """Recorded runs by release, and what came of each."""
    cells = [("story", "release", "settings", "what came of it", "seconds")]
    for each in runs:
        settings = " ".join(f"{name}={value}" for name, value in each.settings.items())
        came, seconds = each.outcome.in_short, f"{each.seconds:.0f}"
        cells.append((each.story, each.release, settings, came, seconds))
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells
    )


def _compared(known: Recording | None, recording: Recording) -> list[str]:
    if known is None:
        return ["The kit has no run of this release with these settings to compare it with."]
    differences = known.outcome.differences(recording.outcome)
    return [f"✗ Not as known: {each}." for each in differences] or [
        "The kit's recording of this release ended in the same way."
    ]
