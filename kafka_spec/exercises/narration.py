"""Helpers of the Kafka notebooks, no exercises: who lacks a record, what refuses, frames."""

from importlib.resources import files

from IPython.display import HTML, Markdown

from kafka_spec.replication.model import Constants, State, presumes_leadership
from kafka_spec.replication.properties import holds_committed
from protocol_lab.checker.result import Result
from protocol_lab.drawing.pictures import caption, image_html, picture_strip
from protocol_lab.errors import LabError
from protocol_lab.notebook import diagram, scenario
from protocol_lab.traces.scenarios import bound_model, play
from protocol_lab.traces.walk import Moment, Walk

# --- Walks -----------------------------------------------------------------------------------


def at_slide(name: str, slide: int) -> Walk:
    """The walk of a scenario, standing after the last step of a slide."""
    walk = play(scenario(name))
    told = [line for line in scenario(name).lines if line.kind == "step"]
    walk.go_to(1 + sum(int(line.slide) <= slide for line in told))
    return walk


def refusals(walk: Walk, *actions: str) -> None:
    """Print why these actions can't happen now."""
    for each in walk.attempts():
        if each.action.name in actions and not each.taken:
            print(f"{walk.step_of(each).text:42} {each.reason}")


def told(of: Walk | str, frames: int = 2) -> HTML:
    """A walk, or a scenario by name: who sends what to whom, the last states, and all, folded.

    `frames` is how many states are shown large.
    """
    walk = play(scenario(of)) if isinstance(of, str) else of
    walk.last()

    def pictures(moments: list[Moment], columns: int) -> str:
        words = "; ".join(caption(walk.model, moment) for moment in moments)
        return image_html(picture_strip(walk, columns, moments), words)

    return HTML(
        diagram(walk).data
        + pictures(walk.path[-frames:], 1)
        + f"<details><summary>All {len(walk.steps)} steps as pictures</summary>"
        + pictures(walk.path, 2)
        + "</details>"
    )


def go_on(name: str, steps: str, **constants: int) -> Walk:
    """The walk of a scenario in a model with other constants, and some more steps, one a line.

    A line that begins with # is the caption of the step after it.
    """
    told = scenario(name)
    walk = Walk.begin(bound_model(told.spec_name, {**told.constants, **constants}))
    for line in told.lines:
        if line.kind == "step":
            walk.take(line.text, line.caption)
    words = ""
    for line in map(str.strip, steps.strip().splitlines()):
        if line.startswith("#"):
            words = line.removeprefix("#").strip()
        else:
            walk.take(line, words)
            words = ""
    return walk


def end_of(found: Result) -> State:
    """The last state of the counterexample of a search. Raises LabError if there is none."""
    if not found.violated:
        raise LabError("This search has found no counterexample.")
    walk = Walk.along(found)
    walk.last()
    return walk.state


# --- States of the truncation variants ---------------------------------------------------------


def lacking_committed(s: State, c: Constants) -> set[int]:
    """The replicas that lack a record which some replica that believes it leads calls committed."""
    everybody = range(1, c.replicas + 1)
    return {
        replica
        for leader in everybody
        if presumes_leadership(s, leader)
        for replica in everybody
        if not holds_committed(s, replica, leader)
    }


def holding(s: State, c: Constants, record: int) -> set[int]:
    """The replicas whose log holds the record with this id, at whatever offset."""
    return {
        replica
        for replica in range(1, c.replicas + 1)
        for offset in range(s.replica_log[replica].end_offset)
        if s.replica_log[replica].records[offset].id == record
    }


# --- Searches and pages ------------------------------------------------------------------------


def aftermath(name: str) -> None:
    """Print what follows the death of the leader, and whether a promise was broken."""
    walk = play(scenario(name))
    steps = [step.text for step in walk.steps]
    died = steps.index("unstable_replica_dies_when_leader()")
    led = next(k for k, text in enumerate(steps) if k > died and "elect" in text)
    broken = [each.reason for each in walk.standings() if each.by_default and not each.holds]
    print(name)
    print("   until somebody leads:", ", then ".join(steps[died + 1 : led + 1]))
    print("   at the end:          ", *(broken or ["every promise is kept"]))


def beside_tlc(result: Result, **theirs: int) -> None:
    """Print TLC's figures beside those of a search."""
    print(result.verdict)
    for what, tlc in theirs.items():
        print(f"  {what:10} TLC {tlc:>9,}   here {getattr(result, what):>9,}")


def real_kafka(heading: str) -> Markdown:
    """A section of in_real_kafka.md, by how its heading begins. Raises LabError if none is."""
    page = files("kafka_spec").joinpath("in_real_kafka.md").read_text(encoding="utf-8")
    for section in ("\n" + page).replace("\n### ", "\n## ").split("\n## "):
        if section.startswith(heading):
            return Markdown("#### " + section)
    raise LabError(f"in_real_kafka.md has no section that begins with {heading!r}.")
