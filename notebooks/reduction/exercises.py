"""The exercise of reduction/01_same_answer_fewer_states: which replicas are alike?"""

from collections.abc import Callable
from dataclasses import replace

from kafka_spec.async_isr import Replica, spec
from protocol_lab import LabError, nodes_up_to, without_node
from protocol_lab.explore import explore
from protocol_lab.model.spec import Spec
from protocol_lab.teaching.exercises import Feedback, exercise, right, wrong

LEADERS = (1, 3)


def alike_but_for_the_leader(c) -> int:
    return without_node(nodes_up_to(c.replicas), c.leader)


@exercise(
    hints=[
        "The constant `leader` names one replica, for ever. Rename it, and the constant is wrong.",
        "`nodes_up_to(c.replicas)` is the set of all replicas; `without_node(nodes, node)` takes"
        " one out of a set.",
    ],
    answer=alike_but_for_the_leader,
    why="Nodes are alike only if nothing tells them apart: no action, no property, and no constant"
    " either. TLA+ has model values for this: a constant that is one of them breaks the symmetry of"
    " their set, and TLC does not notice.",
)
def which_are_alike(answer: Callable[..., int]) -> Feedback:
    """Who may change places in AsyncIsr?

    One replica leads for ever: the constant `leader`. Write a function of the constants that gives
    the bitmask of the replicas that are alike, as many as there are.
    """
    if not callable(answer):
        return wrong("Write a function of the constants: def alike(c): return ...")
    counts = {}
    for leader in LEADERS:
        for name, among in (("yours", answer), ("ours", alike_but_for_the_leader)):
            model = declared(among).bind(leader=leader, max_leader_offset=1, max_version=2)
            try:
                found = explore(model, invariants=[], symmetry=True)
            except LabError as error:
                return wrong(f"With leader={leader}: {error}")
            counts[leader, name] = found.distinct
    if any(counts[leader, "yours"] > counts[leader, "ours"] for leader in LEADERS):
        return wrong(
            "This is sound, but more replicas are alike: your search counts"
            f" {counts[1, 'yours']:,} states with leader=1, and {counts[1, 'ours']:,} are enough."
        )
    return right(f"{counts[1, 'yours']:,} states stand for all, whoever leads.")


def declared(among: Callable[..., int]) -> Spec:
    """AsyncIsr with these replicas declared symmetric."""
    changed = replace(spec, symmetries=[])
    changed.symmetric(Replica, among=among)
    return changed
