"""Reads what a cluster is configured to do from the files that its operators have.

`server.properties`, what `kafka-configs`, `kafka-topics` and `kafka-features` print when they
describe, and Strimzi's `Kafka` and `KafkaTopic` resources all name a setting and then its value.
So one table of patterns reads them all. A topic's own value outranks the cluster's.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_spec.settings import RELEASES
from protocol_lab.errors import LabError, quoted, shortened

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


def rules_of(release: str, elr: bool) -> tuple[str, bool]:
    """The release that stands for the rules of this one."""
    return (release, elr) if (release, elr) in RULES else ("3.9", False)


_FLAGS = {"true": True, "false": False, "on": True, "off": False}


@dataclass(frozen=True)
class Settings:
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

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of `kafka.settings` that stand for them."""
        names = ("release", "elr", "acks", "min_isr", "replicas", "unclean", "racks")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return ", ".join(phrase(name, value) for name, value in self.constants.items())


def phrase(name: str, value: Any) -> str:
    """One setting, as an operator would say it."""
    match name:
        case "release":
            return f"Kafka {_range(value)}"
        case "elr":
            return f"ELR {'on' if value else 'off'}"
        case "acks":
            return f"acks={value}"
        case "min_isr":
            return f"min.insync.replicas={value}"
        case "replicas":
            return f"{value} replica{'' if value == 1 else 's'}"
        case "unclean":
            return f"unclean elections {'on' if value else 'off'}"
    return "one power supply" if value == 1 else f"{value} power supplies"


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
    found = re.match(r"(\d+)\.(\d+)", text)
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
_VALUE = r"""\s*["']?\s*[=:]\s*["']?([\w.-]+)"""
_PATTERNS = {
    "min_isr": rf"min\.insync\.replicas{_VALUE}",
    "unclean": rf"unclean\.leader\.election\.enable{_VALUE}",
    "acks": rf"(?<![\w.])acks{_VALUE}",
    "replicas": rf"(?:default\.replication\.factor|ReplicationFactor){_VALUE}",
    "elr": r"eligible\.leader\.replicas\.version.*?FinalizedVersionLevel:\s*(\d+)",
    "release": r"metadata\.version.*?FinalizedVersionLevel:\s*(\d+\.\d+)",
}
_OF_RESOURCE = {"replicas": rf"^  replicas{_VALUE}", "release": rf"^    version{_VALUE}"}
"""Where Strimzi's resources say it: a topic's `spec.replicas`, a cluster's `spec.kafka.version`."""

_IS_OF_A_TOPIC = re.compile(r"^Topic:|\bConfigs:|kind:\s*KafkaTopic|configs for topic", re.M)


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
        found = _settings_in(text)
        if not found:
            raise LabError(
                f"{name} names none of the settings: give server.properties, or what kafka-configs,"
                " kafka-topics or kafka-features print with --describe."
            )
        is_of_a_topic = bool(_IS_OF_A_TOPIC.search(text))
        for setting, value in found.items():
            before = said.get(setting)
            if before and before[0] == is_of_a_topic and before[1] != value:
                raise LabError(
                    f"{before[2]} says {phrase(setting, before[1])}, and {name} says"
                    f" {phrase(setting, value)}: give one of them."
                )
            if not before or is_of_a_topic >= before[0]:
                said[setting] = (is_of_a_topic, value, name)
    values = {setting: value for setting, (_, value, _) in said.items()}
    sources = {setting: name for setting, (_, _, name) in said.items()}
    for setting, value in given.items():
        if value is not None:
            values[setting], sources[setting] = _checked(setting, str(value)), "asked"
    return _completed(values, sources)


def _settings_in(text: str) -> dict[str, Any]:
    """The settings that one file says; of several values of one setting, the first."""
    lines = [line.split("synonyms=")[0] for line in text.splitlines()]
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    patterns = dict(_PATTERNS)
    if re.search(r"^kind:\s*Kafka", text, re.M):
        patterns |= {name: f"{patterns[name]}|{pattern}" for name, pattern in _OF_RESOURCE.items()}
    found = {}
    for name, pattern in patterns.items():
        place = re.search(pattern, text, re.M)
        if place:
            found[name] = _checked(name, next(each for each in place.groups() if each))
    return found


def _checked(name: str, text: str) -> Any:
    """The value of a setting. Raises LabError for one that it can't have."""
    if name == "release":
        return release_of(text)
    if name == "acks" and text in ("all", "-1", "1", "0"):
        return "all" if text == "-1" else text
    if name in ("unclean", "elr") and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    if name == "elr" and text.isdecimal():
        return int(text) > 0
    if name in ("min_isr", "replicas", "racks") and text.isdecimal() and 1 <= int(text) <= 5:
        return int(text)
    wanted = {
        "acks": "all, 1 or 0",
        "unclean": "true or false",
        "elr": "on or off",
    }.get(name, "a number from 1 to 5, which is as far as the searches go")
    raise LabError(f"{phrase(name, text)}: it must be {wanted}.")


def _completed(values: dict[str, Any], sources: dict[str, str]) -> Settings:
    """With Kafka's own defaults where nothing is said. Raises LabError for what can't be."""
    release = values.get("release", Settings.release)
    if release not in WITH_ELR and values.get("elr"):
        raise LabError(f"ELR is on: that is possible from 4.0 on, not with Kafka {release}.")
    values.setdefault("elr", release in WITH_ELR[1:])
    values.setdefault("racks", values.get("replicas", Settings.replicas))
    return Settings(**values, said=sources)
