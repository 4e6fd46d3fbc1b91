"""What a Kafka cluster is configured to do, from options and from the files of its operators.

`server.properties`, what `kafka-configs`, `kafka-topics` and `kafka-features` print when they
describe, and Strimzi's `Kafka` and `KafkaTopic` resources all name a setting and then its value.
So one table of patterns reads them all. A topic's own value outranks the cluster's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from kafka_spec import settings as model
from kafka_spec.settings import RELEASES
from protocol_lab.errors import LabError, quoted, shortened, unknown
from protocol_lab.model.spec import Model
from real_systems import promise_table
from real_systems.promise_table import Choice, Row
from real_systems.runner.recordings import Recording

WITH_ELR = ("4.0", "4.1", "4.3")
"""The releases in which ELR is possible; it is on by default in all but the first."""

RULES = {
    ("3.6", False): "3.6",
    ("3.7", False): "3.7, 3.8",
    ("3.9", False): "3.9 and later, ELR off",
    ("4.0", True): "4.0, ELR on",
    ("4.1", True): "4.1, 4.2, ELR on",
    ("4.3", True): "4.3 and later, ELR on",
}
"""A release with ELR on or off, for each set of rules that the model has."""

_CONSTANTS = model.Constants._fields
NO_FAULTS = dict.fromkeys(_CONSTANTS[_CONSTANTS.index("lags") :], 0)

PROMISES = ("acknowledged_is_readable", "acknowledged_is_on_a_disk", "read_stays_readable")
PRICE = {
    "needs_no_operator": "may need an operator",
    "is_online": "may be offline",
    "takes_writes": "may take no writes",
}
"""What a partition may come to, the worst first."""


def _row(name: str, text: str, *stories: str, **faults: int) -> Row:
    return Row(name, text, faults, PROMISES, tuple(PRICE), stories)


ROWS = (
    _row("kill", "A broker is killed", kills=1),
    _row("pause", "A broker pauses, or is cut off", pauses=1),
    _row("power_cut", "A broker loses power", power_cuts=1),
    _row("machine", "A machine is lost for good", machines=1),
    _row("rack", "A power supply fails, with all its brokers", rack_cuts=1),
    _row(
        "restart_and_power_cut",
        "One stops, one pauses, one loses power",
        "last_replica",
        stops=1,
        pauses=1,
        power_cuts=1,
    ),
    _row(
        "kill_and_power_cut",
        "One pauses, one is killed, one loses power",
        "two_power_cuts",
        pauses=1,
        kills=1,
        power_cuts=1,
    ),
    _row("two_power_cuts", "Two brokers lose power, one by one", power_cuts=2),
    _row(
        "new_disk",
        "Followers fall behind; a broker gets a new disk",
        "empty_disk",
        lags=2,
        stops=1,
        new_disks=1,
    ),
    _row("offline", "Two pause, one is killed", "offline_partition", pauses=2, kills=1),
    _row("three_pauses", "Three pause", "fenced_elr", pauses=3),
    _row("two_machines", "Two machines are lost for good", machines=2),
    Row(
        "told_failed",
        "A producer gives up, and tells its caller that the record failed",
        {"lags": 2, "give_ups": 1},
        ("told_failed_is_not_written",),
        tuple(PRICE),
        ("told_failed",),
        "written",
    ),
)


def row_of(text: str) -> Row:
    """The row of faults such as "kills=1,power_cuts=1". Raises LabError."""
    faults = {}
    for each in text.split(","):
        name, _, many = each.strip().partition("=")
        if name not in NO_FAULTS:
            raise unknown("fault", name, NO_FAULTS)
        if not many.isdecimal() or int(many) > 9:
            raise LabError(f"{quoted(each.strip())}: write how often, from 0 to 9: {name}=1.")
        faults[name] = int(many)
    said = ", ".join(f"{name.replace('_', ' ')}: {many}" for name, many in faults.items())
    return _row(text, f"Within {said}", **faults)


_UP_TO_5 = range(1, 6)
_FLAGS = {"true": True, "false": False, "on": True, "off": False}


@dataclass(frozen=True)
class Settings(promise_table.Settings):
    """What is asked about. `said` names where each value comes from; the others are assumed.

    racks: how many power supplies the brokers share; as many as replicas if each has its own.
    """

    release: str = "4.3"
    elr: bool = True
    acks: str = "all"
    min_isr: int = 1
    replicas: int = 3
    unclean: bool = False
    racks: int = 3
    said: dict[str, str] = field(default_factory=dict, compare=False)

    rows = ROWS
    price = PRICE
    is_destroyed = staticmethod(model.acknowledged_is_on_a_disk)
    golden = Path(__file__).with_name("cluster_cells.json")
    columns: ClassVar = {
        f"{release}{' elr' * elr}": (text, {"release": release, "elr": elr})
        for (release, elr), text in RULES.items()
    }
    choices: ClassVar = {
        "release": Choice("Kafka", RELEASES, lambda value: f"Kafka {_range(value)}"),
        "replicas": Choice(
            "replicas", _UP_TO_5, lambda value: f"{value} replica{'' if value == 1 else 's'}"
        ),
        "min_isr": Choice("min.insync.replicas", _UP_TO_5, "min.insync.replicas={}".format),
        "acks": Choice("acks", ("all", "1", "0"), "acks={}".format),
        "elr": Choice("ELR", (True, False), lambda value: f"ELR {'on' if value else 'off'}"),
        "unclean": Choice(
            "unclean elections",
            (False, True),
            lambda value: f"unclean elections {'on' if value else 'off'}",
        ),
        "racks": Choice(
            "power supplies",
            _UP_TO_5,
            lambda value: "one power supply" if value == 1 else f"{value} power supplies",
        ),
    }
    limits = (
        "Kept means: in every state that these faults lead to, by the rules of the release as the"
        " model kafka.settings has them. It does not mean safe. A copy is passed over: a disk has"
        " the record, and a broker without it leads. Takes writes, may be offline: what producers"
        " may meet in the end."
    )

    @property
    def rules(self) -> tuple[str, bool]:
        """The release that stands for the rules of this one, and whether ELR is on."""
        asked = (self.release, self.elr)
        return asked if asked in RULES else ("3.9", False)

    @property
    def column(self) -> str:
        """The name of the column with these rules."""
        release, elr = self.rules
        return f"{release}{' elr' * elr}"

    def model(self, row: Row) -> Model:
        """The model of a cell."""
        asked = self.values | {"racks": min(self.racks, self.replicas)}
        return model.spec.bind(**NO_FAULTS | dict(row.faults) | asked)

    def saw(self, run: Recording) -> bool:
        """Was this run of a story by the rules that these settings have?"""
        release = release_of(run.release)
        usual = "on" if release in WITH_ELR[1:] else "off"
        has_elr = run.settings.get("elr", usual) == "on"
        return Settings(release=release, elr=has_elr).rules == self.rules

    def better(self) -> Iterator[tuple[str, Any]]:
        """Each setting and a value with which more is promised, or might be."""
        if self.acks != "all":
            yield "acks", "all"
        if self.unclean:
            yield "unclean", False
        if not self.elr:
            yield "elr", True
        if self.release != RELEASES[-1]:
            yield "release", RELEASES[-1]
        for many in range(self.min_isr + 1, self.replicas + 1):
            yield "min_isr", many
        if self.replicas < 5:
            yield "replicas", self.replicas + 1
        if self.racks < self.replicas:
            yield "racks", self.replicas

    def changed(self, name: str, value: Any) -> tuple[str, "Settings"]:
        """A change of one setting in words, and the settings after it: ELR takes a release."""
        text, after = super().changed(name, value)
        if name == "elr" and self.release not in WITH_ELR:
            return f"{text} with {RELEASES[-1]}", replace(after, release=RELEASES[-1])
        return text, after

    @staticmethod
    def todo(change: str) -> str:
        """What to do on Monday for a change that keeps something, as HTML."""
        text = escape(change)
        if text.startswith("ELR"):
            return (
                "Before an upgrade that switches ELR on, set min.insync.replicas for each topic: "
                "in 4.1.0, 4.3.1 and 4.4.0 the brokers’ own value fell to 1"
                " (<code>lab.py real upgrade</code>)."
            )
        if text.startswith("min.insync.replicas"):
            return f"Set {text} on the topic, if it may take no writes more often."
        if text.startswith("acks"):
            return "Set acks=all in the producers."
        if text.startswith("unclean"):
            return "Switch unclean.leader.election.enable off."
        if "replicas" in text:
            return f"Reassign the topic to {text}."
        return "Spread the replicas: broker.rack for each power supply." if "power" in text else ""

    def advice(self, lost: list[Row]) -> list[str]:
        """What the runbook should say, if a power cut loses something."""
        if self.elr or not any("power_cuts" in row.faults for row in lost):
            return []
        return [
            "In the runbook: after a power cut the broker without a clean shutdown file does not"
            ' start first (<a href="docs/runbook_offline_partition.html">an offline partition</a>).'
        ]


FIRST = Settings(min_isr=2)
"""What the table of a page shows at first."""


def _range(release: str) -> str:
    """A release of the model, with those that it stands for: "3.7 to 3.8"."""
    place = RELEASES.index(release)
    if place + 1 == len(RELEASES):
        return f"{release} and later"
    major, _, minor = RELEASES[place + 1].partition(".")
    last = {"4.0": "3.9"}.get(RELEASES[place + 1], f"{major}.{int(minor) - 1}")
    return release if last == release else f"{release} to {last}"


def release_of(text: str) -> str:
    """The release of the model that has the rules of this one. Raises LabError.

    >>> release_of("3.8.1"), release_of("4.4.0")
    ('3.7', '4.3')
    """
    found = re.match(r"([0-4])\.(\d{1,3})(?!\d)", text, re.A)
    if not found:
        raise LabError(f"{quoted(text)} is no release of Kafka: write one such as 4.1 or 3.9.1.")
    asked = tuple(map(int, found.groups()))
    known = [each for each in RELEASES if tuple(map(int, each.split("."))) <= asked]
    if not known:
        raise LabError(
            f"Kafka {text} is older than {RELEASES[0]}, the first release that this table knows;"
            " kafka/02 has what older ones lose."
        )
    return known[-1]


# What stands before a value: a setting's name, then = or :, perhaps in quotes.
_VALUE = r"""[ \t]*["']?[ \t]*[=:][ \t]*["']?(\$\{\w+\}|[^\s,"'}]+)"""
_PATTERNS = {
    "min_isr": rf"min\.insync\.replicas{_VALUE}",
    "unclean": rf"unclean\.leader\.election\.enable{_VALUE}",
    "acks": rf"(?<!\w)(?<!commit\.required\.)acks{_VALUE}",
    "replicas": rf"(?:default\.replication\.factor|ReplicationFactor){_VALUE}",
    "elr": r"eligible\.leader\.replicas\.version.*?FinalizedVersionLevel:\s*(\d+)",
    "release": r"metadata\.version.*?SupportedMaxVersion:\s*(\d+\.\d+)",
}
_OF_RESOURCE = {
    "KafkaTopic": ("replicas", rf"^\s+replicas{_VALUE}"),
    "Kafka": ("release", rf"^\s+kafka:\s*\n(?:\s.*\n)*?\s+version{_VALUE}"),
}
"""Where Strimzi's resources say it: a topic's `spec.replicas`, a cluster's `spec.kafka.version`."""

_SECTIONS = re.compile(r"^(?=Topic:|Feature:|.*configs for |---|\s*- apiVersion)", re.M | re.I)
_IS_OF_A_TOPIC = re.compile(r"^Topic:|\bConfigs:|kind:\s*KafkaTopic|configs for topic", re.M)
_IN_ENVIRONMENT = re.compile(r"\bKAFKA_(?:CFG_)?([A-Z_]+)")
_ZOOKEEPER = re.compile(r"^\s*zookeeper(?:\.connect\s*[=:]|:)", re.M)
_KRAFT = re.compile(r"process\.roles|strimzi\.io/kraft:\s*[\"']?enabled")


def text_of(path: str) -> tuple[str, str]:
    """A file's name and text. Raises LabError."""
    try:
        return path, Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise LabError(f"{shortened(path)} can't be read: {reason}.") from None


def read(files: Iterable[tuple[str, str]], **given: Any) -> Settings:
    """The settings that these files say, each a name and its text; what is given outranks them.

    Raises LabError for a value that can't be, for two files that differ, and for a file that says
    nothing.
    """
    said: dict[str, tuple[bool, Any, str]] = {}
    for name, text in files:
        sections = _sections(name, text)
        if not any(sections.values()):
            raise LabError(
                f"{name} names none of the settings: give server.properties, or what kafka-configs,"
                " kafka-topics or kafka-features print with --describe."
            )
        found = ((text, *each) for text, values in sections.items() for each in values)
        for section, setting, value in found:
            is_of_a_topic = bool(_IS_OF_A_TOPIC.search(section))
            before = said.get(setting)
            if before and before[0] == is_of_a_topic and before[1] != value:
                raise LabError(
                    f"{before[2]} says {Settings.phrase(setting, before[1])}, and {name} says"
                    f" {Settings.phrase(setting, value)}: give one of them."
                )
            if not before or is_of_a_topic >= before[0]:
                said[setting] = (is_of_a_topic, value, name)
    values = {setting: value for setting, (_, value, _) in said.items()}
    sources = {setting: name for setting, (_, _, name) in said.items()}
    for setting, value in given.items():
        if value is not None:
            values[setting], sources[setting] = _checked(setting, str(value)), "asked"
    return _completed(values, sources)


def _sections(name: str, text: str) -> dict[str, list[tuple[str, Any]]]:
    """The sections of a file, such as one for each topic, each with the settings that it says."""
    lines = [line.split("synonyms=")[0] for line in text.splitlines()]
    text = "\n".join(line for line in lines if not line.lstrip().startswith(("#", "!")))
    text = _IN_ENVIRONMENT.sub(lambda found: found[1].lower().replace("_", "."), text)
    if _ZOOKEEPER.search(text) and not _KRAFT.search(text):
        raise LabError(f"{name} is of a cluster with ZooKeeper, and the model has KRaft's rules.")
    sections = {}
    for section in _SECTIONS.split(text):
        patterns = list(_PATTERNS.items())
        kind = re.search(r"^[ -]*kind:\s*(\w+)", section, re.M)
        if kind and kind[1] in _OF_RESOURCE:
            patterns.append(_OF_RESOURCE[kind[1]])
        sections[section] = [
            (setting, _checked(setting, found[1]))
            for setting, pattern in patterns
            for found in re.finditer(pattern, section, re.M)
        ]
    topics = [values for section, values in sections.items() if section.startswith("Topic:")]
    if any(values != topics[0] for values in topics):
        raise LabError(f"{name} describes topics that differ: give one of them.")
    return sections


def _checked(name: str, text: str) -> Any:
    """The value of a setting. Raises LabError for one that it can't have."""
    if name == "release":
        return release_of(text)
    if name == "acks" and text in ("all", "-1", "1", "0"):
        return "all" if text == "-1" else text
    if name in ("unclean", "elr") and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    if name == "elr" and re.fullmatch("[0-9]+", text):
        return text.strip("0") != ""
    if name in ("min_isr", "replicas", "racks") and re.fullmatch("[1-5]", text):
        return int(text)
    wanted = {
        "acks": "all, 1 or 0",
        "unclean": "true or false",
        "elr": "on or off",
    }.get(name, "a number from 1 to 5, which is as far as the searches go")
    raise LabError(f"{Settings.phrase(name, shortened(text))}: it must be {wanted}.")


def _completed(values: dict[str, Any], sources: dict[str, str]) -> Settings:
    """With Kafka's own defaults where nothing is said. Raises LabError for what can't be."""
    release = values.get("release", Settings.release)
    if release not in WITH_ELR and values.get("elr"):
        raise LabError(f"ELR is on: that is possible from 4.0 on, not with Kafka {release}.")
    if release not in WITH_ELR and "release" in sources:
        sources.setdefault("elr", sources["release"])
    values.setdefault("elr", release in WITH_ELR[1:])
    values.setdefault("racks", values.get("replicas", Settings.replicas))
    return Settings(**values, said=sources)
