"""Sessions by address and without Spark, rows of another owner, and a plan as a page keeps it."""

import subprocess
import sys

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.spark.executor.stages import expect_owner
from protocol_lab.spark.plans import same_in_every_run
from protocol_lab.spark.session import local_session
from tests import ROOT
from tests.work_units import one_in


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
            pytest.param(
                "spark://localhost:1", 3, "There is no Spark session at spark://localhost:1: "
            ),
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


# --- Without Spark -------------------------------------------------------------------------------


@pytest.fixture
def without_spark(monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)


def test_without_spark_a_search_and_a_session_say_so(without_spark):
    model = load("kafka.finite_replicated_log").bind()
    for ask in (lambda: explore(model, engine="spark"), local_session):
        with pytest.raises(LabError, match=r"python3 lab\.py --with-spark"):
            ask()


# --- Plans ---------------------------------------------------------------------------------------


PLAN = """== Physical Plan ==
* Exchange (2)
+- Scan parquet (1)


(1) Scan parquet
Output [2]: [fingerprint#12L, depth#13]
Location: InMemoryFileIndex [file:/somewhere/states, ... 3 entries]

(2) Exchange
Arguments: hashpartitioning(depth#13, 2), ENSURE_REQUIREMENTS, [plan_id=64]
"""


def test_numbers_of_columns_and_plans_and_paths_are_left_out():
    kept = same_in_every_run(PLAN)
    assert "Output [2]: [fingerprint, depth]" in kept
    assert "hashpartitioning(depth, 2), ENSURE_REQUIREMENTS\n" in kept + "\n"
    assert "InMemoryFileIndex [file:/…, ... 3 entries]" in kept
    assert same_in_every_run(PLAN.replace("#13", "#77").replace("=64", "=65")) == kept
