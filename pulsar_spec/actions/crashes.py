"""The broker crashes, and another one takes over."""

from protocol_lab import TAKEN
from pulsar_spec.actions.compactor import forget_phase_one
from pulsar_spec.model import Constants, State


def take_over(s) -> None:
    """Another broker serves the topic. It knows what the cursor says, and nothing else."""
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context


def broker_crash(s: State, c: Constants):
    """The broker crashes, and the compactor with it; another broker reads the cursor from disk."""
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    take_over(s)
    return TAKEN
