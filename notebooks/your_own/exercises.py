"""The exercises of your_own/01_primary_backup: each looks at the spec of the notebook's cells."""

from protocol_lab import TAKEN, Node, NodeSet, Range, Spec, add, with_node, without_node
from protocol_lab.checker.result import Result
from protocol_lab.teaching.exercises import Feedback, exercise, right, run, wrong

Server = Node("servers")


def backups(s, c) -> NodeSet(Server):
    """All who are alive, but for the primary."""
    return without_node(s.alive, s.primary)


def acknowledge(s, c, offset: Range(0, "writes - 1")):
    """The primary tells the client that a value is safe: every backup that is alive has it."""
    log = s.log[s.primary]
    if s.primary not in s.alive:
        return "the primary is down"
    if offset >= len(log):
        return "the primary has nothing at that offset"
    if log[offset] in s.acknowledged:
        return "the client knows already"
    if not all(log[offset] in s.log[backup] for backup in backups(s, c)):
        return "a backup that is alive lacks it"
    add(s.acknowledged, log[offset])
    return TAKEN


@exercise(
    hints=[
        "Who may be the next primary? What must all of these have?",
        "`any(...)` over the backups became true too early. There is also `all(...)`.",
    ],
    answer=acknowledge,
    why="Whoever is alive may take over, so everybody who is alive must have the value. Those who"
    " are down don't count, or one crash would stop the service for ever. Waiting for all, and"
    " dropping from this *all* whoever fails, is what Kafka calls the in-sync replicas.",
)
def answer_when_it_is_safe(answer) -> Feedback:
    """Answer when it is safe, and do answer.

    Change the last guard of `acknowledge`, and give the spec: `check(spec)`. The check explores two
    and three servers with one and two writes. No acknowledged value may be lost, and the client
    must still get an answer after somebody took over.
    """
    counts = []
    for servers, writes in ((2, 1), (3, 1), (3, 2)):
        found, feedback = _explored(answer, servers, writes)
        if feedback:
            return feedback
        counts.append(f"{found.distinct:,} with servers={servers} writes={writes}")
    return right(f"It holds in all states: {', '.join(counts)}.")


def restart(s, c, server: Server):
    """A server is back, once it has copied what the primary has."""
    if server in s.alive:
        return "the server is alive"
    if server != s.primary and s.primary not in s.alive:
        return "there is no primary to copy from"
    s.log[server] = s.log[s.primary]
    s.alive = with_node(s.alive, server)
    return TAKEN


@exercise(
    hints=[
        "Replay the loss: what did the server that took over not have, and when did it miss it?",
        "A log can be copied whole, `s.log[server] = s.log[s.primary]`. From whom, if the primary"
        " is down? And what if it is the primary itself that comes back?",
    ],
    answer=restart,
    why="A server that was away has missed writes that were acknowledged without it. So it must"
    " have caught up before it counts as alive. Kafka lets a replica back into the ISR only when it"
    " has reached the high watermark.",
)
def come_back_safely(answer) -> Feedback:
    """Let a server come back, safely.

    Change `restart`, and give the spec: `check(spec)`. No acknowledged value may be lost, and
    everybody must be able to be alive again after somebody took over.
    """
    found, feedback = _explored(answer, 3, 1)
    if feedback:
        return feedback
    if "restart" not in found.per_action:
        return wrong("The spec has no action `restart`; run the cell that declares it.")
    more, feedback = _explored(answer, 3, 2)
    return feedback or right(
        f"It holds in all {found.distinct:,} states with one write, and in all {more.distinct:,}"
        " with two."
    )


def _explored(spec, servers: int, writes: int) -> tuple[Result | None, Feedback | None]:
    """The exploration, and what is wrong with it if something is."""
    if not isinstance(spec, Spec):
        return None, wrong("Give the spec itself: check(spec).")
    found = run(spec.bind(servers=servers, writes=writes))
    size = f"servers={servers} writes={writes}"
    if found.violated:
        return found, wrong(
            f"With {size} {found.violated} breaks: {found.violation_reason}.", found
        )
    if not found.exhaustive:
        return found, wrong(f"With {size} it is undecided: {found.undecided_reason}.")
    if found.never_reached:
        missing = ", ".join(found.never_reached)
        return found, wrong(f"With {size} nothing is lost, but this is never reached: {missing}.")
    return found, None
