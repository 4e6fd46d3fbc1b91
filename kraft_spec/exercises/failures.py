"""The exercise of notebooks/kraft/12_how_many_controllers_may_fail: how many disks may be lost?"""

from kraft_spec import kip_853
from protocol_lab.teaching.exercises import Feedback, exercise, right, run, wrong

spec = kip_853.spec


def losing(servers: int, disks: int):
    """So many servers in one epoch, of which so many may lose their disks."""
    model = spec.bind(
        init_cluster_size=servers,
        min_cluster_size=1,
        max_cluster_size=servers,
        hosts=servers,
        max_spawned_servers=servers,
        max_epoch=1,
        max_crashes=disks,
        max_disconnected_pairs=servers * (servers - 1) // 2,
        single_voter_commit_fixed=True,  # as in Kafka
    )
    return run(model, invariants=["acked_value_not_lost"])


@exercise(
    hints=[
        "An acknowledged value is in the logs of a majority, and perhaps of nobody else.",
        "So all of a smallest majority must go. How large is that with two servers?",
    ],
    answer={1: 1, 2: 2, 3: 2},
    why="As many as a majority has servers: all of some majority must go.",
)
def how_many_disks(answer) -> Feedback:
    """How many disks?

    Write a dict: for clusters of 1, 2 and 3 servers the smallest number of servers that have to
    lose their disks, so that an acknowledged value can be lost. The check explores each with that
    number, and with one fewer.
    """
    if not isinstance(answer, dict) or set(answer) != {1, 2, 3}:
        return wrong("Write a dict with the keys 1, 2 and 3.")
    if not all(isinstance(each, int) and 1 <= each <= 9 for each in answer.values()):
        return wrong("The values are numbers from 1 on.")
    steps = {}
    for servers, disks in answer.items():
        found = losing(servers, disks)
        if not found.violated:
            return wrong(f"Cluster size {servers}, lost disks {disks}: no value is lost.")
        if disks > 1 and losing(servers, disks - 1).violated:
            return wrong(f"Cluster size {servers}: one lost disk fewer is enough.")
        steps[servers] = len(found.trace)
    shown = ", ".join(f"{count} with {servers}" for servers, count in steps.items())
    return right(f"Steps of the shortest counterexample: {shown} servers.")
