"""Sessions by address, and what a task makes of rows that are not its own."""

import subprocess
import sys

import pytest

from protocol_lab import LabError
from protocol_lab.spark.executor.stages import expect_owner
from tests import ROOT
from tests.seldom import one_in


def test_a_task_refuses_what_was_sent_to_another_owner():
    expect_owner(2, [2, 2])
    expect_owner(2, [])
    with pytest.raises(LabError, match="the task of owner 2 what was sent to owner 3"):
        expect_owner(2, [2, 3])


@pytest.mark.rarely
@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "code", "said"),
    one_in(
        3,
        [
            pytest.param("local[2]", 0, "holds"),
            pytest.param("nonsense", 3, "There is no Spark session at nonsense: "),
            pytest.param("sc://localhost:1", 3, "There is no Spark session at sc://localhost:1: "),
        ],
    ),
)
def test_the_command_line_takes_the_address_of_a_session(address, code, said):
    words = ["check", "kafka.kip_320", "--set", "replicas=2", "--engine", "spark"]
    words += ["--set", "max_leader_epoch=1", "--session", address]
    command = [sys.executable, "-m", "protocol_lab", *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == code, ended.stderr
    assert said in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
