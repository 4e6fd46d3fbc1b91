"""On call in a notebook."""

from protocol_lab.errors import LabError
from protocol_lab.teaching.incident import Incident
from real_systems.kafka.on_call.play import view


def on_call(case: str = "one_power_cut", seed: int = 0) -> Incident:
    """An incident to be played. case: one of `cases.CASES`; seed: 0 is the case's own story, 1 the
    same with brokers 2 and 3 exchanged, others another night. Raises LabError."""
    shown = view(case, seed)
    if "error" in shown:
        raise LabError(shown["error"])
    return Incident(view, case, seed)
