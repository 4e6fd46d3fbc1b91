"""Logs that the kit writes are read by it, line by line and as a whole."""

import re

import pytest

from protocol_lab.checker.result import Verdict
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.reading.broker_lines import KINDS
from real_systems.kafka.logs.report import read
from real_systems.kafka.on_call.cases import begin
from real_systems.kafka.on_call.incident import Command, done
from real_systems.kafka.on_call.written_lines import PARTITION, TEXTS, Lines, Written, describe
from tests.real_systems.kafka.test_on_call import NAIVE

FIELDS = {"later": 4, "end": 7, "epoch": 3, "leader": 2}
FOUND = {
    "one_power_cut": ["an unclean election", "came back without a clean shutdown"],
    "the_same_with_elr": ["nor in the ELR {1, 2}"],
    "killed_then_power_cut": ["nor in the ELR {1, 2}"],
    "min_isr_after_the_upgrade": ["the last known leader, is elected"],
    "told_failed": ["came back without a clean shutdown"],
    "a_new_disk": ["an unclean election", "came back with an empty log directory"],
    "nothing_is_wrong": [],
}


@pytest.mark.parametrize("kind", [each for each in TEXTS if each in KINDS])
def test_a_line_is_read_as_it_was_written(kind):
    writer = Lines("3.9.1")
    writer.line(2, kind, 0, **FIELDS)
    matched = [re.search(each, str(writer.lines[0])) for each in KINDS[kind]]
    fields = next(each for each in matched if each).groupdict()
    for name in {*fields} & {*FIELDS}:
        if fields[name] is not None:
            assert int(fields[name]) == FIELDS[name]
    assert fields.get("node") in (None, "2")
    assert fields.get("partition") in (None, PARTITION)


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
    for line in logs.lines:
        node = folder / f"node{line.node}"
        node.mkdir(exist_ok=True)
        with (node / line.file).open("a", encoding="utf-8") as file:
            file.write(f"{line.text if line.file.startswith('dump') else line}\n")
    return read([str(folder)])


@pytest.mark.parametrize("name", FOUND)
def test_the_logs_of_a_case_are_a_run_with_its_findings(name, tmp_path):
    report = written(name, tmp_path, NAIVE[name][0].split())
    answer = check_partition(report.cluster, PARTITION)
    assert answer.verdict is Verdict.HOLDS, str(answer)
    texts = [each.text for each in report.findings]
    for each in FOUND[name]:
        assert any(each in text for text in texts), texts
    assert bool(texts) == bool(FOUND[name]), texts


def test_what_tools_print_is_read(tmp_path):
    start = begin("the_same_with_elr")
    text = describe(start.world, start.case)
    assert text.endswith("Leader: none  Replicas: 1,2,3  Isr:   Elr: 1,2  LastKnownElr: 1")
    (tmp_path / "topics.txt").write_text(text + "\n", encoding="utf-8")
    [described] = read([str(tmp_path)]).cluster.described[PARTITION]
    assert (described.leader, described.replicas, described.isr) == (-1, (1, 2, 3), ())
    assert (described.elr, described.last_known) == ((1, 2), (1,))
