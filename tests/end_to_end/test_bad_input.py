"""Whatever is typed, pasted or piped into the kit: an exit code that is true, and one sentence.

A row is bad input, and the exit code that it must have. For each: no traceback, a short message on
standard error, and with --json one valid object, alone on standard output.
"""

import base64
import io
import json
import re
import zlib
from functools import partial
from xml.etree import ElementTree

import pytest

from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.compiler.conditions import predicate
from protocol_lab.drawing.picture_exports import FORMATS
from protocol_lab.errors import KitDefect, LabError, SpecError
from protocol_lab.explore import explore
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.liveness.check import check_property
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.scenarios import Scenario, parse_scenario, play, scenario_text
from protocol_lab.traces.text_exports import to_json
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

HOSTILE = ["", "x", "\x00", "\ud800", "é", "x" * 9_000, "{1}", "1;2"]
NO_NUMBER = [
    *("", " ", "x", "nan", "-inf", "²", "٣", "½", "1.5", "1e3", "1,000", "0x10", "--", "None"),
    *("true", "1_", "\x00", "é", "\ud800", "9" * 5_000, "1" + "0" * 400, "[1]", "{1}", "1;2"),
    "1 2",
]
WORDS: dict[str, list[str]] = {
    f"check {TINY} --set=max_id={{}}": NO_NUMBER,
    "check bookkeeper.v4_13 --set=recovery_reads_fence={}": ["-1", "2", "1.0", *HOSTILE],
    f"check {TINY} --max-states={{}}": [
        *NO_NUMBER,
        *("0", "-1", str(2**63), str(2**64), "1" + "0" * 39),
    ],
    f"check {TINY} --memory={{}}": [*HOSTILE, "0", "-0", "-1", "nan", "1e-10", "1e300", "1e999"],
    f"check {TINY} --config={{}}": ["Default", *HOSTILE],
    f"simulate {TINY} --config={{}}": ["Default", *HOSTILE],
    f"simulate {TINY} --walks={{}}": ["0", "-5", "1.5", "²", str(2**63)],
    f"simulate {TINY} --steps={{}}": ["0", "x", str(2**31), "99999999999999999999"],
    f"simulate {TINY} --seed={{}}": ["1.5", "", str(2**64), str(-(2**63) - 1)],
    f"simulate {TINY} --seconds={{}}": ["nan", "inf", "0", "-1", "1e300", "٣", "soon"],
    "check kafka.kip_320 --set={}": [
        *("self=2", "_replace=1", "__class__=1", "replicas", "=", "=2", "replicas=", "replicas==2"),
        *("cls=1", "values=1", "REPLICAS=2", "réplicas=2", "replicas =2", "\x00=1", "spec=1", " "),
        *("a" * 5_000 + "=1", "replicas=" + "x" * 5_000, "../x=1", "replicas=none", "count=1"),
    ],
    **{
        f"{command} {' '.join(SMALL)} --{option}={{}}": ["", "weak", "weak_isr ", *HOSTILE[2:6]]
        for command, option in [
            *(("check", each) for each in ("invariant", "property", "engine", "fairness")),
            ("simulate", "bias"),
        ]
    },
}
"""Command lines with a gap, and what may not stand there."""


@pytest.mark.parametrize("line", WORDS, ids=lambda line: line.split()[0] + line.split()[-1][:-3])
def test_what_an_option_refuses(capsys, line):
    for text in WORDS[line]:
        refused(capsys, 3, *(word.replace("{}", text) for word in line.split()))


OUT_OF_BOUNDS = {
    "max_states": [0, -1, 1.5, float("nan"), "many", True, 10**5_000, [1]],
    "memory_gib": [0, -1, float("nan"), float("inf"), 1e300, 10**400, "much", [1]],
    "walks": [0, 1.0, ""],
    "steps": [0, 10**20, None],
    "seconds": [0, -1, float("nan"), float("inf"), "soon"],
    "seed": [1.5, 10**5_000, None],
    "max_id": [-1, 10_000, 1.5, float("nan"), True, "²", 10**5_000, [1], {}, None, "9" * 5_000],
}


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_values_from_python(name):
    searches = [explore, partial(explore, engine="python"), partial(check_property, what=LED)]
    asked = {
        "max_states": searches,
        "memory_gib": searches,
        "max_id": [lambda model, **constants: model.spec.bind(**constants)],
    }
    for value in OUT_OF_BOUNDS[name]:
        for question in asked.get(name, [simulate]):
            led = getattr(question, "func", None) is check_property
            model = load("kafka.kip_320").bind(replicas=1) if led else load(TINY).bind()
            with pytest.raises(LabError, match=name) as raised:
                question(model, **{name: value})
            assert len(str(raised.value)) <= MOST


@pytest.mark.slow
def test_memory_bounds_the_reference_engine_too(capsys):
    words = ["check", *SMALL, "--engine", "python", "--memory", "0.001", "--json"]
    code, out, _ = run(capsys, *words)
    report = json.loads(out)
    assert (code, report["verdict"]) == (2, "undecided")
    assert "GiB of memory" in report["undecided_reason"]
    assert 0 < report["distinct"] < 10_000


NO_SPEC = [
    *("", ".", "..", "...", "kafka", "kafka.", ".kip_320", "kafka..kip_320", "kafka.kip_320."),
    *("kafka.kip_320.spec", "kafka.draw.logs", "kafka.__init__", "kafka/kip_320", "C:\\x.y", "-"),
    *("../kafka.kip_320", "kafka.kip_320.py", "kafka_spec.kip_3200", " kafka.kip_320"),
    "KAFKA.KIP_320",
    *("kafka.kip_320\n", "käfka.kip_320", "kafka.kip_３２０", "\x00.\x00", "\ud800.a", "%s.%d"),
    "{}.{}",
    *("os.path", "protocol_lab.cli", "kafka.model", "x" * 5_000, "x." * 5_000, "kafka.*", "~.~"),
]


@pytest.mark.slow
def test_names_that_are_no_spec(capsys):
    for name in NO_SPEC:
        said = refused(capsys, 3, "check", name)
        assert re.search("There is no (spec|file)|has no spec", said), name


@pytest.mark.parametrize(
    "words",
    [
        *([], [""], ["x" * 5_000], ["check"], ["check", "a", "b"], ["check", "--set"]),
        *(["check", TINY, "--what"], ["check", TINY, "--max-states"], ["replay"], ["\x00"]),
        *(["replay", "a", "b"], ["simulate"], ["specs", "x"], ["prepare", "x"], ["Check", TINY]),
        *(["check", TINY, "x" * 100_000], ["check", TINY, *["--x"] * 300]),
    ],
    ids=lambda words: ascii(words)[:25],
)
def test_words_that_are_no_command(capsys, words):
    refused(capsys, 3, *words)


# --- Files to be written -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["no folder/t.txt", "", ".", "t\x00.txt", "x" * 5_000])
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
    *("exit()", "print('x')", "await x", "(x := 1)", "x := 1", "lambda: 1", "yield 1"),
    "(lambda: 1)()",
    *("__import__('os')", "open('x')", "eval('1')", "s.__class__", "s._data", "c.__doc__"),
    "type(s)",
    *("getattr(s, 'x')", "globals()", "s()", "s.next_id()", "s.next_id.bit_length()", "(1)()"),
    *("{x for x in (1,)}", "{x: 1 for x in (1,)}", "{1}", "{1: 2}", "*s", "f'{s}'", "'a' * 9"),
    *("9**9**9", "2 ** (9 * 9)", "1 << 9999", "[0] * 10**10", "(0,) * 9", "'a' + 'b'", "..."),
    "b'a'",
    *("1.5 > s.next_id", "1j", "None", "s.next_id is None", "[1, 2][0:1]", "s.next_id = 1", "1; 2"),
    *("", " ", "#", "(", "1 +", "\x00", "\ud800", "²", "é == 1", "if s: 1", "import os", "s."),
    "@s",
    *("not " * 5_000 + "s", "-" * 20_000 + "1", "~" * 90 + "1", "1 + " * 9_000 + "1", "x" * 20_000),
    *("s", "s" + ".a" * 4_000, "s" + "[0]" * 500, "1 if " * 99 + "1", "async", "nonlocal x"),
    *("s.no_such_field", "c.no_such", "nothing > 1", "range > 1", "sys.exit()", "os"),
    "breakpoint()",
    *("\n", "1\n2", "):\n    import os\nif (1", "1)\nimport os\n(1", "1\\", "'", '"""', "s @ c"),
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
        *("True", "s.next_id < 2", " s.next_id < 2  # a comment", "s.next_id in (0, 1)", "1"),
        *("all(k < 9 for k in range(c.max_id))", "any([k > 1 for k in (1, 2)])"),
        "not not s.next_id",
        *("1 if s.next_id else 0", "2 ** s.next_id < 5", "abs(-s.next_id) < max(1, 2, c.max_id)"),
        *("not " * 40 + "True", "(" * 150 + "1" + ")" * 150, "size(3) == 2"),
        "-(-s.next_id) <= 0x10",
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
        *("[1]", "{1}", "{[1]}", '{"a"}', "(2,)", "{2}", "2.0", "'2'", "True", "None", "²", "٣"),
        *("1 + 1", "-" * 20_000 + "2", "[" * 300 + "2" + "]" * 300, "2j", "*[2]", "lambda: 2", "x"),
        *("f(2)", "set()", "{1: 2}", "...", "2, new_leader=2", "2, other=1", "2, **{}", "2, 1"),
        *("9" * 5_000, "99", "-2", "0", "\x00", "2)(", "2);exit(", "(2 if 1 else 2)", "{{}}"),
        *("f(a=1, a=2)", "x" * 20_000, "__import__('os')", "2 or 1", "'" + "a" * 9_000 + "'"),
    ],
    LOSE: ["1", "{-1}", "{[1]}", "{'a'}", "{None}", "{True}", "x", "f()", "[[1]]", "{1: 2}"],
    MEETS: [
        *("1", "{1}", "[1]", "None", "Wrong(leader_epoch=0)", "LeaderAndIsrRequest(0)", "{'a': 1}"),
        *("LeaderAndIsrRequest(no=1)", "LeaderAndIsrRequest(isr={[1]})", "{'leader': {}}"),
        *("LeaderAndIsrRequest(leader=[2])", "LeaderAndIsrRequest(leader=2, leader=2)"),
        *("LeaderAndIsrRequest(leader=LeaderAndIsrRequest())", "LeaderAndIsrRequest(**{})"),
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
    "value",
    ["LeaderAndIsrRequest()", "LeaderAndIsrRequest(isr=[1, 2])", "LeaderAndIsrRequest(leader=2)"],
)
def test_messages_that_are_meant(value):
    assert play(parse_scenario(MEETS.replace("{}", value))).moment.depth == 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"\n", 1),
        (b"\x00" * 100, 1),
        (bytes(range(256)), 2),
        (b"\xff\xfe#\x00 \x00s\x00", 1),
        (b"# spec:", 1),
        (b"# spec: ..", 1),
        (b"# spec: kafka.kip_320 replicas=2 replicas=3", 1),
        (b"# spec: kafka.kip_320 replicas", 1),
        (b"# spec: kafka.kip_320 self=1", 1),
        (b"# spec: kafka.kip_320 replicas=\xc2\xb2", 1),
        (b"# spec: " + b"x" * 100_000, 1),
        (b"# spec: kafka.kip_320\n\n!", 3),
        (b"# spec: kafka.kip_320\n!loops_to \xc2\xb2", 2),
        (b"# spec: kafka.kip_320\n!loops_to \xd9\xa3", 2),
        (b"# spec: kafka.kip_320\n!loops_to 0", 2),
        (b"# spec: kafka.kip_320\n!loops_to -1", 2),
        (b"# spec: kafka.kip_320\n!loops_to 2", 2),
        (b"# spec: kafka.kip_320\n!loops_to " + b"9" * 5_000, 2),
        (b"# spec: kafka.kip_320\n!proves x", 2),
        (b"# spec: kafka.kip_320\n!holds", 2),
        (b"# spec: kafka.kip_320\n!holds " + b"x" * 5_000, 2),
        (b"# spec: kafka.kip_320\n!blocked", 2),
        (b"# spec: kafka.kip_320\n!blocked x", 2),
        (b"# spec: kafka.kip_320\n!violates type_ok", 2),
        (b"# spec: kafka.kip_320\n!violates everybody_learns_who_leads under x", 2),
        (b"# spec: kafka.kip_320\r\n\r\nfly()", 3),
        (b"# spec: kafka.kip_320\rfly()", 2),
        (b"\xef\xbb\xbf# spec: kafka.kip_320\nfly()", 2),
        (b"\xef\xbb\xbf\xef\xbb\xbf# spec: kafka.kip_320\n", 1),
        (b"# spec: kafka.kip_320\nfly(\x00)", 2),
        (b"# spec: kafka.kip_320\n# fine\n\xff", 3),
        (b"# spec: kafka.kip_320\n" + b"x" * 3_000_000, 2),
        (b"# spec: kafka.kip_320\n" + b"(" * 9_000, 2),
        (b"# spec: kafka.kip_320\nbecome_leader", 2),
        (b"# spec: kafka.kip_320\nbecome_leader()()", 2),
        (b"# spec: kafka.kip_320\nbecome_leader(1)", 2),
        (b"# spec: kafka.kip_320\nkafka.become_leader()", 2),
        (b"# spec: kafka.kip_320\nbecome_leader(x=1)", 2),
        (b"# spec: kafka.kip_320\nbecome_leader()", 2),
        (b"# spec: kafka.kip_320\ninit(x=1)", 2),
        (b"# spec: kafka.kip_320\ninit()\ninit()", 3),
        (b"# spec: kafka.kip_320\ncontroller_elect_leader(new_leader=1)\ninit()", 3),
        (b"# spec: kafka.kip_320\ncontroller_elect_leader()", 2),
        (b"# spec: kafka.kip_320\n" + b"\n" * 50_000 + b"fly()", 50_002),
    ],
    ids=lambda each: ascii(each)[:40],
)
def test_malformed_files_name_the_line(capsys, tmp_path, content, line):
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    said = refused(capsys, 3, "replay", str(file), json_too=False)
    assert f"line {line}" in said.replace(",", " ").replace("  ", " ") or f"line {line:,}" in said


def test_files_that_are_none(capsys, tmp_path):
    large = tmp_path / "large.txt"
    large.write_bytes(b"# spec: kafka.kip_320\n" + b"x" * 10_000_000)
    names = [str(large), str(tmp_path), str(tmp_path / "missing.txt"), "", "\x00", "x" * 5_000]
    for name in names:
        said = refused(capsys, 3, "replay", name, json_too=False)
        assert said.startswith("The scenario file ")


def test_what_is_well_formed_is_read_whatever_its_line_ends(tmp_path, capsys):
    text = ELECT.format("2") + "!holds type_ok\n"
    for data in (
        text.encode(),
        text.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + text.encode(),
        text.rstrip("\n").encode(),
        text.replace("\n", "  # a caption\x0b\x0c\x85\x07\n").encode(),
    ):
        file = tmp_path / "mine.txt"
        file.write_bytes(data.replace(b"replicas=2  # a caption", b"replicas=2\n# "))
        assert run(capsys, "replay", str(file))[0] == 0


# --- Links and JSON ------------------------------------------------------------------------------


def packed(text: str | bytes) -> str:
    """A link with a right checksum, whatever is in it."""
    data = text if isinstance(text, bytes) else text.encode()
    pressed = zlib.compress(data, 9, wbits=-15)
    return (
        "lab1." + base64.urlsafe_b64encode(zlib.crc32(data).to_bytes(4, "big") + pressed).decode()
    )


def changed(**fields) -> str:
    """An exported walk with other fields."""
    walk = play(parse_scenario(ELECT.format("2")))
    return json.dumps({**json.loads(to_json(walk)), **fields})


def walk_of(text: str) -> Walk:
    found = read_pasted(text)
    return play(found) if isinstance(found, Scenario) else found


DEEP = 100_000
NO_LINKS = [
    *("lab1.", "lab1.A", "lab1.AAAA", "lab1.AAAAA", "lab1.????", "lab²." + "A" * 9, "lab1.\n\n"),
    *("lab2.AAAA", "lab" + "9" * 5_000 + ".AAAA", "lab1." + "A" * 50_000, "lab٣.AAAA", "lab1.é"),
    *("{", "{}", "[[", '{"spec": 1}', '{"spec": NaN}', '{"a":' * DEEP, '{"spec":' + "[" * DEEP),
]
PACKED = [
    *("", "x", b"\xff", "# spec: ", "# spec: kafka.kip_320 self=2", "# spec: kafka.kip_320\nfly()"),
    *("# spec: kafka.kip_320\n" + "a" * 2_000_000, "# spec: kafka.kip_320\n" + "a" * 20_000),
]
FIELDS = {
    "spec": [None, [], "\ud800.x"],
    "constants": [
        None,
        [["a", 1]],
        {"self": 1},
        {"replicas": [2]},
        {"replicas": 1e300},
        "replicas",
    ],
    "initial": [3, {}, "x" * 9_999],
    "steps": [None, [1], {}, [{"text": 1, "caption": ""}], "x"],
    "states": [None, [], [1, 2]],
    "loop_from": ["x", [1], -1, 1e400, 1.5, 0, 99, True],
}


@pytest.mark.parametrize("kind", ["link", "packed", *FIELDS])
def test_links_and_walks_that_are_malformed(kind):
    made = {"link": NO_LINKS, "packed": map(packed, PACKED)}
    for text in made.get(kind) or [changed(**{kind: value}) for value in FIELDS[kind]]:
        with pytest.raises(LabError) as raised:
            walk_of(text)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) <= MOST


# --- Captions ------------------------------------------------------------------------------------


CAPTIONS = [
    *("\x00", "\x01\x02\x1f", "\x0b\x0c", "\x1b[31m", "\x7f", "\x85\x9f", "\ud800", "\udfff\ud800"),
    *("\ufffe\uffff", "]]>", "<b>&amp;</b>", "--> <!-- <?x?>", "\u2028\u2029", "# !holds x"),
    "\r\n\r",
    *("'\"`${x}\\", "\u202e\u200b", "\U0001f600" * 50, "a" * 2_000, "\u0301" * 50),
    "%%{init}%% ;;end",
]


@pytest.mark.slow
@pytest.mark.parametrize("caption", CAPTIONS, ids=lambda text: ascii(text)[:20])
@pytest.mark.parametrize("name", FORMATS)
def test_every_export_of_every_caption_is_well_formed(name, caption):
    walk = play(parse_scenario(ELECT.format("2")))
    for moment in walk.path:
        moment.caption = f"x {caption} y"
    written = FORMATS[name].write(walk)
    if FORMATS[name].ending.endswith(".svg"):
        ElementTree.fromstring(written)
    if name == "json":
        assert json.loads(written)["caption"]
    else:
        written.encode()
        assert not any(ord(each) < 32 and each not in "\r\n\t" for each in written)
    if name in ("json", "link", "scenario"):
        found = walk_of(written)
        assert found.steps == walk.steps
        assert read_pasted(scenario_text(found)) == read_pasted(scenario_text(walk))


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
        *(RuntimeError("can't start new thread"), ZeroDivisionError(), RecursionError("x")),
        KeyError("x"),
        *(OSError(28, "No space left on device"), PermissionError(13, "no", "a file")),
        *(MemoryError(), SystemExit(0), SystemExit(None), SystemExit("x")),
        AssertionError("a\nb\nc"),
        *(ValueError("x" * 100_000), UnicodeEncodeError("ascii", "\ud800", 0, 1, "x"), EOFError()),
        *(ImportError("libx.so: failed to map"), StopIteration(), OverflowError()),
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
        ("liveness.check.StepGraph.fill", ["check", *ALONE, "--property", LED]),
        ("liveness.check._Check._judged", ["check", *ALONE, "--property", LED]),
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


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(5, "I/O error")])
def test_an_answer_that_can_not_be_written_is_a_failure(monkeypatch, error):
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise error

    said = io.StringIO()
    monkeypatch.setattr("sys.stdout", Full())
    monkeypatch.setattr("sys.stderr", said)
    assert main(["check", TINY, *PLAIN, "--json"]) == 4
    assert said.getvalue() == f"Standard output can't be written ({error.strerror}).\n"
    monkeypatch.setattr("sys.stderr", Full())
    assert main(["check", "nothing"]) == 3


def test_messages_are_whole_sentences_of_one_line():
    """The longest input, in the error class itself: whatever a message repeats."""
    assert len(str(LabError("x" * 10**7))) <= 3_000
