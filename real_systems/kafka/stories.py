"""The stories that real Kafka acts out, in the lessons' words."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from real_systems.kafka.acts import QuorumStage, Stage
from real_systems.kafka.kraft import KRaftCluster, Quorum
from real_systems.kafka.offline_runbook import offline_runbook
from real_systems.kafka.picture import describe, describe_quorum, is_quorum_turn, is_turn
from real_systems.kafka.zookeeper import ZooKeeperCluster
from real_systems.runner.stories import Run, Staging, Story


def kraft_stage(**given: Any) -> Staging:
    """On a cluster under KRaft of this shape; the setting `elr` is taken from the story's. Raises
    TypeError for what is no part of a shape."""
    signature(KRaftCluster).bind(None, **given)

    def make(run: Run) -> Stage:
        elr = {"on": True, "off": False}.get(run.settings.get("elr", ""))
        return Stage(KRaftCluster(run, elr=elr, **given), run)

    return Staging(make, describe, is_turn)


def zookeeper_stage(**given: Any) -> Staging:
    """On a cluster of this shape under ZooKeeper. Raises TypeError."""
    signature(ZooKeeperCluster).bind(None, **given)

    def make(run: Run) -> Stage:
        return Stage(ZooKeeperCluster(run, **given), run)

    return Staging(make, describe, is_turn)


def upgrade_stage(run: Run) -> Stage:
    """A cluster whose disks were formatted for 4.0, with min.insync.replicas in these files."""
    two = {"min.insync.replicas": 2}
    nodes = {"all": two} if run.settings["files"] == "all" else dict.fromkeys((1, 2, 3), two)
    return Stage(KRaftCluster(run, settings=nodes, features_of="4.0"), run)


def quorum_stage(run: Run) -> QuorumStage:
    """Three controllers, whose voters are listed in every node's file or can change; one broker."""
    cluster = KRaftCluster(
        run,
        brokers=(1,),
        controllers=(101, 102, 103),
        can_change_voters=run.settings["voters"] != "listed",
        settings={"all": {"auto.create.topics.enable": "false"}},
    )
    return QuorumStage(cluster, run)


# --- Truncation to the high watermark (KIP-101) --------------------------------------------------


def two_quick_changes(kafka: Stage) -> None:
    """A leader is paused while leadership moves away and back; then it dies.

    acks=all, min.insync.replicas=2, unclean elections off. 2 has `b`, but has not heard yet that it
    is committed: a follower learns the high watermark by its next fetch, which waits at 1.
    """
    kafka.create_topic([1, 2])
    kafka.produce("a", to=[1])
    kafka.produce("b", to=[1], step="leader_write(replica=1)")
    kafka.wait_for_copies(
        {1: ["a", "b"], 2: ["a", "b"]}, step="follower_replicate(follower=2, leader=1)"
    )
    kafka.pause(1)
    kafka.prefer([2, 1], through=2, step="controller_elect_leader(new_leader=2)")
    kafka.prefer([1, 2], through=2, step="controller_elect_leader(new_leader=1)")
    kafka.kill(1)
    kafka.wait(leader=2)
    kafka.consume(through=[2])
    kafka.produce("c", to=[2], acks="1")
    kafka.start(1)
    kafka.wait(isr=[1, 2])
    kafka.consume()
    kafka.keep_copies()
    kafka.keep_lines(2, r"[Tt]runcat|skipped the become-follower|FATAL")


# --- Logs that diverge (KIP-279) -----------------------------------------------------------------


def fast_failover(kafka: Stage) -> None:
    """Leadership goes to 2 and back while 1 is paused, and two logs differ at one offset for good.

    1 has `x`, which 2 has not copied; 2 leads, writes `y` at the same offset, and dies. 1 leads
    again without having followed. 2 comes back and asks where its last epoch ends at 1, which has
    never heard of that epoch: before KIP-279 the answer tells it to keep `y`. No scenario of the
    kit has this: those of kafka.kip_101 lose a record in fewer steps.
    """
    kafka.create_topic([1, 2])
    kafka.produce("a", to=[1])
    kafka.wait_for_copies({1: ["a"], 2: ["a"]})
    kafka.pause(2)
    kafka.sleep(_FETCH)
    kafka.produce("x", to=[1], acks="1")
    kafka.pause(1)
    kafka.resume(2)
    kafka.prefer([2, 1], through=2)
    kafka.produce("y", to=[2], acks="1")
    kafka.kill(2)
    kafka.wait(leader=1, isr=[1])
    kafka.resume(1)
    kafka.wait_for_line(1, "t-0 starts at Leader Epoch 3")
    kafka.produce("z", to=[1], acks="1")
    kafka.wait_for_copies({1: ["a", "x", "z"], 2: ["a", "y"]})
    kafka.start(2)
    kafka.wait(isr=[1, 2])
    kafka.fact("read from 1", " ".join(kafka.consume()))
    kafka.stop(1)
    kafka.wait(leader=2)
    kafka.fact("read from 2", " ".join(kafka.consume(through=[2])))
    kafka.keep_copies()
    kafka.keep_lines(2, r"[Tt]runcat")


# --- A fetch in an old epoch (KIP-320) -----------------------------------------------------------


def stale_follower(kafka: Stage) -> None:
    """A follower that hears late counts as in sync, then obeys an old decision, and is elected.

    The controller is 4. What it says to 3 is late, and so is what it says to 2: 1 leads again, 3
    still follows 1 in an old epoch, 2 still leads in the one between. Before KIP-320 nobody
    compares epochs when 3 fetches: `b` is acknowledged because of 3, which then hears that 2 leads
    and drops it. Then 1 dies, and 3 is elected cleanly.
    """
    kafka.create_topic()
    kafka.produce("a", to=[1])
    kafka.wait_for_copies({1: ["a"], 2: ["a"], 3: ["a"]})
    kafka.reorder([2, 1, 3])
    kafka.sleep(_FETCH)
    kafka.hold(3)
    kafka.elect_preferred(2, through=1, step="controller_elect_leader(new_leader=2)")
    kafka.wait_for_line(2, "t-0 starts at Leader Epoch 2")
    kafka.hold(2)
    kafka.prefer([1, 2, 3], through=1, step="controller_elect_leader(new_leader=1)")
    kafka.wait(leader=1, until=lambda state: 2 not in state.isr)
    is_acknowledged = kafka.produce("b", to=[1], step="leader_write(replica=1)")
    kafka.fact("b is acknowledged", "yes" if is_acknowledged else "no")
    kafka.deliver_one(
        3,
        step="become_follower_truncate_kip_279(follower=3,"
        " request=LeaderAndIsrRequest(leader_epoch=1))",
    )
    if is_acknowledged:
        kafka.wait_for_copies({1: ["a", "b"], 2: ["a"], 3: ["a"]})
        kafka.kill(1)
        kafka.wait(leader=3)
    kafka.release(2, 3)
    if is_acknowledged:
        kafka.wait(leader=3, isr=[2, 3])
        kafka.consume(through=[3])
        kafka.start(1)
    kafka.wait(isr=[1, 2, 3])
    kafka.consume(through=[3])
    kafka.keep_copies()
    kafka.keep_lines(3, r"[Tt]runcat|FENCED_LEADER_EPOCH|FATAL")


# --- The last replica (KIP-966) ------------------------------------------------------------------


def last_replica(kafka: Stage) -> None:
    """One power cut, and an acknowledged record is gone from all replicas; with ELR it is kept.

    Unclean elections are off, min.insync.replicas is 2, and nobody does anything wrong: 3 is slow,
    2 is restarted by its operator, and the power of 1 fails once. In the model's run it is broker 2
    that loses its log, and broker 1 that follows it.
    """
    _until_one_is_left(kafka)
    kafka.stop(2, step=_FENCED)
    kafka.wait(leader=1, isr=[1])
    kafka.power_cut(1, keep=1, step=_LOST)
    kafka.wait(leader=None)
    kafka.start(1, step=_STARTED)
    if kafka.state.elr:
        kafka.wait(elr=[2])
    else:
        kafka.wait(leader=1)
    _all_return(kafka)


def two_power_cuts(kafka: Stage) -> None:
    """ELR, and two unclean restarts: the last known leader is elected, and its log is short.

    As `last_replica`, but 2 is killed instead of stopped, so that it has no file that says that its
    log is complete. Its disk has the record all the same. In the model's run it is broker 2 that
    loses its log.
    """
    _until_one_is_left(kafka)
    kafka.kill(2, step="no_data_loss_shutdown(broker=1, shutdown=unclean, leader=2)")
    kafka.wait(leader=1, isr=[1], elr=[2])
    kafka.power_cut(1, keep=1, step=_LOST)
    kafka.wait(leader=None)
    kafka.start(1, step=_STARTED)
    kafka.wait(elr=[2])
    _all_return(kafka, step="broker_start(broker=1)")


def fenced_elr(kafka: Stage) -> None:
    """ELR with unclean elections on: a replica outside the ELR leads while its members only pause.

    1 and 2 have the record: 2 was stopped cleanly, 1 is paused. 3, which lacks it, comes back. In
    the model's run it is broker 2 that is left in the ISR.
    """
    _until_one_is_left(kafka, unclean=True)
    kafka.stop(2, step=_FENCED)
    kafka.wait(leader=1, isr=[1], elr=[2])
    kafka.pause(1, step="fence_broker(broker=2, leader=0)")
    kafka.wait(leader=None)
    kafka.resume(3, step="unfence_broker(broker=3, leader=3)")
    kafka.wait(leader=3)
    kafka.consume(through=[3])
    kafka.resume(1)
    kafka.start(2)
    kafka.wait(isr=[1, 2, 3])
    kafka.consume()
    kafka.keep_copies()


_FENCED = "fence_broker(broker=1, leader=2)"
_LOST = "data_loss_shutdown(broker=2, leader=0)"
_STARTED = "broker_start(broker=2)"


def _until_one_is_left(kafka: Stage, unclean: bool = False) -> None:
    """`a` is on all replicas, and `b`, which is acknowledged as well, on 1 and 2."""
    kafka.create_topic(unclean=unclean)
    kafka.produce("a")
    kafka.wait_for_copies({1: ["a"], 2: ["a"], 3: ["a"]})
    kafka.pause(3)
    kafka.wait(leader=1, isr=[1, 2])
    kafka.produce("b", step="write_record_to_leader(broker=1, value=1)")
    kafka.wait_for_copies(
        {1: ["a", "b"], 2: ["a", "b"]}, step="receive_fetch_response(message=FetchResponse(dest=2))"
    )


def _all_return(kafka: Stage, step: str = "") -> None:
    kafka.start(2, step=step)
    kafka.wait(until=lambda state: state.leader is not None and 2 in state.isr)
    kafka.resume(3)
    kafka.wait(isr=[1, 2, 3])
    kafka.consume()
    kafka.keep_copies()


def empty_disk(kafka: Stage) -> None:
    """The last replica's disk is replaced: without ELR an empty log leads, and all else follows it.

    As `last_replica`, but 1 loses its disk instead of what was not flushed. It is formatted again,
    as the documentation says, and started under its old number. Since 3.7 the partition knows the
    disk that it was on, so that 1 does not lead at once, but when preferred leaders are elected
    next: by default every five minutes, here every 20 s. In the model's run it is broker 2 that
    loses its log; it leads at once.
    """
    _until_one_is_left(kafka)
    kafka.stop(2, step=_FENCED)
    kafka.wait(leader=1, isr=[1])
    kafka.kill(1)
    kafka.wait(leader=None)
    kafka.replace_disk(1, step=_LOST)
    kafka.start(1, step=_STARTED)
    kafka.wait_for_brokers(1)
    if kafka.state.elr:
        kafka.wait(elr=[2])
    else:
        kafka.sleep(_FETCH)
        at_once = kafka.wait().leader == 1
        kafka.wait(leader=1)
        kafka.fact("1 leads", "at once" if at_once else "when preferred leaders are elected next")
    _all_return(kafka)


# --- The talk ------------------------------------------------------------------------------------


def offline_partition(kafka: Stage) -> None:
    """Slides 17 to 31: no in-sync replica is left, and an unclean election takes the first alive.

    2 is slow and lacks `b`; 3 is slow later and has it. 2 stands before 3 in the list of replicas.
    With way_out=wait the operator starts 1 again instead, as slide 15 does.
    """
    kafka.create_topic()
    kafka.produce("a")
    kafka.wait_for_copies({1: ["a"], 2: ["a"], 3: ["a"]})
    kafka.pause(2, step="become_out_of_sync(replica=2)")
    kafka.wait(leader=1, isr=[1, 3])
    kafka.produce("b", step="produce_message(replica=1, producer=1)")
    kafka.wait_for_copies({1: ["a", "b"], 2: ["a"], 3: ["a", "b"]})
    kafka.pause(3, step="become_out_of_sync(replica=3)")
    kafka.wait(leader=1, isr=[1])
    kafka.produce("c")
    kafka.fact("the producer of c is told", kafka.last_answer)
    kafka.kill(1, step="unstable_replica_dies_when_leader()")
    kafka.wait(leader=None)
    kafka.resume(2, 3)
    kafka.wait_for_brokers(2, 3)
    if kafka.settings["way_out"] == "wait":
        kafka.start(1, step="failed_replica_back()")
        kafka.wait(leader=1)
    elif kafka.state.elr or kafka.state.leader:
        kafka.wait(leader=3)
    else:
        kafka.elect_unclean(through=2, step="unclean_leader_election_choose_first_alive(replica=2)")
    kafka.wait(until=lambda state: state.leader is not None and {2, 3} <= {*state.isr})
    kafka.fact("leader in the end", kafka.state.leader)
    kafka.consume()
    kafka.keep_copies()


def the_talk(kafka: Stage) -> None:
    """Slides 46 to 56: the replica with the latest epoch and as many records lacks a committed one.

    acks=all, min.insync.replicas=2. 1 is paused while 3 and then 1 again are preferred: it hears of
    both changes at once, and leads again without having truncated.
    """
    kafka.create_topic()
    kafka.produce("first")
    kafka.wait_for_copies({1: ["first"], 2: ["first"], 3: ["first"]})
    kafka.pause(2, step="become_out_of_sync(replica=2)")
    kafka.wait(leader=1, isr=[1, 3])
    producer = kafka.producer(to=[1], seconds=150)
    kafka.pause(3)
    kafka.sleep(_FETCH)
    x = producer.send("x")
    kafka.wait_for_copies({1: ["first", "x"], 2: ["first"], 3: ["first"]})
    kafka.tell("x is sent to 1, acks=all", step="produce_message(replica=1, producer=1)")
    kafka.pause(1)
    kafka.resume(2, 3)
    kafka.prefer([3, 1, 2], through=3, step="preferred_leader_election()")
    kafka.produce("y", to=[3], acks="1", step="produce_message(replica=3, producer=2)")
    kafka.wait_for_copies({2: ["first", "y"], 3: ["first", "y"]})
    kafka.prefer([1, 2, 3], through=3, step="preferred_leader_election()")
    kafka.pause(2)
    kafka.resume(1)
    kafka.wait_for_copies({1: ["first", "x"], 2: ["first", "y"], 3: ["first", "x"]})
    kafka.answer(x, step="replicate(replica=3, entries=1)")
    kafka.wait(leader=1, isr=[1, 3])
    kafka.pause(3, step="become_out_of_sync(replica=3)")
    kafka.sleep(_FETCH)
    kafka.produce("z", to=[1], acks="1", step="produce_message(replica=1, producer=1)")
    kafka.wait(leader=1, isr=[1])
    kafka.kill(1, step="unstable_replica_dies_when_leader()")
    kafka.wait(leader=None)
    kafka.resume(2, 3)
    if not kafka.state.elr:
        kafka.elect_unclean(
            through=2, step="unclean_leader_election_choose_latest_offset(replica=2)"
        )
    kafka.wait(until=lambda state: state.leader in (2, 3) and {2, 3} <= {*state.isr})
    kafka.consume(through=[2, 3])
    kafka.keep_copies()
    kafka.keep_lines(3, "below high watermark")


_FETCH = 1.0
"""Seconds after which no fetch of a paused follower waits at the leader any more."""


# --- A follower pauses, one record, acks=all -----------------------------------------------------


def told_failed(kafka: Stage) -> None:
    """A record whose producer is told that it failed is read by consumers all the same.

    acks=all, min.insync.replicas=2, two replicas; 2 pauses, and the ISR shrinks to 1. No model of
    the kit tells a producer that it failed.
    """
    kafka.create_topic([1, 2])
    kafka.produce("a")
    kafka.wait_for_copies({1: ["a"], 2: ["a"]})
    producer = kafka.producer(to=[1], seconds=12)
    kafka.pause(2)
    kafka.sleep(_FETCH)
    kafka.produce("b", by=producer)
    kafka.fact("the producer of b is told", kafka.last_answer)
    kafka.wait(isr=[1])
    kafka.fact("read while 1 is alone", " ".join(kafka.consume(through=[1])))
    kafka.resume(2)
    kafka.wait(isr=[1, 2])
    kafka.fact("read in the end", " ".join(kafka.consume()))
    kafka.keep_copies()


# --- A member of the quorum that was away (KIP-996) ----------------------------------------------


def away_controller(kafka: Stage) -> None:
    """A follower of the controllers' quorum pauses for 6 s, three times.

    Without pre-vote its return deposes a healthy leader, often several times. In the model's run it
    is server 3, whose links are cut.
    """
    first = last = kafka.wait_for_quorum()
    away = next(each for each in first.voters if each != first.leader)
    for _ in range(3):
        kafka.pause(away, step="change_network_connectivity(down={2, 3})")
        kafka.sleep(6)
        kafka.resume(away, step="change_network_connectivity(down={})")
        kafka.sleep(4)
        last = kafka.wait_for_quorum()
    kafka.fact("the leader was deposed", "yes" if last.epoch > first.epoch else "no")


def voters_change(kafka: Stage) -> None:
    """A controller is added to the quorum, a follower is removed, and then the leader itself.

    The leader leads until its own removal is committed, which it does not count for any more; then
    it resigns, and one of the others is elected (KIP-853). In the model's run it is server 1.
    """
    new = kafka.cluster.joining
    kafka.create_topic([1], min_isr=1)
    kafka.produce("a")
    first = kafka.wait_for_quorum(f"{new} has caught up", lambda quorum: quorum.has_caught_up(new))
    _voters(kafka, "added", kafka.add_voter(new), lambda voters: new in voters)
    follower = next(each for each in first.voters if each != first.leader)
    kafka.produce("b")
    _voters(kafka, "removed", kafka.remove_voter(follower), lambda voters: follower not in voters)
    kafka.produce("c")
    before = kafka.wait_for_quorum()
    leader = before.leader
    answer = kafka.remove_voter(
        leader, step="accept_remove_voter_request(server=1, remove_server=1)"
    )
    after = _voters(kafka, "removed while it leads", answer, lambda voters: leader not in voters)
    if after.leader == leader:
        after = kafka.wait_for_quorum(f"{leader} resigns", lambda quorum: quorum.leader != leader)
    kafka.fact("another leads", "yes" if after.epoch > before.epoch else "no")
    kafka.produce("d")
    kafka.consume()
    kafka.keep_copies()
    for node in kafka.cluster.controllers:
        kafka.keep_lines(node, "resign from epoch")


def _voters(
    kafka: Stage, what: str, answer: str, until: Callable[[tuple[int, ...]], bool]
) -> Quorum:
    """What came of a change of the voters, once the leader describes it."""
    quorum = kafka.wait_for_quorum(what, lambda quorum: until(quorum.voters))
    kafka.fact(what, answer)
    kafka.fact(f"voters, a controller {what}", len(quorum.voters))
    return quorum


# --- A controller with an empty disk (KIP-853) ---------------------------------------------------


def empty_controller(kafka: QuorumStage) -> None:
    """A controller comes back with an empty disk: its vote makes a leader that lacks a topic.

    That is so if a voter is a number in every node's file. Where a voter is a number and a disk, it
    has no vote, and the topic is kept (scenario empty_server_is_another); unless its disk is
    formatted with the directory ids of the first voters again. The model's servers 1, 2 and 3 are
    the leader, the one whose disk is replaced, and the one that lacks the topic. In the model
    server 1 stays; here it is away, or the one that lacks the topic would fetch it.
    """
    first = kafka.wait_for_quorum("all controllers fetch", lambda quorum: quorum.all_fetch)
    old = first.leader
    emptied, behind = (each for each in first.voters if each != old)
    kafka.read_decisions_of(old)
    kafka.stop(behind)
    kafka.create_topic([1], min_isr=1, step="client_request(server=1, value=1)")
    kafka.produce("a")
    kafka.kill(emptied, step="crash_lose_state(server=2)")
    kafka.kill(old)
    kafka.replace_disk(emptied, as_before=kafka.settings["voters"] != "dynamic")
    kafka.start(behind)
    kafka.start(emptied, step="restart_without_state(server=2)")
    if kafka.settings["voters"] == "dynamic" and not kafka.has_leader_within(_NO_LEADER):
        kafka.fact("without the old leader", "nobody leads")
        kafka.start(old)
        kafka.wait_for_quorum()
        _voter_again(kafka, emptied)
    else:
        quorum = kafka.wait_for_quorum(step="become_leader(server=3)")
        lacks = "the one that lacks the topic leads"
        kafka.fact("without the old leader", lacks if quorum.leader == behind else "another leads")
        kafka.read_decisions_of(behind)
        kafka.fact("the broker", "ends" if kafka.ends_within(1, seconds=30) else "runs on")
        kafka.start(old)
        kafka.wait_for_quorum("the old leader fetches", lambda quorum: quorum.all_fetch)
        kafka.keep_lines(old, "Truncated to offset")
        if kafka.cluster.processes.has_ended("1"):
            kafka.start(1)
    is_there = "t" in kafka.topics()
    kafka.fact("the topic in the end", "there" if is_there else "gone")
    if is_there:
        kafka.consume()
    kafka.keep_lines(1, "below the current high watermark|marked stray")
    kafka.keep_copies()


def _voter_again(kafka: Stage, controller: int) -> None:
    """An operator makes a controller with a new disk a voter: the old identity goes first."""
    kafka.wait_for_quorum("the new disk has caught up", lambda quorum: quorum.all_fetch)
    kafka.fact("added while the old disk's id is a voter", kafka.add_voter(controller))
    kafka.fact("the old disk's id removed", kafka.remove_voter(controller))
    kafka.wait_for_quorum("it is no voter", lambda quorum: controller not in quorum.voters)
    kafka.fact("added then", kafka.add_voter(controller))
    kafka.wait_for_quorum("it is a voter", lambda quorum: controller in quorum.voters)


_NO_LEADER = 20
"""Seconds without a leader, many times what an election takes; then one counts as not elected."""


# --- An upgrade that changes min.insync.replicas -------------------------------------------------


def upgrade(kafka: Stage) -> None:
    """The documented upgrade switches ELR on, and takes min.insync.replicas from the controller.

    The cluster was made with the features of 4.0; `min.insync.replicas=2` stands in the brokers'
    files, or in all files. No model of the kit has files, or an upgrade.
    """
    kafka.create_topic(min_isr=None)
    name = "min.insync.replicas"
    kafka.fact(f"{name} before", kafka.topic_setting(name))
    kafka.upgrade(".".join(kafka.cluster.release.split(".")[:2]))
    kafka.fact(f"{name} after", kafka.topic_setting(name, until=lambda source: "DYNAMIC" in source))
    kafka.fact("a value for broker 1", kafka.set_for_broker(1, name, "3"))


_SLOW = {
    "min.insync.replicas": 2,
    "replica.lag.time.max.ms": 90_000,
    "zookeeper.session.timeout.ms": 60_000,
    "replica.fetch.wait.max.ms": 45_000,
    "replica.socket.timeout.ms": 90_000,
    "request.timeout.ms": 90_000,
    "controller.socket.timeout.ms": 90_000,
}
"""A paused leader stays a member of everything, and a follower's fetch waits at it."""

STORIES = [
    Story(
        last_replica,
        kraft_stage(),
        settings={"elr": ("off", "on")},
        lesson="kafka/01_one_power_cut",
        scenario="kip_966_last_replica_standing",
    ),
    Story(
        empty_disk,
        kraft_stage(settings={"all": {"leader.imbalance.check.interval.seconds": 20}}),
        settings={"elr": ("off", "on")},
        lesson="kafka/01_one_power_cut",
        scenario="kip_966_last_replica_standing",
    ),
    Story(
        two_power_cuts,
        kraft_stage(),
        settings={"elr": ("on",)},
        lesson="kafka/18_what_does_elr_still_lose",
        scenario="kip_966_two_unclean_restarts",
    ),
    Story(
        fenced_elr,
        kraft_stage(),
        settings={"elr": ("on",)},
        lesson="kafka/18_what_does_elr_still_lose",
        scenario="kip_966_eligible_members_only_pause",
    ),
    Story(
        offline_partition,
        kraft_stage(),
        settings={"elr": ("off", "on"), "way_out": ("elect", "wait")},
        lesson="kafka/03_the_talk",
        scenario="talk_17_31_first_alive_loses_data",
    ),
    Story(
        offline_runbook,
        kraft_stage(),
        settings={"elr": ("off", "on"), "first": ("follower", "leader")},
        lesson="kafka/01_one_power_cut",
    ),
    Story(
        the_talk,
        kraft_stage(
            settings={
                "all": {"replica.lag.time.max.ms": 20_000, "broker.session.timeout.ms": 60_000}
            }
        ),
        settings={"elr": ("off", "on")},
        lesson="kafka/03_the_talk",
        scenario="talk_46_56_found_scenario",
    ),
    Story(
        two_quick_changes,
        zookeeper_stage(settings={"all": _SLOW}),
        lesson="kafka/02_away_and_back",
        scenario="truncate_to_high_watermark_away_and_back",
    ),
    Story(
        fast_failover,
        zookeeper_stage(
            settings={
                "all": _SLOW | {"replica.fetch.wait.max.ms": 200},
                2: {"zookeeper.session.timeout.ms": 6000},
            }
        ),
        lesson="kafka/02_away_and_back",
    ),
    Story(
        stale_follower,
        zookeeper_stage(
            brokers=(1, 2, 3, 4),
            controller=4,
            held=(2, 3),
            settings={
                "all": {
                    "replica.lag.time.max.ms": 10_000,
                    "controller.socket.timeout.ms": 120_000,
                    "replica.fetch.wait.max.ms": 200,
                }
            },
        ),
        lesson="kafka/02_away_and_back",
        scenario="kip_279_strong_isr",
    ),
    Story(
        told_failed,
        kraft_stage(
            brokers=(1, 2),
            settings={
                "all": {"replica.lag.time.max.ms": 4000, "broker.session.timeout.ms": 20_000}
            },
        ),
        lesson="kafka/19_was_the_failed_send_written",
    ),
    Story(
        away_controller,
        kraft_stage(
            controllers=(101, 102, 103),
            brokers=(1,),
            settings={
                "all": {
                    "controller.quorum.fetch.timeout.ms": 2000,
                    "controller.quorum.election.timeout.ms": 1000,
                }
            },
        ),
        lesson="kraft/01_a_controller_comes_back",
        scenario="absent_server_deposes_the_leader",
    ),
    Story(
        voters_change,
        kraft_stage(controllers=(101, 102, 103), can_change_voters=True, joining=104, brokers=(1,)),
        lesson="kraft/04_changing_the_voters",
        scenario="leader_removes_itself",
    ),
    Story(
        empty_controller,
        Staging(quorum_stage, describe_quorum, is_quorum_turn),
        settings={"voters": ("listed", "dynamic", "dynamic_formatted_as_before")},
        lesson="kraft/04_changing_the_voters",
        scenario="empty_server_votes",
    ),
    Story(
        upgrade,
        Staging(upgrade_stage, describe, is_turn),
        settings={"files": ("brokers", "all")},
        lesson="kafka/18_what_does_elr_still_lose",
    ),
]
