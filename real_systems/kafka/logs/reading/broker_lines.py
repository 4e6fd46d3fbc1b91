"""What the lines of brokers and controllers say, from 0.10.2 to 4.3: one row for each kind of line.

The wording of a line is the only contract that there is: each row names the releases in which it
was seen (logs of real clusters; `python3 lab.py real --keep FOLDER` writes more of them).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from real_systems.kafka.logs.reading.entries import Entry

_OLD = r"\[(?P<topic>[\w.-]+),\s?(?P<index>\d+)\]"  # [t,0], until 1.0
_NEW = r"(?P<partition>[\w.-]+-\d+)"  # t-0
_EITHER = rf"(?:{_OLD}|{_NEW})"
_NODES = r"(?P<isr>\d+(?:, ?\d+)*|)"

_STATE = (
    r"leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+), "
    rf"isr=\[?{_NODES}\]?, (?:zkVersion|partitionEpoch)=(?P<version>\d+), "
    r"replicas=\[?(?P<replicas>\d+(?:, ?\d+)*|)\]?"
)
"""A partition as a controller with ZooKeeper tells it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a line says. kind: a row of `KINDS`; partition: as in t-0, or "" for a whole node.

    fields: the numbers in it, and lists of brokers.
    """

    kind: str
    entry: Entry
    partition: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


KINDS: dict[str, list[str]] = {
    # 0.10.2 to 3.9: "started"; under KRaft, 3.3 and later
    "started": [
        r"\[Kafka Server (?P<node>\d+)\], started",
        r"\[KafkaServer id=(?P<node>\d+)\] started",
        r"\[BrokerServer id=(?P<node>\d+)\] Transition from STARTING to STARTED",
    ],
    # 2.8 and later; until 3.2 "Attempting recovery for all logs in ... since no clean ..."
    "came_back_unclean": [r"since no clean shutdown file was found"],
    # 2.8 and later
    "came_back_clean": [r"since clean shutdown file was found"],
    # every release
    "shut_down": [
        r"\[Kafka ?Server (?:id=)?(?P<node>\d+)\],? shut down completed",
        r"\[BrokerServer id=(?P<node>\d+)\] shut down completed",
    ],
    # 0.10.2 and later, at a start
    "loaded": [
        rf"Completed load of log {_NEW} with \d+ log segments and log end offset (?P<end>\d+)",
        rf"\[Log partition={_NEW}, dir=[^\]]*\] Completed load of log with \d+ segments"
        r".* and log end offset (?P<end>\d+)",
        r"Completed load of Log\(dir=[^,]*/(?P<partition>[\w.-]+-\d+),.*?"
        r"highWatermark=(?P<high_watermark>\d+).*?logEndOffset=(?P<end>\d+)",
    ],
    # 0.10.2 to 3.9, with ZooKeeper
    "told": [
        r"eceived LeaderAndIsr request LeaderAndIsrPartitionState\(.*?"
        rf"topicName='(?P<topic>[\w.-]+)', partitionIndex=(?P<index>\d+), .*?{_STATE}",
        r"(?:eceived LeaderAndIsr request|ached leader info|ending become-\w+ LeaderAndIsr request)"
        rf" (?:correlation id \d+ from controller \d+ epoch \d+ )?\(?(?:Leader|Partition)\w*State\("
        rf".*?{_STATE}.*? for partition {_EITHER}",
        r"(?:ached leader info|ending become-\w+ LeaderAndIsr request) \((?:LeaderAndIsrInfo:\()?"
        r"Leader:(?P<leader>-?\d+),ISR:(?P<isr>[\d,]*),LeaderEpoch:(?P<epoch>\d+)"
        rf"(?:.*?AllReplicas:(?P<replicas>[\d,]*))?.* for partition {_EITHER}",
    ],
    # 3.3 and later, under KRaft
    "leads": [
        rf"Leader {_NEW} with topic id \S+ starts at leader epoch (?P<epoch>\d+) from offset "
        r"(?P<end>\d+) with partition epoch (?P<version>\d+), high watermark "
        rf"(?P<high_watermark>\d+), ISR \[{_NODES}\]",
    ],
    "follows": [
        rf"Follower {_NEW} starts at leader epoch (?P<epoch>\d+) from offset (?P<end>\d+) with "
        r"partition epoch (?P<version>\d+) and high watermark (?P<high_watermark>\d+)\. "
        r"Current leader is (?P<leader>-?\d+)",
    ],
    # every release; the first without a word of why only until 0.11
    "truncates": [
        rf"Truncating log {_NEW} to offset (?P<end>\d+)",
        rf"Log partition={_NEW}, dir=[^\]]*\] Truncating to offset (?P<end>\d+)",
        rf"UnifiedLog partition={_NEW}, dir=[^\]]*\] Truncating to offset (?P<end>\d+)",
    ],
    # 4.x
    "truncates_committed": [
        rf"Truncating {_NEW} to offset (?P<end>\d+) below high watermark (?P<high_watermark>\d+)",
    ],
    "isr_shrinks": [
        rf"\[Partition {_NEW} broker=\d+\] Shrinking ISR from [\d, ]* to {_NODES}\.(?: Leader: "
        r"\(highWatermark: (?P<high_watermark>\d+), endOffset: (?P<end>\d+)\))?",
        rf"Partition {_OLD} on broker \d+: Shrinking ISR(?: for partition \S+)? from [\d, ]* to "
        rf"{_NODES}",
    ],
    "isr_grows": [
        rf"\[Partition {_NEW} broker=\d+\] Expanding ISR from [\d, ]* to {_NODES}",
        rf"Partition {_OLD} on broker \d+: Expanding ISR(?: for partition \S+)? from [\d, ]* to "
        rf"{_NODES}",
    ],
    # until 0.11: a broker would rather end than truncate below its high watermark
    "halts": [
        r"(?:Exiting|Halting) because log truncation is not allowed for partition "
        rf"{_EITHER}",
    ],
    # 2.7 and later: the quorum of controllers
    "stands": [
        r"Completed transition to CandidateState\(localId=(?P<node>\d+),.*?epoch=(?P<epoch>\d+)"
    ],
    "release": [r"Kafka version ?: (?P<release>\d+\.\d+\.\d+)"],
}

_WORDS_OF = {
    "started": ["] started", "], started", "STARTING to STARTED"],
    "came_back_unclean": ["no clean shutdown file"],
    "came_back_clean": ["since clean shutdown file"],
    "shut_down": ["shut down completed"],
    "loaded": ["Completed load of"],
    "told": ["eaderAndIsr", "eader info"],
    "leads": ["starts at leader epoch"],
    "follows": ["starts at leader epoch"],
    "truncates": ["Truncating "],
    "truncates_committed": ["Truncating "],
    "isr_shrinks": ["Shrinking ISR"],
    "isr_grows": ["Expanding ISR"],
    "halts": ["truncation is not allowed"],
    "stands": ["to CandidateState"],
    "release": ["Kafka version"],
}
"""Each line of a kind has one of these words: lines without any are passed over fast."""

_PATTERNS = {kind: [re.compile(each) for each in patterns] for kind, patterns in KINDS.items()}

_KINDS_WITH = {
    word.encode(): [kind for kind in KINDS if word in _WORDS_OF[kind]]
    for words in _WORDS_OF.values()
    for word in words
}

WORDS = frozenset(_KINDS_WITH)
"""Words one of which every line has that says anything."""


def said_in(entries: Iterable[tuple[Entry, Collection[bytes]]]) -> Iterator[Said]:
    """What these lines say; most say nothing that matters here. With each line the words of
    `WORDS` that it has."""
    for entry, words in entries:
        for kind in sorted({kind for word in words for kind in _KINDS_WITH[word]}):
            for pattern in _PATTERNS[kind]:
                if found := pattern.search(entry.text):
                    yield _said(kind, entry, found.groupdict())
                    break


def _said(kind: str, entry: Entry, groups: dict[str, str | None]) -> Said:
    partition = groups.pop("partition", None) or ""
    topic, index = groups.pop("topic", None), groups.get("index")
    if topic:
        partition = f"{topic}-{index}"
    fields: dict[str, Any] = {}
    for name, text in groups.items():
        if text is None:
            continue
        if name in ("isr", "replicas"):
            fields[name] = [int(each) for each in re.findall(r"\d+", text)]
        else:
            fields[name] = int(text) if text.removeprefix("-").isdecimal() else text
    return Said(kind, entry, partition, fields)
