"""Helpers of the Kafka notebooks, no exercises: who lacks a record, what refuses, frames."""

from importlib.resources import files

from IPython.display import HTML, Markdown

from kafka_spec.model import Constants, State
from protocol_lab.checker.result import Result
from protocol_lab.drawing.pictures import caption, image_html, picture_strip
from protocol_lab.errors import LabError
from protocol_lab.model.step_text import find_step
from protocol_lab.notebook import diagram, scenario
from protocol_lab.traces.scenarios import bound_model, play
from protocol_lab.traces.walk import Moment, Walk

# --- Walks -----------------------------------------------------------------------------------


def at_slide(name: str, slide: int) -> Walk:
    """The walk of a scenario, standing after the last step of a slide."""
    walk = play(scenario(name))
    steps = [line for line in scenario(name).lines if line.kind == "step"]
    walk.go_to(1 + sum(int(line.slide) <= slide for line in steps))
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
        str(diagram(walk).data)
        + pictures(walk.path[-frames:], 1)
        + f"<details><summary>All {len(walk.steps)} steps as pictures</summary>"
        + pictures(walk.path, 2)
        + "</details>"
    )


def go_on(name: str, steps: str, **constants: int) -> Walk:
    """The walk of a scenario in a model with other constants, and some more steps, one a line.

    A line that begins with # is the caption of the step after it.
    """
    story = scenario(name)
    walk = Walk.begin(bound_model(story.spec_name, {**story.constants, **constants}))
    for line in story.lines:
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


IN_KIP_320 = {
    **dict.fromkeys(
        (
            "become_follower",
            "become_follower_truncate_to_high_watermark",
            "become_follower_truncate_kip_101",
            "become_follower_truncate_kip_279",
        ),
        "fenced_become_follower_and_truncate",
    ),
    **dict.fromkeys(("follower_replicate", "follower_fetch"), "fenced_follower_fetch"),
    **dict.fromkeys(
        ("leader_inc_high_watermark", "improved_leader_inc_high_watermark"),
        "fenced_leader_inc_high_watermark",
    ),
    **dict.fromkeys(
        ("leader_expand_isr", "leader_expand_isr_better_fencing"), "fenced_leader_expand_isr"
    ),
    **dict.fromkeys(
        ("leader_shrink_isr", "leader_shrink_isr_better_fencing"), "fenced_leader_shrink_isr"
    ),
}
"""For each action of the older truncation variants that KIP-320 replaces, the one in its place."""


def stop_at(name: str) -> tuple[Walk, str, str]:
    """Take the steps of an older variant's scenario under KIP-320, up to the first refused one.

    Returns the walk before that step, the step, and the reason. Raises LabError if none is refused.
    """
    story = scenario(name)
    constants = {each: text for each, text in story.constants.items() if each != "same_leader"}
    walk = Walk.begin(bound_model("kafka.kip_320", constants))
    for line in story.lines:
        if line.kind != "step":
            continue
        action, _, given = line.text.partition("(")
        step = f"{IN_KIP_320.get(action, action)}({given}"
        if reason := find_step(walk.model, walk.row, step).reason:
            return walk, step, reason
        walk.take(step, line.caption)
    raise LabError(f"KIP-320 refuses no step of {name}.")


def where_refused(name: str, end: bool = False) -> HTML:
    """The first state of a scenario in which a step is refused, with the reason; end: and the last.

    Raises LabError if no step of it is said to be refused.
    """
    walk = play(scenario(name))
    moments = [each for each in walk.path if "✗" in each.caption][:1]
    if not moments:
        raise LabError(f"In {name} no step is said to be refused.")
    moments += walk.path[-1:] if end else []
    words = "; ".join(caption(walk.model, each) for each in moments)
    return HTML(image_html(picture_strip(walk, 1, moments), words))


def end_of(found: Result) -> State:
    """The last state of the counterexample of a search. Raises LabError if there is none."""
    if not found.violated:
        raise LabError("This search has found no counterexample.")
    walk = Walk.along(found)
    walk.last()
    return walk.state


# --- States of the truncation variants ---------------------------------------------------------


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
