"""A search whose run folder is in S3: the same counts, resumed, and troubles in one sentence."""

import pytest

from kafka_spec import kip_320
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.request import SearchRequest
from protocol_lab.cli import main
from protocol_lab.errors import LabError
from protocol_lab.spark.distances import steps_to
from protocol_lab.spark.session import local_session
from tests.end_to_end.level_records import INTERRUPTED_AT, PARTITIONS, model, search
from tests.spark.s3_on_loopback import S3, s3
from tests.spark.test_spark import SMALL, interrupted_at, on_spark, request, same
from tests.spec_checks import NO_SESSION, spark_search

pytestmark = pytest.mark.slow  # each test searches a store over HTTP


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict:
    """The counts in a local folder."""
    return search(tmp_path_factory.mktemp("local") / "run")


@pytest.fixture
def store(monkeypatch) -> S3:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with s3() as server:
        yield server


def last(store: S3, kind: str) -> str:
    """The key of the last object of a kind."""
    return max(key for key in store.objects if key.endswith(kind))


def flip(store: S3, kind: str) -> bytes:
    """Change the last bit of an object; what it is then."""
    key = last(store, kind)
    content = store.objects[key]
    store.objects[key] = content[:-1] + bytes([content[-1] ^ 1])
    return store.objects[key]


def test_a_search_in_a_store_has_the_same_counts(store, expected):
    assert search(store.address("my%20run")) == expected
    assert {key.partition("/")[0] for key in store.objects} == {"my run"}
    assert search(store.address("my%20run").replace("s3:", "s3a:")) == expected


@pytest.mark.parametrize("kind", ["", ".parquet", ".run"])
def test_an_interrupted_search_goes_on_and_notices_what_is_damaged(store, expected, kind):
    folder = store.address("run")
    assert search(folder, INTERRUPTED_AT) != expected
    kept = store.objects[last(store, "level-00003.json")]
    damaged = flip(store, kind) if kind else None
    assert search(folder) == expected
    assert damaged not in store.objects.values()
    assert kept in store.objects.values()


def test_a_store_that_refuses_for_a_while_loses_nothing(store, expected):
    folder = store.address("run")
    search(folder, INTERRUPTED_AT)
    before = {key: each for key, each in store.objects.items() if not key.endswith("lock")}
    for denied in (r"level-\d+\.json", r"\.parquet", r"\.run"):
        store.denied = denied
        with pytest.raises(LabError, match="access is denied: set AWS_PROFILE"):
            search(folder)
        assert before.items() <= store.objects.items()
    store.denied = "^$"
    assert search(folder) == expected


def test_the_later_of_two_searches_takes_the_folder_over(store, expected):
    folder = store.address("run")

    def progress(result, frontier, seconds) -> None:
        if result.depth == 2:
            assert search(folder) == expected

    asked = SearchRequest(*model().choose(None), progress=progress)
    with pytest.raises(LabError, match=r"Another search works in s3://bucket/run now: "):
        spark_search(model(), asked, NO_SESSION, folder, partitions=PARTITIONS).run()
    assert search(folder) == expected


BAD = {
    "ftp://somebody:secret@host/run": "an address begins with s3:// or hdfs://",
    "s3:///run": "Missing bucket name",
    "s3://somebody:secret@bucket/a run": "Cannot parse",
    "s3://somebody:secret@bucket/run?regoin=x": "Unexpected query parameter in S3 URI: 'regoin'",
    "hdfs://namenode.invalid:8020/run": "PyArrow finds no Hadoop: set JAVA_HOME, HADOOP_HOME, and",
}


@pytest.mark.parametrize("address", BAD)
def test_a_bad_address_is_refused_in_one_sentence(capsys, monkeypatch, address):
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["check", "kafka.kip_320", "--engine", "spark", "--folder", address]) == 3
    said = capsys.readouterr().err
    assert f"can't be used: {BAD[address]}" in said
    assert said.endswith(".\n")
    assert said.count("\n") == 1
    assert "secret" not in said


def test_a_bucket_that_does_not_exist_and_a_folder_in_use_are_refused(store):
    nobody = store.address("run").replace(f":{store.server_port}", ":1")
    with pytest.raises(LabError, match=r"^s3://bucket/run\S* can't be used: it can't be reached"):
        search(nobody)
    with pytest.raises(LabError, match=r"^s3://other/run\S* can't be used: there is no such bucke"):
        search(store.address("run", "other"))
    store.objects["run/notes.txt"] = b"of somebody"
    with pytest.raises(LabError, match="s3://bucket/run is not empty, but has no search"):
        search(store.address("run"))


# --- With Spark ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session():
    session = local_session()
    yield session
    session.stop()


@pytest.mark.rarely
@pytest.mark.spark
def test_all_levels_on_spark_in_a_store(store, session):
    bound = kip_320.spec.bind(**SMALL)
    folder = store.address("run")
    options = {"driver_below": 0, "folder": folder}
    first = on_spark(bound, request(bound, progress=interrupted_at(8)), session, **options)
    assert (first.result.undecided_reason, first.result.depth) == ("interrupted", 8)
    damaged = flip(store, ".parquet")
    again = on_spark(bound, request(bound), session, **options)
    same(again.result, NativeSearch(bound, request(bound)).run())
    assert damaged not in store.objects.values()
    assert [level["where"] for level in again.result.levels[8:]] == ["spark"] * (
        len(again.result.levels) - 8
    )
    assert again.states(session).count() == again.result.distinct
    refused = (
        "Tables are not kept in a store: name a folder that all machines see, not s3://bucket/t"
    )
    with pytest.raises(LabError, match=refused):
        again.save(store.address("tables"), session)
    with pytest.raises(LabError, match=refused):
        steps_to(session, store.address("tables"))
