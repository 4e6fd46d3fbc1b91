"""What the stages of all systems share: acts on processes, producers' answers, and what is kept."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from real_systems.runner.java_gateway import cause_of
from real_systems.runner.processes import BOUND, wait_until
from real_systems.runner.stories import Run


class Stage(AbstractContextManager):
    """A cluster that a story acts on. Use it as a context manager.

    Each act is recorded with what the picture of that moment needs.
    """

    def __init__(self, cluster: Any, run: Run):
        self.cluster, self._run, self.settings = cluster, run, run.settings
        self._away: set[Any] = set()
        self.last_answer = ""

    def __exit__(self, *_: object) -> None:
        self.close_clients()

    def close_clients(self) -> None:
        """Close the connections to clients, whose processes end with the run."""

    def pause(self, *nodes: Any, step: str = "") -> None:
        """Processes stop where they are, and keep their connections: a long pause of the JVM."""
        self.cluster.processes.pause(*map(str, nodes))
        self._away |= {*nodes}
        self.tell(f"{who(nodes)} paused", step=step)

    def resume(self, *nodes: Any, step: str = "") -> None:
        """Paused ones go on."""
        self.cluster.processes.resume(*map(str, nodes))
        self._away -= {*nodes}
        self.tell(f"{who(nodes)} resumed", step=step)

    def stop(self, *nodes: Any, step: str = "") -> None:
        """Nodes are shut down cleanly."""
        self.cluster.processes.stop(*map(str, nodes))
        self._away |= {*nodes}
        self.tell(f"{who(nodes)} stopped cleanly", step=step)

    def kill(self, *nodes: Any, step: str = "") -> None:
        """Processes die; what a node had written to its disk stays."""
        self.cluster.processes.kill(*map(str, nodes))
        self._away |= {*nodes}
        self.tell(f"{who(nodes)} killed", step=step)

    def fact(self, name: str, value: object) -> None:
        """Keep something else that the story is about."""
        self._run.outcome.facts[name] = str(value)

    def tell(self, text: str, answer: str = "", step: str = "") -> None:
        """Record an act."""
        self._run.act(text, answer, self._seen(), step)

    def _seen(self) -> dict[str, Any]:
        """What the picture of this moment needs; empty before there is one."""
        return {}

    def _answered(
        self,
        value: str,
        sent: Any,
        place: Callable[[Any], str],
        is_promised: bool = True,
        seconds: float = BOUND,
    ) -> str:
        """Wait for the answer to a value that was sent, and keep it: where it is, or the error.

        is_promised: does an acknowledgement promise that the value is safe?
        """
        said, found = self._answer_of(sent, f"the producer of {value} is answered", seconds)
        outcome = self._run.outcome
        if said != "ok":
            self.last_answer = said
            outcome.failed.append(value)
            return f"failed: {said}"
        self.last_answer = "acknowledged"
        if is_promised:
            outcome.acknowledged.append(value)
        return f"acknowledged {place(found)}"

    @staticmethod
    def _answer_of(
        future: Any, what: str = "a client is answered", seconds: float = BOUND
    ) -> tuple[str, Any]:
        """The class of the error, and None; or "ok", and what came. Raises DidNotHappen."""
        wait_until(future.isDone, what, seconds, 0.05)
        try:
            return "ok", future.get()
        except Exception as error:  # py4j's own for anything that Java throws
            return cause_of(error)[0], None


def names(nodes: Iterable[Any]) -> str:
    """Nodes as a text."""
    return ", ".join(map(str, nodes))


def who(nodes: Iterable[Any]) -> str:
    """Nodes as the subject of a sentence."""
    nodes = tuple(nodes)
    return f"{names(nodes)} {'is' if len(nodes) == 1 else 'are'}"


def copies_text(copies: dict[Any, list[str]]) -> str:
    """What each node has, those with nothing left out."""
    return "; ".join(f"{name}: {' '.join(values)}" for name, values in copies.items() if values)
