"""Reads whatever a learner gives: one reader for files, notebooks, and what is pasted.

It tells the formats apart by their contents: a scenario, a link (also in our own
ITF), and the traces of other tools, as text (`tlc_output`) or in ITF (`itf_traces`).
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError, shortened
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.itf_traces import trace_of
from protocol_lab.interchange.tlc_output import PrintedTrace, is_tlc_output, parse_output
from protocol_lab.interchange.tlc_traces import walk_along
from protocol_lab.model.spec import Model
from protocol_lab.traces.scenarios import Scenario, parse_scenario, play, text_of_file
from protocol_lab.traces.text_exports import is_link, linked_scenario, to_itf
from protocol_lab.traces.walk import Walk

_FENCE = re.compile(r"\A```\w*\n|\n```\Z")
"""Marks that chats put around code."""

_SCENARIO = "# spec:"


def read_pasted(
    text: str, model: Model | None = None, effort: Effort | None = None
) -> Walk | Scenario:
    """The walk that the text stands for, at its end; a scenario, or a challenge's link, is parsed
    but not yet played.

    `model` is the one being looked at: a spec that is in no package is taken from it, as in
    `play(scenario, model)`. Each kind of text has its own constants, except a trace of another
    tool, which is first tried with the model's. effort: bounds the search for the steps of such a
    trace. Raises LabError with one sentence.
    """
    return _read(text, model, False, effort)


def read_file(
    path: str | Path, model: Model | None = None, effort: Effort | None = None
) -> Walk | Scenario:
    """The same for a file; `model` is one of the spec that it must be about.

    Raises LabError, also if the file is about another spec.
    """
    text = text_of_file(path)
    try:
        found = _read(text, model, model is not None, effort, Path(path))
    except _NoTrace as error:
        raise LabError(f"{shortened(Path(path).name)}, line 1: {error}") from None
    if isinstance(found, Scenario):
        found = parse_scenario(text, Path(path).name)
        found = replace(found, name=shortened(Path(path).stem), file=Path(path))
    if model is not None:
        theirs = found.model(model) if isinstance(found, Scenario) else found.model
        if theirs.spec.name != model.spec.name:
            raise LabError(
                f"{shortened(path)} is about {theirs.spec.name}, not about {model.spec.name}."
            )
    return found


def names_no_steps(text: str) -> bool:
    """Is it a trace of states, whose steps have to be found? That may take a while."""
    try:
        return isinstance(_parsed(_unfenced(text)), PrintedTrace)
    except LabError:
        return False


class _NoTrace(LabError):
    """The text is in none of the formats."""


def _read(
    text: str,
    model: Model | None,
    only: bool,
    effort: Effort | None,
    file: Path | None = None,
) -> Walk | Scenario:
    """file: the one with the text, beside which its spec may be."""
    text = _unfenced(text)
    if text.startswith(_SCENARIO):
        return parse_scenario(text, "your scenario")
    found = _parsed(text)
    if isinstance(found, PrintedTrace):
        return walk_along(found, model, only, effort)
    if found is not None:
        link = found if isinstance(found, str) else str(found["#meta"]["link"])
        scenario = replace(linked_scenario(link), file=file)
        if scenario.challenge:
            return scenario
        walk = play(scenario, model)
        if found != link and found != json.loads(to_itf(walk)):
            raise LabError(
                "The states of this JSON are not those to which its link leads: give the link alone"
                " (`link` in its `#meta`), or export the walk again."
            )
        return walk
    raise _NoTrace(
        "This can't be played: give a scenario (its first line is `# spec: NAME`), a link (lab1.…),"
        " all that TLC printed about an error, or a trace in ITF, as this kit, Apalache and Quint"
        " write it."
    )


def _parsed(text: str) -> PrintedTrace | dict[str, Any] | str | None:
    """The trace of another tool, one of this kit, or a text with a link; None for another text."""
    if text.startswith(_SCENARIO):
        return None
    if is_tlc_output(text):
        return parse_output(text)
    if text.startswith(("{", "[")):
        return trace_of(text)
    return text if is_link(text) else None


def _unfenced(text: str) -> str:
    return _FENCE.sub("", text.lstrip("\ufeff").strip())
