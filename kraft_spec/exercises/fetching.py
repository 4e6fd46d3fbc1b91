"""An exercise of kraft/11_what_can_a_removed_controller_still_do: what is promised."""

from kraft_spec import kip_853
from kraft_spec.actions.replication import holds_value
from kraft_spec.challenges import THREE_SERVERS, TWO_SERVERS
from kraft_spec.constants import Constants
from kraft_spec.model import State
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = kip_853.spec


def acknowledged_means_majority(s: State, c: Constants):
    """Every acknowledged value is in the logs of a majority of the cluster."""
    for value in s.inv_pos_acked:
        count = sum(
            1 for server in range(1, c.init_cluster_size + 1) if holds_value(s, server, value)
        )
        if 2 * count <= c.init_cluster_size:
            return "an acknowledged value is not in a majority's logs"
    return HOLDS


@exercise(
    hints=[
        "`for value in s.inv_pos_acked` goes through the values that were acknowledged. Count for"
        " each how many servers hold it.",
        "With three servers two are a majority, with four three: more than half. Write it without"
        " a division: `2 * count > c.init_cluster_size`.",
    ],
    answer=acknowledged_means_majority,
    why="It is what every election relies on: the winner has asked a majority, and two majorities"
    " share a server. An invariant that nothing breaks is worth little, so the check runs"
    " it on a leader that counts itself without being a voter, too.",
)
def a_majority_has_it(answer) -> Feedback:
    """Say what an acknowledgement promises.

    Write `promise(s, c)`: every acknowledged value is in the logs of more than half of the servers
    1 to `c.init_cluster_size`. `holds_value(s, server, value)` looks into a log. The check compares
    your function with the worked answer in every reachable state of three servers in one epoch,
    and of two with a leader that counts itself though it is not a voter.
    """
    broken = {"max_remove_reconfigs": 1, "removed_leader_counts_itself": True}
    for constants in ({**TWO_SERVERS, **broken}, THREE_SERVERS):
        feedback = same_invariant(
            spec, answer, acknowledged_means_majority, **constants, max_epoch=1
        )
        if not feedback.passed:
            return feedback
    return right(f"{feedback.text} A leader that counts itself wrongly breaks it; yours noticed.")
