"""The story behind docs/runbook_offline_partition.md, which shows the output of its commands."""

from real_systems.kafka.acts import Stage

_LOG = "00000000000000000000.log"


def offline_runbook(kafka: Stage) -> None:
    """A partition is offline after a power cut; an operator reads, and chooses who starts first.

    acks=all, min.insync.replicas=2. 3 is slow, 2 is restarted by its operator, and meanwhile the
    power of 1 fails: it leads alone, and loses what it had not flushed. 2 has all that was
    acknowledged. With first=leader 1 starts before 2, as it would when power is back. No model of
    the kit has an operator who reads logs.
    """
    kafka.create_topic()
    kafka.produce("a")
    kafka.wait_for_copies({1: ["a"], 2: ["a"], 3: ["a"]})
    kafka.pause(3)
    kafka.wait(leader=1, isr=[1, 2])
    kafka.produce("b")
    kafka.wait_for_copies({1: ["a", "b"], 2: ["a", "b"]})
    kafka.stop(2)
    kafka.wait(leader=1, isr=[1])
    kafka.produce("c")
    kafka.fact("the producer of c is told", kafka.last_answer)
    kafka.power_cut(1, keep=1)
    kafka.wait(leader=None)
    kafka.resume(3)
    kafka.wait_for_brokers(3)
    _read(kafka)
    if kafka.settings["first"] == "leader":
        kafka.start(1)
        kafka.wait_for_brokers(1)
        if kafka.state.elr:
            kafka.wait(leader=None, elr=[2])
        else:
            kafka.wait(leader=1)
        _describe(kafka, through=1)
    kafka.start(2)
    kafka.wait_for_brokers(2)
    if kafka.settings["first"] == "follower" and not kafka.state.elr:
        kafka.wait(leader=None)
        _describe(kafka, through=2)
        kafka.run(
            "kafka-leader-election.sh --bootstrap-server broker2:9092 --election-type unclean"
            " --topic t --partition 0"
        )
    kafka.wait(until=lambda state: state.leader is not None)
    if kafka.settings["first"] == "follower":
        kafka.start(1)
    kafka.wait(isr=[1, 2, 3])
    _describe(kafka, through=2)
    _dump(kafka, 1)
    kafka.consume()
    kafka.keep_copies()
    for broker in (1, 2, 3):
        kafka.keep_lines(broker, "since no clean shutdown file|Truncating partition t-0")
    kafka.keep_lines(100, "using an unclean election|handleBrokerUncleanShutdown|using ELR")


def _read(kafka: Stage) -> None:
    """What an operator reads before anything is started."""
    kafka.run("kafka-topics.sh --bootstrap-server broker3:9092 --describe --unavailable-partitions")
    kafka.run("kafka-features.sh --bootstrap-server broker3:9092 describe")
    kafka.run(
        "kafka-dump-log.sh --cluster-metadata-decoder --files"
        f" /kafka/data100/__cluster_metadata-0/{_LOG} | grep PARTITION_"
    )
    for broker in (1, 2):
        kafka.run(f"ls -A /kafka/data{broker} | grep cleanshutdown")
    for broker in (1, 2, 3):
        _dump(kafka, broker)


def _dump(kafka: Stage, broker: int) -> None:
    kafka.run(f"kafka-dump-log.sh --files /kafka/data{broker}/t-0/{_LOG} | grep lastOffset")


def _describe(kafka: Stage, through: int) -> None:
    kafka.run(f"kafka-topics.sh --bootstrap-server broker{through}:9092 --describe --topic t")
