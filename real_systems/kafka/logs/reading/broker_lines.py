"""What the lines of brokers and controllers say, from 0.10.2 to 4.4: one row for each kind of line.

The wording of a line is the only contract that there is: each row names the releases in which it
was seen (logs of real clusters; `python3 lab.py real --keep FOLDER` writes more of them).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from real_systems.kafka.logs.reading.entries import Entry

_OLD = r"\[(?P<topic>[\w.-]+),\s?(?P<index>\d+)\]"  # [t,0], until 1.0
_NEW = r"(?P<partition>[\w.-]+-\d+)"  # t-0
_EITHER = rf"(?:{_OLD}|{_NEW})"
_NODES = r"(?P<isr>\d+(?:, ?\d+)*|)"


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
    # 2.8 and later: at its first start, and if its disk was lost; for each of its folders
    "came_back_empty": [r"No logs found to be loaded in "],
    # every release
    "shut_down": [
        r"\[Kafka ?Server (?:id=)?(?P<node>\d+)\],? shut down completed",
        r"\[BrokerServer id=(?P<node>\d+)\] shut down completed",
    ],
    # 0.10.2 and later, at a start
    "loaded": [
        rf"Completed load of log {_NEW} with \d+ log segments and log end offset (?P<end>\d+)",
        rf"\[Log partition={_NEW}, dir=[^\]]*\] Completed load of log with \d+ segments"
        r"(?>.*? and log end offset )(?P<end>\d+)",
        r"Completed load of Log\(dir=(?>[^,]*/)(?P<partition>[\w.-]+-\d+),"
        r"(?>.*?highWatermark=)(?P<high_watermark>\d+)(?>.*?logEndOffset=)(?P<end>\d+)",
    ],
    # 0.10.2 to 3.9, with ZooKeeper, at TRACE: what a broker is told; since 3.3 at INFO, what it
    # knows already
    "told": [
        rf"eceived LeaderAndIsr request (?>.*? for partition ){_EITHER}",
        r"eceived LeaderAndIsr request LeaderAndIsrPartitionState\("
        r"topicName='(?P<topic>[\w.-]+)', partitionIndex=(?P<index>\d+)",
        rf"ached leader info (?>.*? for partition ){_EITHER}",
        rf"kipped the become-\w+ state change for {_NEW} with topic id"
        r" .*?Partition(?:Registration|State)\(",
    ],
    # what a controller decides. With ZooKeeper: until 2.5 at TRACE, from 2.6 to 3.9 at INFO; under
    # KRaft, since 3.3, for a new partition only
    "decided": [
        rf"hanged partition {_EITHER} from (?P<state>\w+) to OnlinePartition with state "
        r"LeaderAndIsr\(",
        rf"Partition {_EITHER} state changed to \(Leader:",
        rf"ending become-\w+ LeaderAndIsr request .*? for partition {_EITHER}",
        rf"(?:Replayed PartitionRecord for (?:new|existing)|Created) partition {_NEW}"
        r" (?:with topic ID \S+ )?and PartitionRegistration\(",
    ],
    # 2.6 to 3.9, with ZooKeeper
    "assigned": [
        rf"hanged partition {_EITHER} state from NonExistentPartition to NewPartition"
        r" with assigned replicas (?P<replicas>\d+(?:,\d+)*)",
    ],
    # 3.3 and later; 2.6 to 3.2; 1.0 to 2.5 (Partition's own lines)
    "leads": [
        rf"Leader {_NEW} with topic id \S+ starts at leader epoch (?P<epoch>\d+) from offset "
        r"(?P<end>\d+) with partition epoch (?P<version>\d+), high watermark "
        rf"(?P<high_watermark>\d+), ISR \[{_NODES}\]",
        rf"Leader {_NEW} starts at leader epoch (?P<epoch>\d+) from offset (?P<end>\d+) with high "
        rf"watermark (?P<high_watermark>\d+) ISR \[{_NODES}\]",
        rf"\] {_NEW} starts at [Ll]eader [Ee]poch (?P<epoch>\d+) from offset (?P<end>\d+)"
        r"(?: with high watermark (?P<high_watermark>\d+))?\. Previous",
    ],
    "follows": [
        rf"Follower {_NEW} starts at leader epoch (?P<epoch>\d+) from offset (?P<end>\d+) with "
        r"partition epoch (?P<version>\d+) and high watermark (?P<high_watermark>\d+)\. "
        r"Current leader is (?P<leader>-?\d+)",
        rf"Follower {_NEW} starts at leader epoch (?P<epoch>\d+) from offset (?P<end>\d+) with"
        r" high watermark (?P<high_watermark>\d+)\. Previous",
    ],
    # until 1.0; 3.3 and later, under KRaft: the controller's own words for an unclean election
    "elects_uncleanly": [
        rf"No broker in ISR is alive for {_EITHER}\. Elect leader (?P<leader>\d+) from",
        rf"UNCLEAN partition change for {_NEW}\b",
        r"Setting new leader for topicId (?P<topic_id>[\w-]{22}), partition (?P<index>\d+) to"
        r" (?P<leader>\d+) using an unclean election",
    ],
    # 3.2 and later: the broker that was elected so
    "recovers": [rf"topic partition {_NEW} was marked as RECOVERING"],
    # the broker's server.log, every release: what it does to its fetchers when it leads or follows
    "fetches": [r"\[ReplicaFetcherManager on broker (?P<node>\d+)\] (?:Removed|Added) fetcher"],
    # every release; the first without a word of why only until 0.11
    "truncates": [
        rf"Truncating log {_NEW} to offset (?P<end>\d+)",
        rf"Log partition={_NEW}, dir=[^\]]*\] Truncating to offset (?P<end>\d+)",
        rf"UnifiedLog partition={_NEW}, dir=[^\]]*\] Truncating to offset (?P<end>\d+)",
    ],
    # 0.11 and later; since 2.7 the second one, too
    "truncates_committed": [
        rf"Truncating {_NEW} to offset (?P<end>\d+) below high watermark (?P<high_watermark>\d+)",
        rf"Log partition={_NEW}, dir=[^\]]*\] Non-monotonic update of high watermark from \(offset="
        r"(?P<high_watermark>\d+)[ ,].*? to \(offset=(?P<end>\d+)",
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
    # 2.4 and later: a leader's change of the ISR, as it was accepted
    "isr_updated": [
        rf"\[Partition {_NEW} broker=(?P<leader>\d+)\] ISR updated to \[?{_NODES}\]?"
        r" (?:\(under-min-isr\) | )?and (?:zkV|v)ersion updated to \[?(?P<version>\d+)",
    ],
    # until 0.11: a broker would rather end than truncate below its high watermark; until 0.10.0
    # only the topic is named
    "halts": [
        r"(?:Exiting|Halting) because log truncation is not allowed for partition "
        rf"{_EITHER}",
        r"(?:Exiting|Halting) because log truncation is not allowed for topic (?P<name>[\w.-]+),",
    ],
    # 2.7 and later: the quorum of controllers
    "stands": [
        r"Completed transition to CandidateState\(localId=(?P<node>\d+),(?>.*?epoch=)(?P<epoch>\d+)"
    ],
    "wins": [r"Completed transition to Leader\(local\D*(?P<node>\d+).*?\bepoch=(?P<epoch>\d+)"],
    # 3.3 and later: a controller that led, and no longer does
    "deposed": [r"Renouncing the leadership .*? We were the leader at epoch (?P<epoch>\d+)"],
    # Confluent's builds have a number of their own
    "release": [r"Kafka version ?: (?P<release>\d+\.\d+\.\d+)(?P<confluent>-ccs|-ce)?"],
}

_WORDS_OF = {
    "started": ["] started", "], started", "STARTING to STARTED"],
    "came_back_unclean": ["no clean shutdown file"],
    "came_back_clean": ["since clean shutdown file"],
    "came_back_empty": ["No logs found to be loaded"],
    "shut_down": ["shut down completed"],
    "loaded": ["Completed load of"],
    "told": ["eceived LeaderAndIsr", "ached leader info", "kipped the become-"],
    "decided": [
        "to OnlinePartition with",
        "state changed to (Leader",
        "ending become-",
        "and PartitionRegistration(",
    ],
    "assigned": ["with assigned replicas"],
    "leads": ["starts at leader epoch", "starts at Leader Epoch"],
    "follows": ["starts at leader epoch"],
    "elects_uncleanly": ["unclean election", "UNCLEAN partition", "No broker in ISR is alive"],
    "recovers": ["marked as RECOVERING"],
    "fetches": ["ReplicaFetcherManager on broker"],
    "truncates": ["Truncating "],
    "truncates_committed": ["Truncating ", "Non-monotonic update"],
    "isr_shrinks": ["Shrinking ISR"],
    "isr_grows": ["Expanding ISR"],
    "isr_updated": ["ISR updated to"],
    "halts": ["truncation is not allowed"],
    "stands": ["to CandidateState"],
    "wins": ["transition to Leader("],
    "deposed": ["Renouncing the leadership"],
    "release": ["Kafka version"],
}
"""Each line of a kind has one of these words: lines without any are passed over fast."""

_LIST = r"\[?(?:List\()?(\d+(?:, ?\d+)*|)"

_STATE_FIELDS = {
    "leader": (r"\b[lL]eader(?:=|:|: -?\d+ -> )(-?\d+)", "eader=", "eader:"),
    "epoch": (r"\b[lL]eaderEpoch(?:=|:|: -?\d+ -> )(\d+)", "eaderEpoch"),
    "version": (
        r"\b(?:[zZ]kVersion|partitionEpoch)(?:=|:|: -?\d+ -> )(\d+)",
        "kVersion",
        "partitionEpoch",
    ),
    "isr": (rf"\b(?:isr=|ISR:|isr: \[[\d, ]*\] -> ){_LIST}", "isr=", "ISR:", "isr: "),
    "states": (r"\bisrWithBrokerEpoch=List\(([^\]]*?\)|)\), leader", "isrWithBrokerEpoch"),
    "replicas": (rf"\b(?:replicas=|AllReplicas:){_LIST}", "replicas=", "AllReplicas:"),
    "elr": (rf"\belr(?:=|: \[[\d, ]*\] -> ){_LIST}", "elr=", "elr: "),
    "last_known": (rf"\blastKnownElr(?:=|: \[[\d, ]*\] -> ){_LIST}", "lastKnownElr"),
    "recovery": (r"\b[lL]eaderRecoveryState(?:=|:|: \w+ -> )([A-Z]+)", "eaderRecoveryState"),
    "topic_id": (r"topic (?:id|ID) (?:Some\()?([\w-]{22})", "topic id", "topic ID"),
    "previous": (r"[Pp]revious [Ll]eader [Ee]poch was:? (-?\d+)", "revious "),
}
"""A partition's state as different releases write it, each with words one of which the text then
has, which are found faster; what a line does not have is not said."""

_WITH_STATE = {"told", "decided", "leads", "follows", "elects_uncleanly"}
_LISTS = {"isr", "replicas", "elr", "last_known"}

_FIELD_PATTERNS = [
    (name, re.compile(each), words) for name, (each, *words) in _STATE_FIELDS.items()
]

_PATTERNS = {kind: [re.compile(each) for each in patterns] for kind, patterns in KINDS.items()}

_KINDS_WITH = {
    word.encode(): [kind for kind in KINDS if word in _WORDS_OF[kind]]
    for words in _WORDS_OF.values()
    for word in words
}

WORDS = frozenset(_KINDS_WITH)
"""Words one of which every line has that says anything."""


_LONGEST, _KEPT = 1 << 14, 1 << 10
"""Characters of an entry in which something is looked for, and that are kept of it."""

_SEVERAL = re.compile(r"\r(?![\r\n]|$)")
"""A carriage return within a line, which was several lines."""
_TOO_LARGE = re.compile(r"\d{20}")


def said_in(
    entries: Iterable[tuple[Entry, Collection[bytes]]], refused: Callable[[Entry, str], None]
) -> Iterator[Said]:
    """What these lines say; most say nothing that matters here. With each line the words of
    `WORDS` that it has. refused: is called with an entry that can't be understood, and why."""
    for entry, words in entries:
        text, found = entry.text[:_LONGEST], None
        is_cut, entry.text = len(entry.text) > _LONGEST, text
        if _SEVERAL.search(text):
            refused(entry, "of several lines with carriage returns between them")
            continue
        for kind in sorted({kind for word in words for kind in _KINDS_WITH[word]}):
            for pattern in _PATTERNS[kind]:
                if found := pattern.search(text):
                    break
            if found and _TOO_LARGE.search(text):
                refused(entry, "with a number that is too large")
            elif found:
                yield _said(kind, entry, found.groupdict())
        if is_cut and not found:
            refused(entry, f"of more than {_LONGEST:,} characters")
        entry.text = text[:_KEPT]


def _said(kind: str, entry: Entry, groups: dict[str, str | None]) -> Said:
    partition = groups.pop("partition", None) or ""
    topic, index = groups.pop("topic", None), groups.get("index")
    if topic:
        partition = f"{topic}-{index}"
    if kind in _WITH_STATE and "topic_id" not in groups:  # else it is the state before
        text = entry.text
        groups = {
            name: found[1]
            for name, pattern, words in _FIELD_PATTERNS
            if any(word in text for word in words) and (found := pattern.search(text))
        } | groups
        if states := groups.pop("states", None):
            groups["isr"] = ",".join(re.findall(r"brokerId=(\d+)", states))
    if groups.pop("confluent", None):
        groups["release"] = _of_apache(groups["release"])
    fields: dict[str, Any] = {}
    for name, text in groups.items():
        if text is None:
            continue
        if name in _LISTS:
            fields[name] = [int(each) for each in re.findall(r"\d+", text)]
        else:
            fields[name] = int(text) if text.removeprefix("-").isdecimal() else text
    return Said(kind, entry, partition, fields)


def _of_apache(release: str) -> str:
    """Kafka's release in a Confluent Platform: 7.5.0 has 3.5.0.

    Source: https://docs.confluent.io/platform/current/installation/versions-interoperability.html
    """
    major, minor, patch = map(int, release.split("."))
    shifted = {5: (2, minor), 6: (2, minor + 6), 7: (3, minor), 8: (4, minor)}
    major, minor = shifted.get(major, (major, minor))
    return f"{major}.{minor}.{patch}"
