"""The exercise of notebooks/kafka/06_the_last_replica."""

from kafka_spec.kip_966 import spec
from protocol_lab.teaching.exercises import Feedback, against_par, exercise, run, take_steps, wrong

CARELESS = {
    "strict_min_isr": False,
    "data_loss_shutdown_limit": 0,
    "fence_broker_limit": 1,
    "leader_shrink_isr_limit": 1,
}


@exercise(
    hints=[
        "The controller remembers a follower that leaves the ISR as eligible: it takes for granted"
        " that nothing is committed without it. Let the leader commit something alone.",
        "The leader accepts a write as long as it believes that the ISR has two members. So let it"
        " ask for the ISR {1} first (`send_alter_partition_request`), then write, and only then"
        " hear that the controller agrees.",
    ],
    answer="""
        send_alter_partition_request(broker=1, timed_out={2})
        write_record_to_leader(broker=1, value=1)
        receive_alter_partition_request(message=AlterPartitionRequest(source=1), leader=1)
        receive_metadata_update(broker=1, offset=2)
        fence_broker(broker=1, leader=2)
    """,
    why="Broker 2 is in the ELR because the ISR {1} was not to commit anything, and it did. Since"
    " 3.7 the high watermark stands still while the ISR is smaller than `min.insync.replicas`"
    " (KAFKA-15583). The record may still be committed, once the ISR has two members again.",
)
def commit_without_the_eligible(answer) -> Feedback:
    """Make the ELR wrong.

    In this variation there is an ELR, but the high watermark rises while the ISR is smaller than
    min_isr, as it did up to Kafka 3.6. No broker stops and no log is lost; one session may expire,
    and one follower may lag. Write the steps, one a line, after which the controller's leader lacks
    what consumers have read (`leader_completeness_property`). As few as you can: the check computes
    par.
    """
    model = spec.bind(**CARELESS)
    walk = take_steps(model, answer)
    if all(each.holds for each in walk.standings() if each.name == "leader_completeness_property"):
        return wrong("After these steps the leader has all that consumers have read.", walk)
    found = run(model, invariants=["leader_completeness_property"])
    return against_par(len(walk.steps), found, "The leader lacks what consumers have read")
