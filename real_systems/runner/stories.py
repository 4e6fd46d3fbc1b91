"""Stories that real systems act out: how one is declared, found and run.

A story is a function of a stage, whose methods are acts, each followed by what must come about. The
recordings beside its module, in recordings.json, say what comes of it, by release and settings. The
stories of a system are the list STORIES in real_systems/SYSTEM/stories.py.
"""

import importlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import Any

from protocol_lab.drawing import Cluster
from protocol_lab.errors import LabError, unknown
from protocol_lab.explain.wording import first_line
from protocol_lab.spec_files import is_path, load_from_file
from real_systems import SYSTEMS
from real_systems.runner.java_gateway import cause_of
from real_systems.runner.processes import Processes
from real_systems.runner.recordings import (
    Act,
    Outcome,
    Recording,
    read_recordings,
    write_recordings,
)


@dataclass(frozen=True)
class Run:
    """One run of a story: what its stage is made of, and the recording that it leaves.

    tell: gets each act as it happens. say: gets a sentence about what takes long.
    """

    processes: Processes
    recording: Recording
    tell: Callable[[Act], None]
    say: Callable[[str], None]
    began: float = field(default_factory=time.monotonic)

    @property
    def release(self) -> str:
        """The release of the system."""
        return self.recording.release

    @property
    def settings(self) -> dict[str, str]:
        """The story's settings."""
        return self.recording.settings

    @property
    def outcome(self) -> Outcome:
        """What has come of it so far."""
        return self.recording.outcome

    def act(
        self, text: str, answer: str = "", seen: dict[str, Any] | None = None, step: str = ""
    ) -> None:
        """Record an act, and pass it on."""
        self.recording.seconds = round(time.monotonic() - self.began, 1)
        done = Act(self.recording.seconds, text, answer, seen or {}, step)
        self.recording.acts.append(done)
        self.tell(done)


@dataclass(frozen=True)
class Staging:
    """How stories are staged and drawn.

    make: the context that gives the stage of a run. describe: the picture of what an act has
    `seen`; is_turn: is what two acts have seen so different that the second is drawn, too?
    """

    make: Callable[[Run], AbstractContextManager[Any]]
    describe: Callable[[dict[str, Any]], Cluster]
    is_turn: Callable[[dict[str, Any], dict[str, Any]], bool]


@dataclass(frozen=True)
class Story:
    """A story of one system, named after the function that acts it out.

    play: acts it out on a stage; its docstring says what it is about. settings: the values of each,
    the default first. lesson: the notebook that it belongs to; scenario: the name of the model's
    run, if there is one. What is known of it is what was recorded.
    """

    play: Callable[[Any], None]
    staging: Staging
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lesson: str = ""
    scenario: str = ""

    def __post_init__(self) -> None:
        """Raises LabError for a slip that would show only when the story has run."""
        if not isinstance(self.staging, Staging):
            raise LabError(
                f"the stage of {self.name} is a function that makes one: call it, with brackets,"
                " as docs/real_stories.md does"
            )

    @property
    def name(self) -> str:
        """The function's name."""
        return self.play.__name__

    @property
    def meaning(self) -> str:
        """The first line of what it is about."""
        return first_line(self.play.__doc__ or "")

    @property
    def latest(self) -> str:
        """The release of the last recording. Raises LabError if there is none."""
        if not self.cases:
            raise LabError(f"{self.name} has no recording: name a release, as in --release 4.3.1.")
        return self.cases[-1].release

    def chosen(self, given: Mapping[str, str]) -> dict[str, str]:
        """All settings, with defaults for those that are not given. Raises LabError."""
        for name, value in given.items():
            if name not in self.settings:
                raise unknown(f"setting of {self.name}", name, self.settings)
            if value not in self.settings[name]:
                raise unknown(f"value of {name}", value, self.settings[name])
        return {name: given.get(name, values[0]) for name, values in self.settings.items()}

    @property
    def cases(self) -> list[Recording]:
        """The recorded runs, the latest release last; those of the kit travel with it."""
        file = recordings_file(self)
        return [each for each in _recordings(file) if each.story == self.name]


def run(
    story: Story,
    release: str,
    settings: Mapping[str, str],
    tell: Callable[[Act], None],
    say: Callable[[str], None],
    keep: Path | None = None,
) -> Recording:
    """Act out a story on real processes; nothing of it is left behind unless `keep` names a folder.

    tell: gets each act as it happens. say: gets a sentence about what takes long. Raises LabError,
    and DidNotHappen if the story did not come about.
    """
    recording = Recording(story.name, release, story.chosen(settings), date.today().isoformat())
    with Processes(keep) as processes:
        with story.staging.make(Run(processes, recording, tell, say)) as stage:
            _play(story, stage)
        if keep:
            write_recordings([recording], processes.folder / "recording.json")
    return recording


def _play(story: Story, stage: Any) -> None:
    """Play it; what it can't handle is told in one sentence, with its line. Raises LabError."""
    try:
        story.play(stage)
    except LabError:
        raise
    except Exception as error:
        file = story.play.__code__.co_filename
        lines = [each.lineno for each in extract_tb(error.__traceback__) if each.filename == file]
        kind, said = cause_of(error)
        where = f"{Path(file).name}, line {lines[-1]}"
        raise LabError(f"{story.name} can't go on: {kind}: {said} ({where}).") from error


def stories() -> dict[str, Story]:
    """All stories of the kit by name, in the order of the systems."""
    modules = [importlib.import_module(f"real_systems.{each}.stories") for each in SYSTEMS]
    return {story.name: story for module in modules for story in module.STORIES}


def story_of(name: str) -> Story:
    """The story of this name, or in the file at this path. Raises LabError."""
    if is_path(name):
        return load_from_file(name, Story, "story")
    found = stories()
    if name not in found:
        raise unknown("story", name, found)
    return found[name]


def recorded(story: Story, release: str, settings: Mapping[str, str]) -> Recording | None:
    """The recording of this run, if there is one."""
    asked = release, story.chosen(settings)
    return next((each for each in story.cases if (each.release, each.settings) == asked), None)


def keep_recording(story: Story, recording: Recording) -> None:
    """Keep a run beside the story's module; those of the kit travel with it. Raises OSError."""
    file = recordings_file(story)
    write_recordings([*_recordings(file), recording], file)
    _recordings.cache_clear()


@cache
def _recordings(file: Path) -> list[Recording]:
    return read_recordings(file) if file.exists() else []


def recordings_file(story: Story) -> Path:
    """The file with the recordings of a system's stories, beside the module of this one."""
    module = importlib.import_module(story.play.__module__)
    return Path(module.__file__).with_name("recordings.json")
