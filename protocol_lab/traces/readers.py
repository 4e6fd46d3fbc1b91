"""Reads what a learner pastes: a link, JSON, a scenario, or TLC's output."""

import re

from protocol_lab.errors import LabError
from protocol_lab.spec.spec import Model
from protocol_lab.traces.links import is_link, read_link
from protocol_lab.traces.scenarios import Scenario, parse_scenario
from protocol_lab.traces.text_exports import read_json
from protocol_lab.traces.tlc_output import is_tlc_output
from protocol_lab.traces.tlc_traces import read_tlc_trace, read_tlc_trace_like
from protocol_lab.traces.walk import Walk

_FENCE = re.compile(r"\A```\w*\n|\n```\Z")
"""Marks that chats put around code."""


def read_pasted(text: str, model: Model | None = None) -> Walk | Scenario:
    """The walk that the text stands for, at its end; a scenario is parsed but not yet played.

    `model` is the one being looked at: a spec that is in no package is taken from it, as in
    `play(scenario, model)`. Each kind of text has its own constants, except a trace of TLC, which
    is first tried with the model's. Raises LabError with one sentence.
    """
    text = _FENCE.sub("", text.lstrip("\ufeff").strip())
    if text.startswith("# spec:"):
        return parse_scenario(text, "your scenario")
    if text.startswith("{"):
        return read_json(text, model)
    if is_tlc_output(text):
        return read_tlc_trace(text) if model is None else read_tlc_trace_like(text, model)
    if is_link(text):
        return read_link(text, model)
    raise LabError(
        "This can't be played: paste a scenario (its first line is `# spec: NAME`),"
        " a link (lab1.…), an exported JSON, or all that TLC printed about an error."
    )
