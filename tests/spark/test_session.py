"""Sessions by address and without Spark, rows of another owner, and a plan as a page keeps it."""

import io
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.spark.dataframes import same_in_every_run
from protocol_lab.spark.executor.stages import expect_owner
from protocol_lab.spark.packaging import KIT, _archive, ship, unpacker
from protocol_lab.spark.session import local_session
from tests import ROOT
from tests.work_units import one_in


def test_a_task_refuses_what_was_sent_to_another_owner():
    expect_owner(2, [2, 2])
    expect_owner(2, [])
    with pytest.raises(LabError, match="the task of owner 2 what was sent to owner 3"):
        expect_owner(2, [2, 3])


@pytest.mark.rarely
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


@pytest.mark.slow
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


# --- What is shipped -----------------------------------------------------------------------------


KIT_1, KIT_2 = "a_kit-0001.zip", "a_kit-0002.zip"
SPEC, OTHER = "a_spec-0001.zip", "another_spec-0001.zip"


def test_what_the_kits_modules_read_when_they_are_imported_is_shipped():
    """A spec in a notebook may use a module that imports all that the notebook uses."""
    with zipfile.ZipFile(io.BytesIO(_archive(KIT)[1])) as archive:
        names = archive.namelist()
    assert f"{KIT}/__init__.py" in names
    assert f"{KIT}/teaching/js/question_card.js" in names


class _Session:
    """Refuses what it has, as Spark does, and takes its time to say so."""

    def __init__(self):
        self.received = []

    def addArtifacts(self, path: str, file: bool) -> None:
        time.sleep(0.05)
        assert path not in self.received, "FileAlreadyExistsException"
        self.received.append(path)


def test_searches_that_begin_together_send_an_archive_once():
    session = _Session()
    with ThreadPoolExecutor(4) as threads:
        names = set(threads.map(lambda _: ship(session, [KIT]), range(4)))
    assert len(names) == len(session.received) == 1


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """A worker's folder with archives of two versions of a kit and of two specs that use it."""
    texts = {KIT_1: "VERSION = 1", KIT_2: "VERSION = 2"}
    texts |= dict.fromkeys((SPEC, OTHER), "import a_kit\n\nKIT = a_kit")
    for name, text in texts.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(f"{name.partition('-')[0]}.py", text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def version(*archives: str) -> int:
    """What the last archive's spec knows as the kit, which must be what the worker has."""
    unpacker(archives)()
    kit, spec = __import__("a_kit"), __import__(archives[-1].partition("-")[0])
    assert spec.KIT is kit
    return kit.VERSION


def test_a_spec_that_was_searched_before_another_has_the_same_kit_as_that(worker):
    assert [version(KIT_1, each) for each in (SPEC, OTHER, SPEC)] == [1, 1, 1]


def test_an_edit_arrives_and_so_does_its_undoing(worker):
    assert [version(each, SPEC) for each in (KIT_1, KIT_2, KIT_1)] == [1, 2, 1]


def test_what_is_there_stays_imported(worker):
    version(KIT_1, SPEC)
    before = sys.modules["a_spec"]
    version(KIT_1, SPEC)
    assert sys.modules["a_spec"] is before
