"""Logs of a small real system, and whether they are runs of its spec: docs/your_logs.md, run."""

import random
import re
import threading

import pytest

from protocol_lab.interchange.effort import Effort
from real_systems.logged_runs import LogMapping, LogRecord, check_log
from tests import ROOT

PAGE = ROOT / "docs" / "your_logs.md"
SPEC = str(ROOT / "examples" / "two_phase_commit.py")


@pytest.fixture(scope="module")
def page() -> dict:
    """What the page's code defines."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


class Transaction:
    """Two-phase commit by threads that write one log. hasty: the manager does not wait for all."""

    def __init__(self, seed: int, hasty: bool = False):
        self.log: list[str] = []
        self.random, self.hasty = random.Random(seed), hasty
        self.lock = threading.Lock()
        self.prepared = 0
        self.decided = threading.Event()
        self.decision = ""

    def say(self, who: str, what: str) -> None:
        self.log.append(f"10:00:00.{len(self.log):03} {who} {what}")

    def manager(self) -> str:
        """Decide; to be called with the lock."""
        enough = self.prepared == 3 or (self.hasty and self.prepared == 2)
        if not self.decision and enough:
            self.decision = "committed"
            self.say("tm", "decided commit")
            self.log.append("10:00:00 some other line")
            self.decided.set()
        return self.decision

    def database(self, rm: int) -> None:
        with self.lock:
            self.say(f"rm-{rm}", "prepared")
            self.prepared += 1
            self.manager()
        self.decided.wait(10)
        with self.lock:
            self.say(f"rm-{rm}", self.decision)

    def run(self) -> list[str]:
        order = [1, 2, 3]
        self.random.shuffle(order)
        threads = [threading.Thread(target=self.database, args=(rm,)) for rm in order]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return self.log


def test_what_a_right_system_writes_is_a_run(page):
    log = Transaction(seed=1).run()
    answer = page["check"](log, SPEC)
    assert str(answer) == "A run of two_phase_commit: all 7 records are explained."
    assert "tm_rcv_prepared(rm=1)" in answer.run_text()
    assert len(answer.run) == 7
    assert answer.walk.moment.depth == 1
    answer.walk.last()
    assert len(answer.walk.steps) == 10  # three answers are received, and that is not logged
    assert answer.walk.state.tm_state == "committed"


def test_the_pages_own_log_is_one(page):
    (log,) = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert page["check"](log.splitlines(), SPEC).verdict == "holds"


def test_what_a_hasty_manager_writes_is_none(page):
    log = Transaction(seed=1, hasty=True).run()
    answer = page["check"](log, SPEC)
    assert answer.verdict == "violated"
    assert answer.record.place == "line 3"
    assert "who tm, says decided commit" in str(answer)
    assert any(
        each.step == "tm_abort()" and each.written["says"] == "decided abort"
        for each in answer.nearest
    )


@pytest.mark.slow
def test_each_changed_log_is_refused_or_explained(page):
    log = [line for line in Transaction(seed=3).run() if "other" not in line]
    first = log[0].split()[1]
    refused = [
        log[1:],  # who has not prepared
        [log[0], *log],  # prepares twice
        [log[3], *log[:3], *log[4:]],  # decided before all have prepared
        [*log[:-1], log[-1].replace("committed", "aborted")],
    ]
    for changed in refused:
        assert page["check"](changed, SPEC).verdict == "violated"
    swapped = [log[1], log[0], *log[2:]]
    assert page["check"](swapped, SPEC).verdict == "holds"
    assert page["check"](log[:-1], SPEC).verdict == "holds"
    assert first.startswith("rm-")


def test_it_is_undecided_where_something_is_missing(page):
    log = list(page["records"](Transaction(seed=4).run()))
    whole = page["mapping"](SPEC)
    shallow = LogMapping(whole.model, whole.writes, whole.unseen, depth=0)
    answer = check_log(shallow, log)
    assert answer.verdict == "undecided"
    assert "give the mapping a larger depth" in str(answer)
    stopped = check_log(whole, log, Effort(stopped=lambda: True, of="log"))
    assert "was stopped at line 1" in stopped.missing
    spent = check_log(whole, log, Effort(tried=9, of="log", advice="cut it"))
    assert re.search("ended at line 2, after 10 tried steps .* cut it", spent.missing)
    assert check_log(whole, log, gaps="Line 9 is missing.").missing == "Line 9 is missing."


def test_a_step_may_write_several_records(page):
    model = page["mapping"](SPEC).model

    def writes(before, action, args, after):
        if action == "rm_prepare":
            return [{"says": "locks", "rm": args["rm"]}, {"says": "prepared"}]
        return [{"says": action}]

    def log(*shown):
        return [LogRecord(f"record {k}", each) for k, each in enumerate(shown, 1)]

    mapping = LogMapping(model, writes)
    whole = check_log(mapping, log({"says": "locks"}, {"says": "prepared"}))
    assert whole.verdict == "holds"
    assert [steps for _, steps in whole.run] == [["rm_prepare(rm=1)"], ["rm_prepare(rm=1)"]]
    broken = check_log(mapping, log({"says": "locks", "rm": 2}))
    assert broken.missing == "the log ends within a step, before says prepared."
    amid = check_log(mapping, log({"says": "locks", "rm": 2}, {"says": "tm_abort"}))
    assert amid.record.place == "record 2"
    assert str(amid.nearest[0]) == "rm_prepare(rm=2) would have written says prepared"
    denied = [LogRecord("record 1", {"says": "locks"}, denied="The other log has it otherwise.")]
    assert "has it otherwise" in str(check_log(mapping, denied))
