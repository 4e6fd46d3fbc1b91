"""What is left out of logs, in any layout, takes the all-clear away, and adds no finding."""

import random
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from protocol_lab.checker.result import Verdict
from protocol_lab.errors import LabError
from real_systems.kafka.logs.reading.broker_lines import _WORDS_OF
from real_systems.kafka.logs.report import CLUSTERS, Report, read
from tests.real_systems.kafka.log_layouts import COARSE, LAYOUTS, MERGED, rewritten
from tests.work_units import one_in

NAMES = sorted(each.name.removesuffix(".tar.gz") for each in CLUSTERS.iterdir())
INPUTS = 60

EVERY_LAYOUT = {each: (layout, False) for each, layout in (LAYOUTS | COARSE).items()}
EVERY_LAYOUT |= {f"{each}_merged": (layout, True) for each, layout in MERGED.items()}


def said(report: Report) -> set[tuple]:
    """What was found, without what a report may know less of: offsets, times, sets of brokers."""
    found: set[tuple] = {(each, "no run") for each in report.answer.breaches}
    for each in report.findings:
        text = re.sub(r" \(leaderRecoveryState 1\)|\{.*?\}", "", each.text)
        broker = re.search(r"broker \d+", text)
        found.add((each.partition, re.sub(r"\d+", "", text)[:32], broker and broker[0]))
    return found


@cache
def whole(name: str) -> tuple[Verdict, set[tuple]]:
    """What the complete folder gets."""
    report = read([CLUSTERS / f"{name}.tar.gz"])
    return report.verdict, said(report)


def without_files(files: list[Path], chance: random.Random) -> str:
    """Leaves out some files."""
    gone = chance.sample(files, chance.randint(1, max(1, len(files) // 2)))
    for each in gone:
        each.unlink()
    return "no " + ", ".join(f"{each.parent.name}/{each.name}" for each in gone)


def without_dumps(files: list[Path], chance: random.Random) -> str:
    """Leaves out the metadata log."""
    for each in files:
        if each.name == "dump-metadata.txt":
            each.unlink()
    return "no dump"


def without_nodes(files: list[Path], chance: random.Random) -> str:
    """Leaves out all of one node."""
    folders = sorted({each.parent for each in files if each.parent.name.startswith("node")})
    if not folders:
        return "no node has a folder"
    folder = chance.choice(folders)
    shutil.rmtree(folder)
    return f"no {folder.name}"


def part_of_a_file(files: list[Path], chance: random.Random) -> str:
    """Leaves out the beginning or the end of some files."""
    done = []
    for path in chance.sample(files, min(len(files), chance.randint(1, 3))):
        lines = lines_of(path)
        cut = chance.randrange(len(lines) + 1)
        head = chance.random() < 0.5
        path.write_text("".join(lines[:cut] if head else lines[cut:]), encoding="utf-8")
        sign = "[:" if head else "["
        done.append(f"{path.parent.name}/{path.name}{sign}{cut}{']' if head else ':]'}")
    return "only " + ", ".join(done)


def without_a_kind(files: list[Path], chance: random.Random) -> str:
    """Leaves out some kinds of lines, everywhere."""
    kinds = chance.sample(sorted(_WORDS_OF), chance.randint(1, 4))
    words = [word for kind in kinds for word in _WORDS_OF[kind]]
    for path in files:
        kept = [line for line in lines_of(path) if not any(word in line for word in words)]
        path.write_text("".join(kept), encoding="utf-8")
    return f"no lines of {', '.join(kinds)}"


def without_lines(files: list[Path], chance: random.Random) -> str:
    """Leaves out lines at random."""
    share = chance.choice([0.01, 0.1, 0.5])
    for path in files:
        kept = [line for line in lines_of(path) if chance.random() > share]
        path.write_text("".join(kept), encoding="utf-8")
    return f"{share:.0%} of all lines"


def grepped(files: list[Path], chance: random.Random) -> str:
    """Leaves of the dumps what somebody looked for."""
    word = chance.choice(["PARTITION", "PARTITION_CHANGE_RECORD", "TOPIC", "payload", "BROKER"])
    for path in files:
        if path.name == "dump-metadata.txt":
            kept = [line for line in lines_of(path) if word in line]
            path.write_text("".join(kept), encoding="utf-8")
    return f"grep {word} of the dump"


CHANGES: list[Callable[[list[Path], random.Random], str]] = [
    without_files,
    without_dumps,
    without_nodes,
    part_of_a_file,
    without_a_kind,
    without_lines,
    grepped,
]


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)


def wrong(name: str, seed: int, place: Path) -> str:
    """What is wrong with the answer to a part of a cluster's logs; "" if nothing is."""
    chance = random.Random(f"{name} {seed}")
    called, (layout, merged) = chance.choice(sorted(EVERY_LAYOUT.items()))
    folder = rewritten(name, place, layout, merged)
    done = [called]
    for change in chance.sample(CHANGES, chance.choice([1, 1, 1, 2, 2, 3])):
        files = sorted(each for each in folder.rglob("*") if each.is_file())
        if files:
            done.append(change(files, chance))
    verdict, findings = whole(name)
    try:
        part = read([folder])
    except LabError:
        return ""  # nothing is left
    finally:
        shutil.rmtree(folder)
    what = f"{name}, seed {seed}: {'; '.join(done)}"
    if part.verdict == Verdict.HOLDS and verdict != Verdict.HOLDS:
        return f"{what}: an all-clear"
    more = said(part) - findings
    return f"{what}: {more}" if more else ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(INPUTS)))
def test_what_is_left_out_takes_the_all_clear_away(seed, tmp_path):
    assert wrong(NAMES[seed % len(NAMES)], seed, tmp_path) == ""


def test_a_complete_folder_gets_the_all_clear_for_the_time_before_a_finding(tmp_path):
    """And no folder that lacks one of its logs."""
    name, until = "told_failed_4.3.1", "02:18:07"
    shutil.unpack_archive(CLUSTERS / f"{name}.tar.gz", tmp_path, filter="data")
    report = read([tmp_path / name], end=until)
    assert report.verdict == Verdict.HOLDS
    assert "Nothing found, and what was read was enough to tell." in str(report.answer)
    assert "in t-0, in the logs of nodes 1, 2, 100, from 2026-11-25 02:17:" in str(report.answer)
    for left_out in ("node1/server.log", "node2/state-change.log", "node100/dump-metadata.txt"):
        path = tmp_path / name / left_out
        content = path.read_bytes()
        path.unlink()
        assert read([tmp_path / name], end=until).verdict == Verdict.UNDECIDED, left_out
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("log", "change", "expected"),
    [
        # an earlier start's line is not this one's
        (
            "last_replica_without_elr_4.3.1/node1",
            lambda line: line * ("since no clean shutdown" not in line),
            "nothing says whether broker 1, which starts at 02:19:36.800, had been",
        ),
        ("told_failed_4.3.1/node1", lambda line: line.replace("\n", "\r"), "carriage returns"),
        # a first start is no return, whatever the broker's clock says
        (
            "told_failed_3.6.2/node1",
            lambda line: re.sub("02:16:2(?=.*No logs)", "02:16:5", line),
            "Found",
        ),
        # the controller, which writes a line that is cut short, is not the leader
        ("fenced_elr_unclean_4.3.1/node100", lambda line: f"{line.rstrip()[:150]}\n", "Found"),
    ],
)
def test_a_changed_log_adds_no_finding(log, change, expected, tmp_path):
    name = log.partition("/")[0]
    shutil.unpack_archive(CLUSTERS / f"{name}.tar.gz", tmp_path, filter="data")
    path = tmp_path / log / "server.log"
    path.write_text("".join(map(change, lines_of(path))), encoding="utf-8")
    report = read([tmp_path / name])
    assert expected in str(report.answer)
    assert said(report) <= whole(name)[1]
