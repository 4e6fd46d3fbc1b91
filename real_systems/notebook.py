"""What notebooks import: the runs of real systems that travel with the kit, what settings promise,
and an incident to be played."""

from typing import TYPE_CHECKING, Any

from protocol_lab.errors import LabError
from real_systems.kafka.cluster_settings import read, row_of
from real_systems.promise_table import Report
from real_systems.promise_table import promise as report_of
from real_systems.runner.stories import run, story_of
from real_systems.runner.story_views import StoryRun, recorded_run

if TYPE_CHECKING:
    from protocol_lab.teaching.incident import Incident


def real(name: str, release: str = "", live: bool = False, **settings: str) -> StoryRun:
    """A lesson's story as real processes acted it out: the run that travels with the kit.

    release: of the system, by default the last that the story has a case of. live: run it here and
    now instead, which takes a minute or two; its acts are printed as they happen. settings: those
    that `lab.py real` lists. Raises LabError, and DidNotHappen if a live run did not come about.
    """
    story = story_of(name)
    release = release or story.latest
    if live:
        return StoryRun(story, run(story, release, settings, print, print), is_live=True)
    return recorded_run(story, release, settings)


def promise(faults: str = "", **settings: Any) -> Report:
    """What these settings promise, by `lab.py promise`: release, replicas, min_isr, acks, unclean,
    elr, racks; what is not said is Kafka's default.

    faults: these instead of the usual rows, as in "kills=1,power_cuts=1". Raises LabError.
    """
    texts = {name: str(value).lower() for name, value in settings.items()}
    return report_of(read([], **texts), (row_of(faults),) if faults else ())


def on_call(case: str = "one_power_cut", seed: int = 0) -> "Incident":
    """An incident to be played. case: one of `kafka.on_call.cases.CASES`; seed: 0 is the case's own
    story, 1 the same with brokers 2 and 3 exchanged, others another night. Raises LabError."""
    from protocol_lab.teaching.incident import Incident  # a page lacks Jupyter's packages
    from real_systems.kafka.on_call.play import view

    shown = view(case, seed)
    if "error" in shown:
        raise LabError(shown["error"])
    return Incident(view, case, seed)
