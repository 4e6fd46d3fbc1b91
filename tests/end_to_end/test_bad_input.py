"""Whatever is typed, pasted or piped into the kit: an exit code that is true, and one sentence.

A row is bad input, and the exit code that it must have. For each: no traceback, a short message on
standard error, and with --json one valid object, alone on standard output.
"""

import base64
import json
import zlib

import pytest

from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.compiler.conditions import predicate
from protocol_lab.errors import KitDefect, LabError, SpecError
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.traces.scenario_format import Scenario, parse_scenario
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.text_exports import to_itf
from protocol_lab.traces.walk import Walk

MOST = 1_000
"""Characters of a message: the longest lists every spec's name."""

TINY = "kafka.id_sequence"
SMALL = ["kafka.kip_320", "--set", "replicas=2"]
ALONE = ["kafka.kip_320", "--set", "replicas=1"]
LED = "everybody_learns_who_leads"
PLAIN = ["--engine", "python", "--max-states", "50"]


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, codes: int | set[int], *words: str, json_too: bool = True) -> str:
    """Run it without and with --json; the message. `codes`: one of these is the exit code."""
    wanted = {codes} if isinstance(codes, int) else codes
    code, out, err = run(capsys, *words)
    assert code in wanted, (code, out[:500], err[:500])
    assert "Traceback" not in out + err
    if code < 3:
        return out
    assert out == ""
    assert 10 < len(err) <= MOST, err
    assert err.count("\n") == 1, err
    if json_too:
        code, out, err = run(capsys, *words, "--json")
        assert code in wanted
        assert json.loads(out) == {"error": err.removesuffix("\n")}
    return err


# --- Words of a command --------------------------------------------------------------------------

NO_NUMBER = ["", "x", "nan", "1.5", "1e3", "1,000", "1 2"]
NO_NAME = ["", "weak", "weak_isr "]
WORDS: dict[str, list[str]] = {
    f"check {TINY} --set=max_id={{}}": [*NO_NUMBER, "-1", "10000"],
    "check bookkeeper.v4_13 --set=recovery_reads_fence={}": ["-1", "2", "1.0", "yes"],
    f"check {TINY} --max-states={{}}": [*NO_NUMBER, "0", "-1", "1" + "0" * 39],
    f"check {TINY} --memory={{}}": ["", "x", "0", "-1", "nan", "1e300"],
    f"check {TINY} --config={{}}": ["Default", ""],
    f"simulate {TINY} --config={{}}": ["Default", ""],
    f"check {TINY} --as-found={{}}": ["no", ""],
    f"simulate {TINY} --walks={{}}": ["0", "-5", "1.5"],
    f"simulate {TINY} --steps={{}}": ["0", "x", str(2**31)],
    f"simulate {TINY} --seed={{}}": ["1.5", "", str(2**64)],
    f"simulate {TINY} --seconds={{}}": ["nan", "inf", "0", "-1", "soon"],
    "check kafka.kip_320 --set={}": [
        *("brokers=2", "replicas", "=2", "replicas=", "replicas==2", "REPLICAS=2", "replicas =2"),
        *("replicas=none", "self=2", "__class__=1"),
    ],
    **{
        f"{command} {' '.join(SMALL)} --{option}={{}}": NO_NAME
        for command, option in [
            *(("check", each) for each in ("invariant", "property", "engine", "fairness")),
            ("simulate", "bias"),
        ]
    },
}
"""Command lines with a gap, and what may not stand there."""


@pytest.mark.slow
@pytest.mark.parametrize("line", WORDS, ids=lambda line: line.split()[0] + line.split()[-1][:-3])
def test_what_an_option_refuses(capsys, line):
    for text in WORDS[line]:
        refused(capsys, 3, *(word.replace("{}", text) for word in line.split()))


@pytest.mark.rarely
def test_memory_bounds_the_reference_engine_too(capsys):
    words = ["check", *SMALL, "--engine", "python", "--memory", "0.001", "--json"]
    code, out, _ = run(capsys, *words)
    report = json.loads(out)
    assert (code, report["verdict"]) == (2, "undecided")
    assert "GiB of memory" in report["undecided_reason"]
    assert 0 < report["distinct"] < 10_000


@pytest.mark.parametrize(
    "words",
    [
        *([], [""], ["check"], ["check", "a", "b"], ["check", "--set"], ["check", TINY, "--what"]),
        *(["check", TINY, "--max-states"], ["replay"], ["simulate"], ["prepare", "x"]),
        *(["Check", TINY], ["check", "kafka"], ["check", "kafka.kip_3200"], ["check", "os.path"]),
    ],
    ids=lambda words: ascii(words)[:25],
)
def test_words_that_are_no_command(capsys, words):
    refused(capsys, 3, *words)


# --- Files to be written -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["no folder/t.txt", "", "x" * 5_000])
def test_files_that_can_not_be_written(capsys, tmp_path, name):
    """Said before the search, which may take hours."""
    file = str(tmp_path / name) if name else str(tmp_path)
    words = ["check", *SMALL, "--trace", file]
    assert "can't be written" in refused(capsys, 3, *words)
    scenario = tmp_path / "s.txt"
    scenario.write_text(f"# spec: {TINY}\n", encoding="utf-8")
    picture = f"{file}.svg" if name.strip(".") else str(tmp_path / "no folder" / "t.svg")
    said = refused(capsys, 3, "replay", str(scenario), "--draw", picture, json_too=False)
    assert "can't be written" in said


# --- Conditions ----------------------------------------------------------------------------------


REFUSED_CONDITIONS = [
    *("", " ", "#", "(", "1 +", "1 2", "s.", "s.next_id = 1", "1; 2", "if s: 1", "import os"),
    *("lambda: 1", "x := 1", "await x", "yield 1", "print('x')", "open('x')", "__import__('os')"),
    *("s.__class__", "s._data", "getattr(s, 'x')", "type(s)", "s()", "s.next_id()", "(1)()"),
    *("{1: 2}", "*s", "f'{s}'", "1.5 > s.next_id", "None", "s @ c"),
    *("not " * 5_000 + "s", "s" + ".a" * 4_000),
    *("s", "s.no_such_field", "c.no_such", "nothing > 1", "range > 1", "sys.exit()"),
    "1)\nimport os\n(1",
]


@pytest.mark.slow
@pytest.mark.parametrize("condition", REFUSED_CONDITIONS, ids=lambda text: ascii(text)[:30])
def test_conditions_that_are_refused(capsys, condition):
    """Bad input; a crash would be 4, and a verdict nonsense."""
    refused(capsys, 3, "check", TINY, *PLAIN, f"--constraint={condition}")
    with pytest.raises(LabError):
        predicate(load(TINY).bind(), condition)


@pytest.mark.parametrize(
    "condition",
    [
        *("True", "s.next_id < 2  # a comment", "s.next_id in (0, 1)", "not not s.next_id"),
        *("all(k < 9 for k in range(c.max_id))", "any([k > 1 for k in (1, 2)])", "size(3) == 2"),
        *("1 if s.next_id else 0", "2 ** s.next_id < 5", "abs(-s.next_id) < max(1, 2, c.max_id)"),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_conditions_that_are_evaluated(capsys, condition):
    words = ["check", TINY, *PLAIN, f"--constraint={condition}", "--json"]
    code, out, _ = run(capsys, *words)
    assert code in (0, 2)
    assert json.loads(out)["engine"] == "python"


@pytest.mark.parametrize(
    "condition", ["1 // (s.next_id - 1) == 0 or True", "[1, 2][s.next_id] > 0", "1 << -s.next_id"]
)
def test_conditions_that_fail_later_are_no_verdict(capsys, condition):
    code, out, err = run(
        capsys, "check", TINY, "--engine", "python", "--constraint", condition, "--json"
    )
    report = json.loads(out)
    assert (code, report["verdict"], err) == (2, "undecided", "")
    assert report["undecided_reason"].endswith("in the condition")


# --- Scenario files ------------------------------------------------------------------------------

ELECT = "# spec: kafka.kip_320 replicas=2\ncontroller_elect_leader(new_leader={})\n"
LOSE = "# spec: bookkeeper.v4_13\nclient_creates_ledger(client=1, ensemble={})\n"
MEETS = (
    "# spec: kafka.kip_320 replicas=2\ncontroller_elect_leader(new_leader=2)\n"
    "become_leader(request={})\n"
)


NO_VALUES: dict[str, list[str]] = {
    ELECT: [
        *("[1]", "{2}", "2.0", "'2'", "None", "1 + 1", "x", "f(2)", "99", "-2", "0", "...", "{{}}"),
        *("2, new_leader=2", "2, other=1", "2, **{}", "2, 1", "2)(", "[" * 300 + "2" + "]" * 300),
    ],
    LOSE: ["1", "{-1}", "{[1]}", "{'a'}", "{None}", "x", "f()", "{1: 2}"],
    MEETS: [
        *("1", "{1}", "None", "Wrong(leader_epoch=0)", "LeaderAndIsrRequest(0)", "{'a': 1}"),
        *("LeaderAndIsrRequest(no=1)", "LeaderAndIsrRequest(isr={[1]})"),
        *("LeaderAndIsrRequest(leader=[2])", "LeaderAndIsrRequest(leader=2, leader=2)"),
    ],
}
"""Scenarios whose last line has a gap, and what is no node, set of nodes or message there."""


@pytest.mark.parametrize("scenario", NO_VALUES, ids=["node", "set", "message"])
def test_values_that_are_none(capsys, tmp_path, scenario):
    file = tmp_path / "mine.txt"
    for value in NO_VALUES[scenario]:
        file.write_text(scenario.replace("{}", value), encoding="utf-8")
        said = refused(capsys, 3, "replay", str(file), json_too=False)
        assert f"mine.txt, line {scenario.count(chr(10))}: " in said


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (b"", 1, "first line is `# spec: NAME`"),
        (b"\n", 1, ""),
        (b"# spec:", 1, ""),
        (b"# spec: kafka.kip_320 replicas=2 replicas=3", 1, ""),
        (b"# spec: kafka.kip_320 replicas", 1, "NAME=VALUE"),
        (b"# spec: kafka.kip_320\n\n!", 3, ""),
        (b"# spec: kafka.kip_320\n!loops_to 0", 2, ""),
        (b"# spec: kafka.kip_320\n!loops_to 2", 2, ""),
        (b"# spec: kafka.kip_320\n!proves x", 2, "is not known"),
        (b"# spec: kafka.kip_320\n!holds", 2, ""),
        (b"# spec: kafka.kip_320\n!blocked", 2, ""),
        (b"# spec: kafka.kip_320\n!blocked x", 2, ""),
        (b"# spec: kafka.kip_320\n!violates type_ok", 2, "type_ok is wrong: it holds here"),
        (b"# spec: kafka.kip_320\n!violates everybody_learns_who_leads under x", 2, ""),
        (b"# spec: kafka.kip_320\r\n\r\nfly()", 3, ""),
        (b"\xef\xbb\xbf# spec: kafka.kip_320\nfly()", 2, ""),
        (b"# spec: kafka.kip_320\n# fine\n\xff", 3, ""),
        (b"# spec: kafka.kip_320\nbecome_leader", 2, ""),
        (b"# spec: kafka.kip_320\nbecome_leader(1)", 2, ""),
        (b"# spec: kafka.kip_320\nkafka.become_leader()", 2, ""),
        (b"# spec: kafka.kip_320\nbecome_leader(x=1)", 2, ""),
        (b"# spec: kafka.kip_320\nbecome_leader()", 2, ""),
        (b"# spec: kafka.kip_320\ninit(x=1)", 2, ""),
        (b"# spec: kafka.kip_320\ninit()\ninit()", 3, ""),
        (b"# spec: kafka.kip_320\ncontroller_elect_leader(new_leader=1)\ninit()", 3, ""),
        (b"# spec: kafka.kip_320\ncontroller_elect_leader()", 2, ""),
        (b"# spec: kafka.nothing\n", 1, "There is no spec"),
        (b"# spec: kafka.kip_320\nleader_write(replica=1)\n", 2, "can't happen here"),
        (b"# spec: kafka.kip_320\n!violates no_such\n", 2, "there is no invariant"),
        (
            b"# spec: kafka.kip_320\n!blocked controller_elect_leader(new_leader=1)",
            *(2, "is wrong: the step can be taken here"),
        ),
    ],
    ids=lambda each: ascii(each)[:40],
)
def test_malformed_files_name_the_line(capsys, tmp_path, content, line, told):
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    said = refused(capsys, 3, "replay", str(file), json_too=False)
    assert f"line {line}" in said.replace(",", " ").replace("  ", " ") or f"line {line:,}" in said
    assert told in said


def test_files_that_are_none(capsys, tmp_path):
    large = tmp_path / "large.txt"
    large.write_bytes(b"# spec: kafka.kip_320\n" + b"x" * 10_000_000)
    names = [str(large), str(tmp_path), str(tmp_path / "missing.txt"), ""]
    for name in names:
        said = refused(capsys, 3, "replay", name, json_too=False)
        assert said.startswith("The scenario file ")


# --- Links and JSON ------------------------------------------------------------------------------


def packed(text: str | bytes) -> str:
    """A link with a right checksum, whatever is in it."""
    data = text if isinstance(text, bytes) else text.encode()
    pressed = zlib.compress(data, 9, wbits=-15)
    return (
        "lab1." + base64.urlsafe_b64encode(zlib.crc32(data).to_bytes(4, "big") + pressed).decode()
    )


def changed(name: str, value) -> str:
    """An exported walk with another value of one field."""
    found = json.loads(to_itf(play(parse_scenario(ELECT.format("2")))))
    (found if name in ("states", "vars", "loop") else found["#meta"])[name] = value
    return json.dumps(found)


def walk_of(text: str) -> Walk:
    found = read_pasted(text)
    return play(found) if isinstance(found, Scenario) else found


NO_LINKS = [
    *("lab1.", "lab1.A", "lab1.AAAA", "lab1.????", "lab2.AAAA", "lab1." + "A" * 50_000),
    *("{", "{}", "[[", '{"spec": 1}', '{"spec":' + "[" * 100_000),
]
PACKED = [
    "",
    "x",
    b"\xff",
    "# spec: kafka.kip_320\nfly()",
    "# spec: kafka.kip_320\n" + "a" * 2_000_000,
]
FIELDS = {
    "spec": [None, []],
    "constants": [None, {"self": 1}, {"replicas": [2]}, "replicas"],
    "initial": [3, {}],
    "vars": [None, [1], ["x"]],
    "states": [None, [1, 2], [{"#meta": {"step": 1}}]],
    "loop": ["x", -1, 1.5, 99],
}


@pytest.mark.parametrize("kind", ["link", "packed", *FIELDS])
def test_links_and_walks_that_are_malformed(kind):
    made = {"link": NO_LINKS, "packed": map(packed, PACKED)}
    for text in made.get(kind) or [changed(kind, value) for value in FIELDS[kind]]:
        with pytest.raises(LabError) as raised:
            walk_of(text)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) <= MOST


# --- Failures that are no verdict ----------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch):
    """A command line whose search raises what it is given."""

    def fail_with(error: BaseException) -> None:
        def explore(*_, **__):
            print("said by the spec")
            raise error

        monkeypatch.setattr("protocol_lab.explore.explore", explore)

    return fail_with


@pytest.mark.parametrize(
    "error",
    [
        *(SpecError("type_ok failed"), KitDefect("compiled and plain code disagree")),
        *(KeyError("x"), OSError(28, "No space left on device"), MemoryError(), SystemExit(0)),
        *(AssertionError("a\nb\nc"), ValueError("x" * 100_000), StopIteration()),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_crash_is_no_verdict(capsys, failing, error):
    failing(error)
    code, out, err = run(capsys, "check", TINY, "--json")
    said = err.removeprefix("said by the spec\n")
    assert code == 4
    assert json.loads(out) == {"error": said.removesuffix("\n")}
    assert said.count("\n") == 1
    assert len(said) <= MOST
    assert "Traceback" not in err


def test_a_crash_says_where(capsys, failing):
    failing(RuntimeError("something odd"))
    _, out, _ = run(capsys, "check", TINY, "--json")
    said = json.loads(out)["error"]
    assert "RuntimeError: something odd; in cli.py line " in said
    assert "test_bad_input.py line " in said


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("checker.reference.PythonSearch._take_in", ["check", TINY, "--engine", "python"]),
        ("simulation.random_walks.Walks.__init__", ["simulate", TINY]),
        ("simulation.coverage_estimate.Sightings.add", ["simulate", TINY]),
        ("liveness.property_check.StepGraph.fill", ["check", *ALONE, "--property", LED]),
        ("liveness.check.TemporalCheck._judged", ["check", *ALONE, "--property", LED]),
    ],
)
def test_a_full_memory_is_undecided(capsys, monkeypatch, place, words):
    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(f"protocol_lab.{place}", no_memory)
    code, out, _ = run(capsys, *words, "--json")
    report = json.loads(out)
    assert (code, report["verdict"], report["exhaustive"]) == (2, "undecided", False)
    assert "no more memory" in report["undecided_reason"]
