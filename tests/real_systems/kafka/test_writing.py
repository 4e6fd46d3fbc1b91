"""Logs that the kit writes are read by it, line by line and as a whole."""

import re

import pytest

from protocol_lab.checker.result import Verdict
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.reading.broker_lines import KINDS, TEXTS
from real_systems.kafka.logs.report import read
from real_systems.kafka.logs.writing import LogWriter, described, dumped
from real_systems.kafka.on_call.cases import CASES, begin
from real_systems.kafka.on_call.incident import Command, done
from real_systems.kafka.on_call.written_lines import PARTITION, Written

FIELDS = {
    "later": 4,
    "end": 7,
    "high_watermark": 5,
    "epoch": 3,
    "previous": 2,
    "leader": 2,
    "isr": "[1,2]",
}
FOUND = {
    "one_power_cut": ["an unclean election", "came back without a clean shutdown"],
    "the_same_with_elr": ["nor in the ELR {1, 2}"],
    "killed_then_power_cut": ["nor in the ELR {1, 2}"],
    "min_isr_after_the_upgrade": ["the last known leader, is elected"],
    "told_failed": ["came back without a clean shutdown"],
    "a_new_disk": ["an unclean election", "came back with an empty log directory"],
    "nothing_is_wrong": [],
}


@pytest.mark.parametrize("release", ["3.6.2", "3.9.1", "4.3.1"])
@pytest.mark.parametrize("kind", [each for each in TEXTS if each in KINDS])
def test_a_line_is_read_as_it_was_written(kind, release):
    writer = LogWriter(release, "t-0", [1, 2, 3])
    writer.line(2, kind, 0, how="an unclean election", elr=[], last_known=[], **FIELDS)
    if not writer.lines:
        assert release == "3.6.2"
        return
    texts = [str(each) for each in writer.lines]
    matched = [re.search(each, text) for each in KINDS[kind] for text in texts]
    fields = next(each for each in matched if each).groupdict()
    for name in {*fields} & {"end", "high_watermark", "epoch", "leader"}:
        if fields[name] is not None:
            assert int(fields[name]) == FIELDS[name]
    assert fields.get("node") in (None, "2")
    assert fields.get("partition") in (None, "t-0")


def written(name, folder, keys):
    start = begin(name)
    logs = Written(start.case)
    world, desk, events = start.world, start.desk, [*start.events]
    for key in keys:
        outcome = done(world, desk, Command(key))
        world, desk = outcome.world, outcome.desk
        events += outcome.events
    for each in events:
        logs.add(each)
    for path, text in logs.writer.files().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return read([str(folder)])


@pytest.mark.parametrize("name", FOUND)
def test_the_logs_of_a_case_are_a_run_with_its_findings(name, tmp_path):
    naive = CASES[name].naive
    report = written(name, tmp_path, [naive] if naive == "close" else [naive, "close"])
    answer = check_partition(report.cluster, PARTITION)
    assert answer.verdict is Verdict.HOLDS, str(answer)
    texts = [each.text for each in report.findings]
    for each in FOUND[name]:
        assert any(each in text for text in texts), texts
    assert bool(texts) == bool(FOUND[name]), texts


def test_what_tools_print_is_read(tmp_path):
    text = described("t", 0, 0, [1, 2], [1], [2], [1])
    (tmp_path / "topics.txt").write_text(text + "\n", encoding="utf-8")
    node = tmp_path / "node2"
    node.mkdir()
    (node / "server.properties").write_text("node.id=2\nprocess.roles=broker\n", encoding="utf-8")
    lines = dumped("t-0", 2, [(7, 0), (8, 3)], 1)
    (node / "dump.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = read([str(tmp_path)])
    [described_one] = report.cluster.described["t-0"]
    assert (described_one.leader, described_one.elr, described_one.last_known) == (-1, (2,), (1,))
    [log] = report.cluster.on_disk["t-0"]
    assert (log.epochs, log.end) == (((0, 7), (3, 8)), 9)
