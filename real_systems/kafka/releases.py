"""Releases of Kafka: which jars each needs, on Java 17 and newer, and what it does differently."""

from pathlib import Path

from protocol_lab.errors import LabError, quoted
from real_systems.runner.jars import Artifact, fetched_jars, unpacked_jars

OLDEST = (0, 10, 2)
KRAFT = (3, 3)
"""The first release whose KRaft is meant for production."""


def number_of(release: str) -> tuple[int, ...]:
    """(3, 9, 1) for "3.9.1". Raises LabError for anything else, or a release that is too old."""
    parts = release.split(".")
    if not all(each.isdecimal() for each in parts) or len(parts) < 3:
        raise LabError(f"{quoted(release)} is no release of Kafka: write one such as 4.3.1.")
    number = tuple(map(int, parts))
    if number < OLDEST:
        raise LabError(f"Kafka {release} is too old for the kit: take 0.10.2.0 or a later release.")
    return number


def has_kraft(release: str) -> bool:
    """Does a cluster of this release run under KRaft here? Before 3.3 it has ZooKeeper."""
    return number_of(release) >= KRAFT


def has_elr(release: str) -> bool:
    """Does this release know eligible leader replicas (KIP-966)?"""
    return number_of(release) >= (4, 0)


def jars_of(release: str, say) -> list[Path]:
    """The jars of a release: those of KAFKA_HOME if that is this release, else fetched once.

    say: is called with a sentence if they must be fetched. Raises LabError.
    """
    return unpacked_jars("KAFKA_HOME", "libs", f"-{release}.jar") or fetched_jars(
        f"kafka-{release}", _artifacts(release), say
    )


def _artifacts(release: str) -> list[Artifact]:
    number = number_of(release)
    scala = "2.13" if number >= (2, 6) else "2.12"
    kafka = Artifact("org.apache.kafka", f"kafka_{scala}", release)
    if number >= (4, 0):
        tools = Artifact("org.apache.kafka", "kafka-tools", release)  # kafka-features
        return [kafka, tools, Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")]
    if number >= (3, 0):
        return [kafka, Artifact("org.slf4j", "slf4j-reload4j", "1.7.36")]
    # ZooKeeper asks for log4j's own JMX classes, and Java has no javax.xml.bind since 11.
    old = [
        kafka,
        Artifact("log4j", "log4j", "1.2.17"),
        Artifact("org.slf4j", "slf4j-log4j12", "1.7.25"),
        Artifact("javax.xml.bind", "jaxb-api", "2.3.1"),
    ]
    if (2, 0) <= number < (2, 2):
        # On Java 14 and newer, ZooKeeper 3.4.13 takes "127.0.0.1/<unresolved>" for a host's name.
        old.append(Artifact("org.apache.zookeeper", "zookeeper", "3.4.10", instead=True))
    return old
