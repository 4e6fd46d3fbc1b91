"""The recorded clusters' logs, rewritten in every layout, say what they say in Kafka's own."""

import functools
import random
from collections import Counter
from pathlib import Path

import pytest

from real_systems.kafka.logs.histories import Cluster, read_cluster
from real_systems.kafka.logs.reading.archives import unpacked
from real_systems.kafka.logs.reading.entries import Entry
from real_systems.kafka.logs.reading.lines.layouts import Layout, parsed
from real_systems.kafka.logs.reading.lines.times import order_of, stamps_in
from real_systems.kafka.logs.reading.sources import find_sources
from real_systems.kafka.logs.report import CLUSTERS, recorded
from tests.real_systems.kafka.log_layouts import COARSE, LAYOUTS, MERGED, rewritten
from tests.work_units import one_in

CLUSTER = "last_replica_without_elr_4.3.1"
HERE = ["two_quick_changes_0.10.2.0", "told_failed_3.6.2", "fenced_elr_unclean_4.3.1", CLUSTER]
"""Clusters of every kind: with ZooKeeper, and KRaft's of two generations."""

CASES = [
    *((name, each, False) for name, each in LAYOUTS.items()),
    *((name, each, False) for name, each in COARSE.items()),
    *((name, each, True) for name, each in MERGED.items()),
]


def cluster_in(*paths: Path) -> Cluster:
    with unpacked(paths) as found:
        return read_cluster(find_sources(found))


def facts(cluster: Cluster, unit: int = 1) -> Counter:
    """What lines say, when and by whom; times in so many milliseconds."""
    return Counter(
        (each.entry.time // unit, each.entry.node, each.kind, each.partition, str(each.fields))
        for each in cluster.said
    )


@functools.cache
def plain(name: str) -> Cluster:
    return cluster_in(recorded(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layout", "merged"), one_in(4, CASES), ids=[f"{n}{'_merged' * m}" for n, _, m in CASES]
)
def test_every_layout_says_the_same(name, layout, merged, tmp_path):
    chosen = random.Random(name).choice(HERE)
    if name == "clock" and "0.10" in chosen:  # nothing there has a date
        chosen = CLUSTER
    cluster = cluster_in(rewritten(chosen, tmp_path, layout, merged))
    unit = 1000 if name in COARSE else 1
    assert facts(cluster, unit) == facts(plain(chosen), unit)
    assert (cluster.unread, cluster.doubts) == ([], [])


@pytest.mark.slow
def test_every_recorded_cluster_is_certain():
    for path in CLUSTERS.glob("*.tar.gz"):
        cluster = cluster_in(path)
        assert (cluster.unread, cluster.doubts) == ([], [])


def test_a_clock_without_any_date_is_not_read(tmp_path):
    folder = rewritten("two_quick_changes_0.10.2.0", tmp_path, LAYOUTS["clock"])
    cluster = cluster_in(folder)
    assert not cluster.said
    assert {each.path.parent.name for each in cluster.unread} == {"node1", "node2", "node3"}
    for path in folder.glob("node*/server.log"):
        path.rename(path.with_name("server.log.2026-11-25"))
    cluster = cluster_in(folder)
    assert facts(cluster) == facts(plain("two_quick_changes_0.10.2.0"))
    assert "has times without a date: by its name they begin on 2026-11-25." in cluster.remarks[0]


HALTED = """\
[2026-11-25 02:19:08,611] FATAL [Broker id=2] Error (kafka.server.ReplicaFetcherThread)
org.apache.kafka.common.KafkaException: stopping
\tat kafka.server.ReplicaFetcherThread.run(ReplicaFetcherThread.scala:99)
Caused by: Exiting because log truncation is not allowed for partition t-0, current leader 1's
[2026-11-25 02:19:09,000] INFO [Broker id=2] more (x)
"""


@pytest.mark.parametrize(
    "wrap",
    [
        lambda line: line,
        lambda line: f"2026-11-25T02:19:20.000000001Z stdout F {line}",
        lambda line: f"Nov 25 02:19:20 host kafka.sh[77]: {line}",
        lambda line: f"kafka-2  | {line}\nkafka-1  | [2026-11-25 02:19:08,900] INFO x (y)",
    ],
    ids=["plain", "cri", "journald", "compose"],
)
def test_an_entry_of_several_lines_stays_together(wrap, tmp_path):
    text = "".join(f"{wrap(line)}\n" for line in HALTED.splitlines())
    (tmp_path / "server.log").write_text(text, encoding="utf-8")
    (said,) = cluster_in(tmp_path).said
    assert (said.kind, said.partition, said.entry.node) == ("halts", "t-0", 2)
    assert (said.entry.time % 1000, said.entry.number) == (611, 1)
    assert said.entry.text.startswith("2026-11-25 02:19:08,611] FATAL [Broker id=2] Error")


CUT = "[2026-11-25 02:19:08,611] INFO [UnifiedLog partition=t-0, dir=/d] Truncating to offset 1 (x)"


def own(node: int) -> str:
    return f"[2026-11-25 02:19:08,000] INFO [Broker id={node}] a line (x)"


@pytest.mark.parametrize(
    ("files", "node", "doubt"),
    [
        ({"a.log": [own(2), CUT]}, 2, None),
        ({"a.log": [own(1), own(2), CUT]}, None, (1, 2)),
        ({"a.log": [CUT]}, None, ()),
        ({"node3/a.log": [CUT]}, 3, None),
        ({"node3/a.log": [own(7), CUT]}, 7, None),
        ({"node3/a.log": [CUT], "node3/b.log": [own(7)]}, 7, None),
        ({"node3/a.log": [CUT], "node3/b.log": [own(7)], "node3/c.log": [own(8)]}, None, (7, 8)),
        ({"x/a.log": [CUT], "x/server.properties": ["broker.id=4"]}, 4, None),
        # a StatefulSet counts its pods from 0; brokers need not
        ({"a.log": [f"k-0 | {own(1)}", f"k-1 | {own(2)}", f"k-0 | {CUT}"]}, 1, None),
        ({"a.log": [f"k-0 | {CUT}"], "b.log": [f"k-0 | {own(1)}"]}, 1, None),
        ({"a.log": [f"k-0 | {own(1)}", f"k-1 | {CUT}"]}, None, ()),
        ({"a.log": [f"k-1 | {own(1)}", f"k-2 | {CUT}"]}, 2, None),
        ({"a.log": [f"k-1 | {own(1)}", f"k-1 | {own(2)}", f"k-1 | {CUT}"]}, None, (1, 2)),
        ({"node3/a.log": [f"k-1 | {CUT}"]}, None, (1, 3)),
    ],
)
def test_whose_line_it_is(files, node, doubt, tmp_path):
    for name, lines in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    cluster = cluster_in(tmp_path)
    assert [each.entry.node for each in cluster.said] == [node]
    assert [each.nodes for each in cluster.doubts] == ([] if doubt is None else [doubt])


def test_a_line_without_a_time_is_not_understood(tmp_path):
    lines = ["Truncating log t-0 to offset 1", CUT, "nothing", "Shrinking ISR"]
    (tmp_path / "a.log").write_text("\n".join(["Shrinking ISR", *lines]), encoding="utf-8")
    (unread,) = cluster_in(tmp_path).unread
    assert (unread.lines, unread.number, unread.first) == (2, 1, "Shrinking ISR")
    assert str(unread).endswith('a.log:1 and 1 more line without a time: "Shrinking ISR"')


def test_the_day_and_month_are_told_apart_by_the_file():
    assert order_of(["25/11/2026", "01/02/2026"]) == "dmy"
    assert order_of(["11/25/2026"]) == "mdy"
    assert order_of(["05/11/2026 1", "06/11/2026 2"]) == "dmy"
    assert order_of(["05/11/2026"]) == ""
    assert not list(stamps_in("05/11/2026 02:19:08", 0, 19))


def test_a_time_in_a_message_is_not_the_lines():
    line = "[2026-11-25 02:19:08,611] INFO last fetch at 2020-01-01 00:00:00 ERROR (x)"
    found = parsed(line, (), Layout())
    assert line[found.stamp.begin : found.stamp.end] == "2026-11-25 02:19:08,611"
    assert isinstance(Entry(found.stamp.time, line, None, Path("a/b"), 1).place, str)
