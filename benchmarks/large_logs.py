"""Measures `lab.py logs` on a large cluster: seconds and memory, natively and on Spark.

    .venv/bin/python -m benchmarks.large_logs [--megabytes 1024] [--partitions 3000] [--check]

Writes logs of a cluster that does not exist, of six brokers whose operator restarts them one after
the other all day, and reads them in processes of their own. The answers must be the same. With
--check the metadata log is checked against the controller's rules, for every partition.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from benchmarks.measurement import machine

_BEGIN = 1_795_573_222_000
_BROKERS = range(1, 7)
_CONTROLLER = 100
_A_TOPIC = 30  # partitions
_NOISE = 3  # lines of other loggers for each change of a partition


def main() -> None:
    """Write the logs, read them natively and on Spark, and compare. Exits with 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--partitions", type=int, default=3000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="protocol-lab-") as place:
        cluster = _Cluster(Path(place), options.partitions)
        cluster.run(options.megabytes * 1_000_000)
        print(f"{cluster.size / 1e9:.2f} GB, {options.partitions:,} partitions", flush=True)
        answers = []
        for engine in ("native", "spark"):
            with get_context("spawn").Pool(1) as pool:
                answer, said = pool.apply(measured, (place, engine, options.check))
            answers.append(answer)
            print(f"{engine}: {said}", flush=True)
    if answers[0] != answers[1]:
        raise SystemExit("the answers are DIFFERENT")
    print("the answers are the same")


def measured(folder: str, engine: str, check: bool) -> tuple[str, dict[str, Any]]:
    """Read the logs; all that is said of them, and the seconds and memory that it took."""
    from real_systems.kafka.logs.report import read

    began = time.perf_counter()
    report = read([folder], check=check, engine=engine)
    verdicts = [each.verdict for each in report.checks.values()]
    return json.dumps(report.as_json(), sort_keys=True), {
        "seconds": round(time.perf_counter() - began, 1),
        "of the driver's processor": round(time.process_time(), 1),
        "megabytes of the driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "moments": sum(map(len, report.partitions.values())),
        "findings": len(report.findings),
        "runs": f"{verdicts.count('holds')} of {len(verdicts)}",
    }


@dataclass
class _Partition:
    """A partition, as the controller has it."""

    topic: int
    index: int
    replicas: list[int]
    isr: set[int]
    leader: int
    epoch: int = 0
    version: int = 0

    @property
    def name(self) -> str:
        return f"topic{self.topic}-{self.index}"

    @property
    def key(self) -> dict[str, Any]:
        return {"topicId": f"T{self.topic}", "partitionId": self.index}


class _Cluster:
    """Writes what the controller and the brokers do; every record is one that the rules allow."""

    def __init__(self, folder: Path, partitions: int):
        self.size, self._offset, self._time = 0, 0, _BEGIN
        self._folder, self._random = folder, random.Random(7)
        self._files: dict[tuple[int, str], TextIO] = {}
        self._registered: dict[int, int] = defaultdict(int)
        self._partitions = []
        for k in range(partitions):
            replicas = [(k + j) % len(_BROKERS) + 1 for j in range(3)]
            topic, index = divmod(k, _A_TOPIC)
            self._partitions.append(_Partition(topic, index, replicas, {*replicas}, replicas[0]))

    def run(self, size: int) -> None:
        """The cluster is formatted, topics are created, and brokers restart until the logs have
        about so many bytes."""
        self._record("FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=25)
        for broker in _BROKERS:
            self._register(broker)
        for each in self._partitions:
            if each.index == 0:
                name = f"topic{each.topic}"
                self._record("TOPIC_RECORD", name=name, topicId=each.key["topicId"])
            self._record(
                "PARTITION_RECORD",
                **each.key,
                replicas=each.replicas,
                isr=each.replicas,
                leader=each.leader,
                leaderEpoch=0,
                partitionEpoch=0,
            )
            self._adopt(each)
        while self.size < size:
            for broker in _BROKERS:
                if self.size < size:
                    self._restart(broker)
        for file in self._files.values():
            file.close()

    def _restart(self, broker: int) -> None:
        """A broker is shut down, comes back, catches up, and leads again what it prefers to."""
        self._time += 60_000
        own = [each for each in self._partitions if broker in each.replicas]
        self._of_broker(broker, inControlledShutdown=1)
        for each in own:
            isr = each.isr - {broker}
            next_leader = next(other for other in each.replicas if other in isr)
            self._change(each, isr, next_leader if each.leader == broker else None)
        self._of_broker(broker, fenced=1)
        self._time += 20_000
        self._register(broker)
        self._log(broker, "server.log", f"[BrokerServer id={broker}] {_STARTED}")
        for each in own:
            self._change(each, each.isr | {broker}, None)
        self._time += 20_000
        for each in own:
            if each.replicas[0] == broker != each.leader:
                self._change(each, None, broker)
        if self._random.random() < 0.2:
            name = self._random.choice(own).name
            cut = f"Truncating {name} to offset 5 below high watermark 9"
            self._log(broker, "server.log", f"[UnifiedLog partition={name}, dir=/data] {cut}")

    def _register(self, broker: int) -> None:
        self._registered[broker] = self._offset
        record = {"brokerId": broker, "brokerEpoch": self._offset, "fenced": True}
        self._record("REGISTER_BROKER_RECORD", **record)
        self._of_broker(broker, fenced=-1)

    def _of_broker(self, broker: int, **changes: int) -> None:
        key = {"brokerId": broker, "brokerEpoch": self._registered[broker]}
        self._record("BROKER_REGISTRATION_CHANGE_RECORD", **key, **changes)

    def _change(self, each: _Partition, isr: set[int] | None, leader: int | None) -> None:
        self._time += self._random.randrange(3)
        data = each.key
        if isr is not None:
            each.isr, data["isr"] = isr, sorted(isr)
        if leader is not None:
            each.leader = data["leader"] = leader
            each.epoch += 1
        each.version += 1
        self._record("PARTITION_CHANGE_RECORD", **data)
        change = f"Replayed partition change for {each.name}: {data}"
        self._log(_CONTROLLER, "controller.log", f"[QuorumController id={_CONTROLLER}] {change}")
        self._adopt(each)

    def _adopt(self, each: _Partition) -> None:
        """The brokers hear of a partition's new state, and of other things."""
        start = f"starts at leader epoch {each.epoch} from offset 7 with partition epoch"
        before = "Previous leader Some(1) and previous leader epoch was 0."
        isr = ",".join(map(str, sorted(each.isr)))
        for broker in each.replicas:
            if broker == each.leader:
                text = f"Leader {each.name} with topic id Some(T) {start} {each.version}, high"
                text += f" watermark 7, ISR [{isr}], adding replicas [] and removing replicas [] ."
            else:
                text = f"Follower {each.name} {start} {each.version} and high watermark 7. Current"
                text += f" leader is {each.leader}."
            self._log(broker, "state-change.log", f"[Broker id={broker}] {text} {before}")
        for _ in range(_NOISE):
            broker = self._random.choice(_BROKERS)
            self._log(broker, "server.log", f"[UnifiedLog partition={each.name}] {_ROLLED}")

    def _record(self, kind: str, **data: Any) -> None:
        said = json.dumps({"type": kind, "version": 0, "data": data}, separators=(",", ":"))
        self._write(
            _CONTROLLER,
            "dump-metadata.txt",
            f"baseOffset: {self._offset} lastOffset: {self._offset} count: 1 baseSequence: -1"
            " lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 1"
            f" isTransactional: false isControl: false CreateTime: {self._time} size: 91 magic: 2"
            " compresscodec: none isvalid: true\n"
            f"| offset: {self._offset} CreateTime: {self._time} keySize: -1 valueSize: {len(said)}"
            f" sequence: -1 headerKeys: [] payload: {said}\n",
        )
        self._offset += 1

    def _log(self, node: int, name: str, text: str) -> None:
        at = datetime.fromtimestamp(self._time / 1000, UTC)
        self._write(
            node, name, f"[{at:%Y-%m-%d %H:%M:%S},{self._time % 1000:03}] INFO {text} (x)\n"
        )

    def _write(self, node: int, name: str, text: str) -> None:
        if (node, name) not in self._files:
            place = self._folder / f"node{node}"
            place.mkdir(exist_ok=True)
            self._files[node, name] = (place / name).open("w", encoding="utf-8")
        self._files[node, name].write(text)
        self.size += len(text)


_STARTED = "Transition from STARTING to STARTED"
_ROLLED = (
    "Rolled new log segment at offset 4711 in 3 ms. And so it goes on, in every log of every broker"
    " (org.apache.kafka.storage.internals.log.UnifiedLog)"
)


if __name__ == "__main__":
    main()
