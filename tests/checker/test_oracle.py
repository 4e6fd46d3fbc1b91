"""What docs/decisions.md says of the oracle: which files a verdict rests on, and their length."""

import re
import sys
from pathlib import Path

from protocol_lab.checker.reference import PythonSearch
from protocol_lab.checker.request import SearchRequest
from tests import ROOT
from tests.spec_checks import bind

TEXT = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("\n## ")[0]
TRUSTED = {ROOT / each for each in re.findall(r"`(protocol_lab/[\w/]+\.py)`", TEXT)}

AROUND = {
    *(ROOT / "protocol_lab" / "checker" / each for each in ("request.py", "counterexample.py")),
    *(ROOT / "protocol_lab" / "system" / each for each in ("memory.py", "operating_system.py")),
}
"""What gives the initial states, measures memory, and tells a verdict's trace."""


def test_a_plain_search_runs_the_files_that_are_to_be_read_and_no_others():
    model, entered = bind("kafka.kip_966"), set()
    request = SearchRequest([*model.spec.invariants], [*model.spec.step_invariants], max_states=60)

    def note(frame, event, _):
        if event == "call":
            entered.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        result = PythonSearch(model, request).run()
    finally:
        sys.setprofile(None)
    assert result.distinct == 60
    kit = {each for each in entered if each.is_relative_to(ROOT / "protocol_lab")}
    assert kit - AROUND == TRUSTED


def test_they_are_as_short_as_it_says():
    lines = sum(len(each.read_text(encoding="utf-8").splitlines()) for each in TRUSTED)
    [most] = re.findall(r"fewer\s+than ([\d,]+)\s+lines", TEXT)
    assert 0 < int(most.replace(",", "")) - lines < 200
