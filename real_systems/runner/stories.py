"""Stories that real systems act out: how one is declared, found and run.

A story is a function of a stage, whose methods are acts, each followed by what must come about. Its
cases say what came of it, by release and settings. The stories of a system are the list STORIES in
real_systems/SYSTEM/stories.py; what was recorded of them is beside it, in recordings.json.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
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
    Recorder,
    Recording,
    read_recordings,
    write_recordings,
)


@dataclass(frozen=True)
class Case:
    """What comes of a story on one release with some settings.

    lost: the values that were acknowledged and can't be read. facts: those of the outcome that the
    case is about.
    """

    release: str
    settings: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    def differences(self, outcome: Outcome) -> list[str]:
        """In which points an outcome is another one, each as a sentence without its full stop."""
        found = []
        if list(self.lost) != outcome.lost:
            words = [" ".join(each) or "nothing" for each in (outcome.lost, self.lost)]
            found.append(f"{words[0]} was lost, not {words[1]}")
        for name, value in self.facts.items():
            got = outcome.facts.get(name, "not seen")
            if got != value:
                found.append(f"{name}: {got}, not {value}")
        return found

    def __str__(self) -> str:
        lost = [f"{' '.join(self.lost)} is lost"] if self.lost else []
        facts = [f"{name}: {value}" for name, value in self.facts.items()]
        return "; ".join(lost + facts) or "nothing is lost"


@dataclass(frozen=True)
class Run:
    """One run of a story: what its stage is made of. say: gets a sentence about what takes long."""

    processes: Processes
    release: str
    settings: dict[str, str]
    recorder: Recorder
    say: Callable[[str], None]


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
    run, if there is one.
    """

    play: Callable[[Any], None]
    staging: Staging
    cases: tuple[Case, ...]
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lesson: str = ""
    scenario: str = ""

    def __post_init__(self) -> None:
        """Raises LabError for two slips that would show only when the story has run."""
        if isinstance(self.cases, Case):
            raise LabError(
                f"the cases of {self.name} are one case, not a tuple: write (Case(...),), with a"
                " comma before the last bracket"
            )
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
        """The release of the last case. Raises LabError if there is none."""
        if not self.cases:
            raise LabError(f"{self.name} has no case: name a release, as in --release 4.3.1.")
        return self.cases[-1].release

    def chosen(self, given: Mapping[str, str]) -> dict[str, str]:
        """All settings, with defaults for those that are not given. Raises LabError."""
        for name, value in given.items():
            if name not in self.settings:
                raise unknown(f"setting of {self.name}", name, self.settings)
            if value not in self.settings[name]:
                raise unknown(f"value of {name}", value, self.settings[name])
        return {name: given.get(name, values[0]) for name, values in self.settings.items()}

    def case(self, release: str, settings: Mapping[str, str]) -> Case | None:
        """What is known of this release with these settings."""
        for each in self.cases:
            if each.release == release and self.chosen(each.settings) == dict(settings):
                return each
        return None


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
    recording = Recording(story.name, release, story.chosen(settings))
    recorder = Recorder(recording, tell)
    with Processes(keep) as processes:
        with story.staging.make(
            Run(processes, release, recording.settings, recorder, say)
        ) as stage:
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
    return {story.name: story for module in _modules() for story in module.STORIES}


def story_of(name: str) -> Story:
    """The story of this name, or in the file at this path. Raises LabError."""
    if is_path(name):
        return load_from_file(name, Story, "story")
    found = stories()
    if name not in found:
        raise unknown("story", name, found)
    return found[name]


def recorded(story: Story, release: str, settings: Mapping[str, str]) -> Recording | None:
    """The recording of this run that travels with the kit, if there is one."""
    file, chosen = recordings_file(story), story.chosen(settings)
    for each in read_recordings(file) if file.exists() else []:
        if (each.story, each.release, each.settings) == (story.name, release, chosen):
            return each
    return None


def keep_recording(story: Story, recording: Recording) -> None:
    """Let a run travel with the kit. Raises OSError."""
    file = recordings_file(story)
    others = read_recordings(file) if file.exists() else []
    write_recordings([*others, recording], file)


def recordings_file(story: Story) -> Path:
    """The file with the recordings of a system's stories, beside the module of this one."""
    module = importlib.import_module(story.play.__module__)
    return Path(module.__file__).with_name("recordings.json")


def _modules() -> Iterator[Any]:
    for system in SYSTEMS:
        yield importlib.import_module(f"real_systems.{system}.stories")
