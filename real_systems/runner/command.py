"""The command `real`: lists the stories, runs one or all, or shows what was recorded."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from protocol_lab.cli import settings_of
from protocol_lab.errors import LabError
from real_systems.runner.processes import DidNotHappen
from real_systems.runner.recordings import Act, Recording
from real_systems.runner.stories import (
    Story,
    keep_recording,
    recorded,
    recordings_file,
    run,
    stories,
    story_of,
)
from real_systems.runner.story_views import StoryRun, beside_step, recorded_run, table

_AS_KNOWN, _OTHERWISE, _DID_NOT_HAPPEN = 0, 1, 2


def real(options: argparse.Namespace) -> int:
    """Carry out the command; returns its exit code. Raises LabError."""
    if options.all:
        runs = [each for story in stories().values() for each in story.cases]
        print(json.dumps(list(map(asdict, runs))) if options.json else table(runs))
        return _AS_KNOWN
    if options.story is None:
        _print_stories(options.json)
        return _AS_KNOWN
    story = story_of(options.story)
    settings = story.chosen(settings_of(options.set))
    release = options.release or story.latest
    if options.recorded:
        shown = recorded_run(story, release, settings)
        print(json.dumps(asdict(shown.recording)) if options.json else shown.beside_model())
        return _code(story, shown.recording)
    return _run_one(story, release, settings, options)


def _run_one(
    story: Story, release: str, settings: dict[str, str], options: argparse.Namespace
) -> int:
    def tell(act: Act) -> None:
        print(beside_step(act), file=sys.stderr if options.json else sys.stdout, flush=True)

    keep = Path(options.keep) if options.keep else None
    try:
        recording = run(story, release, settings, tell, _say, keep)
    except DidNotHappen as error:
        _say(str(error))
        return _DID_NOT_HAPPEN
    if options.json:
        print(json.dumps(asdict(recording)))
    else:
        print(*StoryRun(story, recording, is_live=True).verdict, sep="\n")
        if story.lesson:
            print(f"The lesson is notebooks/{story.lesson}.ipynb.")
        if story.scenario:
            print(f"The model's run is the scenario {story.scenario}.")
        if recorded(story, release, settings) is None:
            _offer_to_keep(story, recording)
    return _code(story, recording)


def _offer_to_keep(story: Story, recording: Recording) -> None:
    """Ask whether a run of which there is no recording is to become one. Raises LabError."""
    file = recordings_file(story)
    if not sys.stdin or not sys.stdin.isatty():
        print(f"There is no recording of this run: in a terminal it asks to keep it in {file}.")
    elif input(f"Keep this run in {file}? [y/N] ").strip().lower() in ("y", "yes"):
        try:
            keep_recording(story, recording)
        except OSError as error:
            raise LabError(f"{file} can't be written ({error.strerror}).") from None


def _print_stories(as_json: bool) -> None:
    listed = [
        {
            "name": each.name,
            "meaning": each.meaning,
            "settings": dict(each.settings),
            "lesson": each.lesson,
            "scenario": each.scenario,
            "cases": [
                {"release": run.release, "settings": run.settings, "known": run.outcome.in_short}
                for run in each.cases
            ],
        }
        for each in stories().values()
    ]
    if as_json:
        print(json.dumps(listed))
        return
    for each in listed:
        print(f"{each['name']}  {each['meaning']}")
        for name, values in each["settings"].items():
            print(f"    {name}={values[0]}  ({', '.join(values)})")
        for case in each["cases"]:
            words = "".join(f" --set {name}={value}" for name, value in case["settings"].items())
            print(f"    --release {case['release']}{words}: {case['known']}")


def _code(story: Story, recording: Recording) -> int:
    known = recorded(story, recording.release, recording.settings)
    return _OTHERWISE if known and known.outcome.differences(recording.outcome) else _AS_KNOWN


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
