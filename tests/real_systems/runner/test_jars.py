"""Jars are fetched once, what keeps them from coming is a sentence, and Java is called."""

import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest

from protocol_lab.errors import LabError
from real_systems.kafka.cluster import jars_of
from real_systems.runner import jars
from real_systems.runner.jars import Artifact, fetched_jars
from real_systems.runner.java_gateway import JavaGateway, cause_of
from real_systems.runner.processes import Processes

WANTED = [Artifact("org.example", "thing", "1.0.0")]


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(jars, "java_program", lambda: "java")
    monkeypatch.setattr(jars, "_ivy_jar", lambda: "ivy.jar")
    return tmp_path


@pytest.fixture
def ivy(cache, monkeypatch):
    """What Ivy does: an exit code, what it prints, and the files that it brings."""

    def answers(code: int = 0, printed: str = "", brings: tuple[str, ...] = ()) -> None:
        def run(command, **_):
            place = Path(command[command.index("-retrieve") + 1]).parent
            for name in brings:
                place.mkdir(exist_ok=True)
                (place / name).touch()
            return subprocess.CompletedProcess(command, code, printed, "")

        monkeypatch.setattr(jars.subprocess, "run", run)

    return answers


def test_jars_are_fetched_once(ivy):
    said = []
    ivy(brings=("b.jar", "a.jar"))
    assert [each.name for each in fetched_jars("thing-1.0.0", WANTED, said.append)] == [
        "a.jar",
        "b.jar",
    ]
    ivy(1, "it is not asked again")
    fetched_jars("thing-1.0.0", WANTED, said.append)
    assert said == ["Fetching thing-1.0.0 (once, about 40 MB)"]


@pytest.mark.parametrize("damage", [Path.unlink, lambda jar: jar.write_bytes(b"PK changed")])
def test_damaged_jars_are_fetched_again(ivy, cache, damage):
    said = []
    ivy(brings=("b.jar", "a.jar"))
    kept = fetched_jars("thing-1.0.0", WANTED, said.append)
    damage(kept[0])
    assert [each.read_bytes() for each in fetched_jars("thing-1.0.0", WANTED, said.append)] == [
        b"",
        b"",
    ]
    assert said[1:] == [
        f"Something in {cache / 'jars' / 'thing-1.0.0'} is damaged or missing.",
        "Fetching thing-1.0.0 (once, about 40 MB)",
    ]


def test_what_was_not_tested_is_refused(ivy, cache, monkeypatch):
    ivy(brings=("b.jar",))
    folder = fetched_jars("thing-1.0.0", WANTED, print)[0].parent
    tested = jars._digest((folder / "SHA256SUMS").read_bytes())
    monkeypatch.setitem(jars.TESTED_JARS, "thing-1.0.0", tested)
    (folder / "b.jar").unlink()
    ivy(brings=("c.jar",))
    with pytest.raises(LabError, match="is not what this kit was tested with: try again"):
        fetched_jars("thing-1.0.0", WANTED, print)
    assert not (cache / "jars" / "thing-1.0.0").exists()


@pytest.mark.parametrize(
    ("printed", "sentence"),
    [
        ("java.net.UnknownHostException: repo1.maven.org", "can't be fetched without a network"),
        ("Host repo1.maven.org not found. url=https://repo1.maven.org/x", "without a network"),
        ("\t\t:: org.apache.kafka#kafka_2.13;9.9.9: not found", "has no kafka_2.13 9.9.9: is the"),
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("java.lang.IllegalStateException: odd", r"\(java.lang.IllegalStateException: odd\)"),
        ("", "it gave no reason"),
    ],
)
def test_what_ivy_can_not_bring_gets_a_sentence(ivy, cache, printed, sentence):
    ivy(1, printed, brings=("half.jar",))
    with pytest.raises(LabError, match=sentence):
        fetched_jars("thing-1.0.0", WANTED, print)
    assert [each.name for each in (cache / "jars").iterdir()] == []


def test_a_fetch_that_takes_too_long_says_so(cache, monkeypatch):
    late = Mock(side_effect=subprocess.TimeoutExpired("java", 900))
    monkeypatch.setattr(jars.subprocess, "run", late)
    with pytest.raises(LabError, match=r"\(it took more than 15 minutes\): try again, or name"):
        fetched_jars("thing-1.0.0", WANTED, print)
    assert [each.name for each in (cache / "jars").iterdir()] == []


def test_an_unpacked_release_is_taken_if_it_is_the_one_that_is_asked_for(ivy, cache, monkeypatch):
    libraries = cache / "kafka" / "libs"
    monkeypatch.setenv("KAFKA_HOME", str(libraries.parent))
    with pytest.raises(LabError, match=r"There are no jars in .*libs"):
        jars_of("4.3.1", print)
    libraries.mkdir(parents=True)
    (libraries / "kafka_2.13-4.3.1.jar").touch()
    assert [each.parent for each in jars_of("4.3.1", print)] == [libraries]
    ivy(brings=("kafka_2.13-3.9.2.jar",))
    assert [each.name for each in jars_of("3.9.2", print)] == ["kafka_2.13-3.9.2.jar"]


def test_a_session_of_spark_does_not_change_what_a_call_of_java_fails_with():
    captured = pytest.importorskip("pyspark.errors.exceptions.captured")
    import py4j.java_gateway

    with pytest.MonkeyPatch.context() as patch, Processes() as processes:
        patch.setattr(py4j.java_gateway, "get_return_value", py4j.java_gateway.get_return_value)
        captured.install_exception_handler()  # as each session does
        gateway = JavaGateway(processes, [])
        with pytest.raises(Exception) as caught:  # noqa: PT011 - py4j's own
            gateway.jvm.java.lang.Integer.parseInt("x")
        assert cause_of(caught.value) == ("NumberFormatException", 'For input string: "x"')
        gateway.close()
