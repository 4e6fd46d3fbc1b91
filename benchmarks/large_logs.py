"""Measures `lab.py logs` on a large cluster: seconds and memory, natively and on Spark.

    .venv/bin/python -m benchmarks.large_logs [--megabytes 1024] [--partitions 3000] [--check]

Writes logs of a cluster that does not exist, of six brokers whose operator restarts them one after
the other all day, and reads them in processes of their own. The answers must be the same. With
--check the metadata log is checked against the controller's rules, for every partition.
"""

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measurement import machine

_BEGIN = 1_795_573_222_000
_BROKERS = range(1, 7)
_A_TOPIC = 30  # partitions
_NOISE = 3  # lines of other loggers for each change of a partition


def main() -> None:
    """Write the logs, read them natively and on Spark, and compare. Exits with 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--partitions", type=int, default=3000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--folder", type=Path, help="read this one, or write it first")
    parser.add_argument("--read", choices=["native", "spark"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        return print(json.dumps(measured(options.folder, options.read, options.check)))
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="protocol-lab-") as place:
        folder = options.folder or Path(place)
        if not any(folder.glob("*")):
            write_logs(folder, options.megabytes * 1_000_000, options.partitions)
        size = sum(each.stat().st_size for each in folder.rglob("*.*"))
        print(f"{size / 1e9:.2f} GB, {options.partitions:,} partitions", flush=True)
        answers = []
        for engine in ("native", "spark"):
            command = [sys.executable, "-m", "benchmarks.large_logs", "--folder", str(folder)]
            command += ["--read", engine, *(["--check"] if options.check else [])]
            said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            answers.append(said.pop("answer"))
            print(f"{engine}: {said}", flush=True)
    same = answers[0] == answers[1]
    print(f"the answers are {'the same' if same else 'DIFFERENT'}")
    if not same:
        raise SystemExit(1)
    return None


def measured(folder: Path, engine: str, check: bool) -> dict:
    """Read the logs; returns seconds, memory, and a hash of all that is said of them."""
    from real_systems.kafka.logs.report import read

    began = time.perf_counter()
    report = read([folder], check=check, engine=engine)
    answer = hashlib.sha256(json.dumps(report.as_json(), sort_keys=True).encode()).hexdigest()
    verdicts = [each.verdict for each in report.checks.values()]
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "of the driver's processor": round(time.process_time(), 1),
        "megabytes of the driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "moments": sum(map(len, report.partitions.values())),
        "findings": len(report.findings),
        "runs": f"{verdicts.count('holds')} of {len(verdicts)}",
        "answer": answer,
    }


def write_logs(folder: Path, size: int, partitions: int) -> None:
    """Write the logs of a cluster into a folder, about so many bytes."""
    writer = _Writer(folder, partitions)
    writer.set_up()
    while writer.size < size:
        for broker in _BROKERS:
            writer.restart(broker)
            if writer.size >= size:
                break
    writer.close()


class _Writer:
    """What the controller and the brokers write; every record is one that the rules allow."""

    def __init__(self, folder: Path, partitions: int):
        self.size, self._offset, self._time = 0, 0, _BEGIN
        self._random = random.Random(7)
        self._files = {}
        for node in (100, *_BROKERS):
            place = folder / f"node{node}"
            place.mkdir(parents=True)
            own = ["controller.log", "dump-metadata.txt"]
            names = own if node == 100 else ["server.log", "state-change.log"]
            for name in names:
                self._files[node, name] = (place / name).open("w", encoding="utf-8")
        self._replicas = [
            tuple((k + j) % len(_BROKERS) + 1 for j in range(3)) for k in range(partitions)
        ]
        self._isr = list(map(set, self._replicas))
        self._leader = [each[0] for each in self._replicas]
        self._epoch, self._version = [0] * partitions, [0] * partitions
        self._registered = dict.fromkeys(_BROKERS, 0)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def set_up(self) -> None:
        """The cluster is formatted, brokers register, topics are created."""
        self._record("FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=25)
        for broker in _BROKERS:
            self._register(broker)
        for k, replicas in enumerate(self._replicas):
            topic, index = divmod(k, _A_TOPIC)
            if index == 0:
                self._record("TOPIC_RECORD", name=f"topic{topic}", topicId=f"T{topic}")
            self._record(
                "PARTITION_RECORD",
                topicId=f"T{topic}",
                partitionId=index,
                replicas=list(replicas),
                isr=list(replicas),
                leader=replicas[0],
                leaderEpoch=0,
                partitionEpoch=0,
            )
            self._adopt(k)

    def restart(self, broker: int) -> None:
        """A broker is shut down, comes back, catches up, and leads again what it prefers to."""
        self._time += 60_000
        own = [k for k, replicas in enumerate(self._replicas) if broker in replicas]
        self._of_broker(broker, inControlledShutdown=1)
        for k in own:
            isr = self._isr[k] - {broker}
            led = self._leader[k] == broker
            leader = next(each for each in self._replicas[k] if each in isr) if led else None
            self._change(k, isr, leader)
        self._of_broker(broker, fenced=1)
        self._time += 20_000
        self._register(broker)
        self._log(
            broker,
            "server.log",
            f"INFO [BrokerServer id={broker}] Transition from STARTING"
            " to STARTED (kafka.server.BrokerServer)",
        )
        for k in own:
            self._change(k, self._isr[k] | {broker}, None)
        self._time += 20_000
        for k in own:
            if self._replicas[k][0] == broker != self._leader[k]:
                self._change(k, None, broker)
        if self._random.random() < 0.2:
            k = self._random.choice(own)
            self._log(
                broker,
                "server.log",
                f"WARN [UnifiedLog partition={self._name(k)},"
                f" dir=/data] Truncating {self._name(k)} to offset 5 below high watermark 9"
                " (org.apache.kafka.storage.internals.log.UnifiedLog)",
            )

    def _register(self, broker: int) -> None:
        self._registered[broker] = self._offset
        self._record(
            "REGISTER_BROKER_RECORD", brokerId=broker, brokerEpoch=self._offset, fenced=True
        )
        self._of_broker(broker, fenced=-1)

    def _of_broker(self, broker: int, **changes: int) -> None:
        self._record(
            "BROKER_REGISTRATION_CHANGE_RECORD",
            brokerId=broker,
            brokerEpoch=self._registered[broker],
            **changes,
        )

    def _change(self, k: int, isr: set[int] | None, leader: int | None) -> None:
        self._time += self._random.randrange(3)
        topic, index = divmod(k, _A_TOPIC)
        data = {"partitionId": index, "topicId": f"T{topic}"}
        if isr is not None:
            self._isr[k] = isr
            data["isr"] = sorted(isr)
        if leader is not None:
            self._leader[k] = data["leader"] = leader
            self._epoch[k] += 1
        self._version[k] += 1
        self._record("PARTITION_CHANGE_RECORD", **data)
        self._log(
            100,
            "controller.log",
            f"INFO [QuorumController id=100] Replayed partition change for {self._name(k)}, topic"
            f" ID T{topic}: {data} (org.apache.kafka.controller.ReplicationControlManager)",
        )
        self._adopt(k)

    def _adopt(self, k: int) -> None:
        """The brokers hear of a partition's new state, and of other things."""
        for broker in self._replicas[k]:
            common = f"starts at leader epoch {self._epoch[k]} from offset 7 with partition epoch"
            common += f" {self._version[k]}"
            if broker == self._leader[k]:
                isr = ",".join(map(str, sorted(self._isr[k])))
                text = f"INFO [Broker id={broker}] Leader {self._name(k)} with topic id Some(T)"
                text += f" {common}, high watermark 7, ISR [{isr}], adding replicas [] and removing"
                text += " replicas [] . Previous leader Some(1) and previous leader epoch was 0."
            else:
                text = f"INFO [Broker id={broker}] Follower {self._name(k)} {common} and high"
                text += (
                    f" watermark 7. Current leader is {self._leader[k]}. Previous leader Some(1)"
                )
                text += " and previous leader epoch was 0."
            self._log(broker, "state-change.log", f"{text} (state.change.logger)")
        for _ in range(_NOISE):
            broker = self._random.choice(_BROKERS)
            self._log(
                broker,
                "server.log",
                f"INFO [UnifiedLog partition={self._name(k)}, dir=/data]"
                " Rolled new log segment at offset 4711 in 3 ms. And so it goes on, in every"
                " log of every broker (org.apache.kafka.storage.internals.log.UnifiedLog)",
            )

    def _name(self, k: int) -> str:
        return f"topic{k // _A_TOPIC}-{k % _A_TOPIC}"

    def _record(self, kind: str, **data: object) -> None:
        place = f"Offset: {self._offset} "
        said = json.dumps({"type": kind, "version": 0, "data": data}, separators=(",", ":"))
        self._write(
            100,
            "dump-metadata.txt",
            f"base{place}last{place}count: 1 baseSequence: -1 lastSequence: -1 producerId: -1"
            " producerEpoch: -1 partitionLeaderEpoch: 1 isTransactional: false isControl: false"
            f" CreateTime: {self._time} size: 91 magic: 2 compresscodec: none isvalid: true\n"
            f"| o{place[1:]}CreateTime: {self._time} keySize: -1 valueSize: {len(said)} sequence:"
            f" -1 headerKeys: [] payload: {said}\n",
        )
        self._offset += 1

    def _log(self, node: int, name: str, text: str) -> None:
        time = datetime.fromtimestamp(self._time / 1000, UTC)
        self._write(node, name, f"[{time:%Y-%m-%d %H:%M:%S},{self._time % 1000:03}] {text}\n")

    def _write(self, node: int, name: str, text: str) -> None:
        self._files[node, name].write(text)
        self.size += len(text)


if __name__ == "__main__":
    main()
