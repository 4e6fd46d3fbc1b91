"""Whatever is typed, pasted or piped into the kit: an exit code that is true, and one sentence.

A row is bad input, and the exit code that it must have. For each: no traceback, a short message on
standard error, and with --json one valid object, alone on standard output.
"""

import base64
import io
import json
import re
import zlib
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
NUMBER_LIKE = [
    *("", " ", "x", "nan", "NaN", "inf", "-inf", "infinity", "²", "٣", "３", "½", "1.5", "1e3"),
    *("1,000", "0x10", "--", "None", "true", "1_", "_1", "1__0", "\x00", "é", "\ud800"),
    *("9" * 5_000, "-" * 300 + "1", "1" + "0" * 400, "[1]", "{1}", "1;2", "1 2"),
]


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


# --- Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        "--max-states",
        "--memory",
        # They are read as --max-states is.
        *(
            pytest.param(each, marks=pytest.mark.rarely)
            for each in ("--walks", "--steps", "--seed")
        ),
    ],
)
@pytest.mark.parametrize("text", NUMBER_LIKE, ids=lambda text: ascii(text)[:20])
def test_what_is_no_number_of_an_option(capsys, option, text):
    command = "check" if option in ("--max-states", "--memory") else "simulate"
    if option == "--memory" and text in ("1.5", "1e3"):
        assert refused(capsys, {0}, command, TINY, option, text)
        return
    refused(capsys, 3, command, TINY, f"{option}={text}")


@pytest.mark.parametrize("text", ["", "x", "Default", "x" * 9_000, "\x00", "\ud800"], ids=ascii)
@pytest.mark.parametrize("command", ["check", "simulate"])
def test_what_is_no_configuration(capsys, command, text):
    said = refused(capsys, 3, command, TINY, f"--config={text}")
    assert "has no configuration" in said
    assert "it has: default." in said


@pytest.mark.parametrize("text", NUMBER_LIKE, ids=lambda text: ascii(text)[:20])
def test_what_is_no_number_of_a_constant(capsys, text):
    refused(capsys, 3, "check", TINY, "--set", f"max_id={text}")


@pytest.mark.parametrize(
    "text", [*NUMBER_LIKE, "-1", "2", "1.0"], ids=lambda text: ascii(text)[:20]
)
def test_what_is_no_choice(capsys, text):
    if text == "true":
        return
    words = ["check", "bookkeeper.v4_13", "--set", f"recovery_reads_fence={text}"]
    refused(capsys, 3, *words)


@pytest.mark.parametrize(
    ("command", "option", "text"),
    [
        ("check", "--max-states", "0"),
        ("check", "--max-states", "-1"),
        ("check", "--max-states", str(2**63)),
        ("check", "--max-states", str(2**64)),
        ("check", "--max-states", "1" + "0" * 39),
        ("check", "--memory", "0"),
        ("check", "--memory", "-1"),
        ("check", "--memory", "1e-10"),
        ("check", "--memory", "1e300"),
        ("check", "--memory", "1e999"),
        ("check", "--memory", "-0"),
        ("simulate", "--walks", "0"),
        ("simulate", "--walks", "-5"),
        ("simulate", "--walks", str(2**63)),
        ("simulate", "--steps", "0"),
        ("simulate", "--steps", "99999999999999999999"),
        ("simulate", "--steps", str(2**31)),
        ("simulate", "--seed", str(2**64)),
        ("simulate", "--seed", str(-(2**63) - 1)),
        ("simulate", "--seconds", "nan"),
        ("simulate", "--seconds", "inf"),
        ("simulate", "--seconds", "0"),
        ("simulate", "--seconds", "-1"),
        ("simulate", "--seconds", "1e300"),
        ("simulate", "--seconds", "٣"),
        ("simulate", "--seconds", "soon"),
    ],
)
def test_numbers_out_of_bounds(capsys, command, option, text):
    refused(capsys, 3, command, TINY, f"{option}={text}")


@pytest.mark.parametrize(
    "options",
    [
        {"max_states": 0},
        {"max_states": -1},
        {"max_states": 1.5},
        {"max_states": float("nan")},
        {"max_states": "many"},
        {"max_states": True},
        {"max_states": 10**5_000},
        {"max_states": [1]},
        {"memory_gib": 0},
        {"memory_gib": -1},
        {"memory_gib": float("nan")},
        {"memory_gib": float("inf")},
        {"memory_gib": 1e300},
        {"memory_gib": 10**400},
        {"memory_gib": "much"},
        {"memory_gib": [1]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_numbers_of_a_search_from_python(options):
    model = load(TINY).bind()
    for engine in ("python", "native"):
        with pytest.raises(LabError, match=next(iter(options))) as raised:
            explore(model, engine=engine, **options)
        assert len(str(raised.value)) <= MOST
    with pytest.raises(LabError, match=next(iter(options))):
        check_property(
            load("kafka.kip_320").bind(replicas=1), "everybody_learns_who_leads", **options
        )


@pytest.mark.parametrize(
    "options",
    [
        {"walks": 0},
        {"walks": 1.0},
        {"walks": "2"[:0]},
        {"steps": 0},
        {"steps": 10**20},
        {"steps": None},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": "soon"},
        {"seed": 1.5},
        {"seed": 10**5_000},
        {"seed": None},
    ],
    ids=lambda options: next(iter(options)),
)
def test_numbers_of_a_simulation_from_python(options):
    with pytest.raises(LabError, match=next(iter(options))) as raised:
        simulate(load(TINY).bind(), **options)
    assert len(str(raised.value)) <= MOST


@pytest.mark.parametrize(
    "value",
    [-1, 10_000, 1.5, float("nan"), True, "²", "٣", 10**5_000, [1], {}, None, b"1", "9" * 5_000],
    ids=lambda value: type(value).__name__,
)
def test_numbers_of_constants_from_python(value):
    with pytest.raises(LabError, match="max_id") as raised:
        load(TINY).bind(max_id=value)
    assert len(str(raised.value)) <= MOST


@pytest.mark.slow
def test_memory_bounds_the_reference_engine_too(capsys):
    words = ["check", *SMALL, "--engine", "python", "--memory", "0.001", "--json"]
    code, out, _ = run(capsys, *words)
    report = json.loads(out)
    assert (code, report["verdict"]) == (2, "undecided")
    assert "GiB of memory" in report["undecided_reason"]
    assert 0 < report["distinct"] < 10_000


# --- Names ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "...", "kafka", "kafka.", ".kip_320", "kafka..kip_320", "kafka.kip_320."),
        *("kafka.kip_320.spec", "kafka.draw.logs", "kafka.__init__", "kafka.exercises.x"),
        *(
            "kafka/kip_320",
            "../kafka.kip_320",
            "kafka.kip_320.py",
            "kafka_spec.kip_3200",
            "C:\\x.y",
        ),
        *("kafka kip_320", " kafka.kip_320", "kafka.kip_320\n", "kafka.kip-320", "KAFKA.KIP_320"),
        *("käfka.kip_320", "kafka.kip_３２０", "kafka.²", "\x00.\x00", "\ud800.a", "a.b", "%s.%d"),
        *("os.path", "protocol_lab.cli", "kafka.model", "x" * 5_000, "x." * 5_000, "{}.{}"),
        *("kafka.situations", "*", "kafka.*", "-", "~.~", "$HOME.x", "`id`.x", "toy.letters"),
    ],
    ids=lambda name: ascii(name)[:25],
)
def test_names_of_specs(capsys, name):
    words = ["check", "--", name] if name.startswith("-") else ["check", name]
    if name == "-":
        words = ["check", name]
    said = refused(capsys, 3, *words)
    assert re.search("There is no (spec|file)|has no spec", said)


@pytest.mark.parametrize(
    "setting",
    [
        *("self=2", "_replace=1", "__class__=1", "replicas", "=", "=2", "replicas=", "replicas==2"),
        *("replicas=2=3", "cls=1", "values=1", "REPLICAS=2", "réplicas=2", "replicas =2", "\x00=1"),
        *("constants=1", "spec=1", "a" * 5_000 + "=1", "replicas=" + "x" * 5_000, "../x=1", " "),
        *("replicas=2;max_records=1", "replicas=none", "count=1", "index=0"),
    ],
    ids=lambda setting: ascii(setting)[:25],
)
def test_names_and_values_of_constants(capsys, setting):
    refused(capsys, 3, "check", "kafka.kip_320", "--set", setting)


@pytest.mark.parametrize("given", ["", "weak", "weak_isr ", "x" * 5_000, "\x00", "__doc__", "é"])
def test_names_of_properties(capsys, given):
    refused(capsys, 3, "check", *SMALL, "--invariant", given)
    refused(capsys, 3, "check", *SMALL, "--property", given)
    refused(capsys, 3, "check", *SMALL, "--engine", given)
    refused(capsys, 3, "check", *SMALL, "--fairness", given)
    refused(capsys, 3, "simulate", *SMALL, "--bias", given)


@pytest.mark.parametrize(
    "words",
    [
        *([], [""], ["x" * 5_000], ["check"], ["check", "a", "b"], ["check", "--set"]),
        *(["check", TINY, "--what"], ["check", TINY, "--max-states"], ["replay"], ["\x00"]),
        *(["replay", "a", "b"], ["simulate"], ["specs", "x"], ["prepare", "x"], ["Check", TINY]),
        ["check", TINY, "x" * 100_000],
        ["check", TINY, *["--x"] * 300],
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
    *("exit()", "quit()", "print('x')", "await x", "(x := 1)", "x := 1", "lambda: 1", "yield 1"),
    *("(lambda: 1)()", "__import__('os')", "open('x')", "eval('1')", "exec('1')", "input()"),
    *("s.__class__", "s._data", "c.__doc__", "type(s)", "getattr(s, 'x')", "globals()", "vars()"),
    *("predicate(s, c)", "s()", "c()", "s.next_id()", "s.next_id.bit_length()", "str(1)", "(1)()"),
    *(
        "{x for x in (1,)}",
        "{x: 1 for x in (1,)}",
        "{1}",
        "{}",
        "{1: 2}",
        "*s",
        "f'{s}'",
        "'a' * 9",
    ),
    *(
        "9**9**9",
        "2 ** (9 * 9)",
        "9 ** 9999",
        "1 << 9999",
        "1 << (1 << 40)",
        "[0] * 10**10",
        "(0,) * 9",
        "'a' + 'b'",
        "...",
        "b'a'",
    ),
    *("1.5 > s.next_id", "1j", "None", "s.next_id is None", "[1, 2][0:1]", "s.next_id = 1", "1; 2"),
    *("", " ", "#", "(", ")", "1 +", "\x00", "\ud800", "²", "é == 1", "if s: 1", "import os", "s."),
    *("not " * 5_000 + "s", "s.next_id\n< 2", "-" * 20_000 + "1", "~" * 90 + "1"),
    *(
        "s",
        "x" * 20_000,
        "1 + " * 9_000 + "1",
        "s" + ".a" * 4_000,
        "s" + "[0]" * 500,
        "1 if " * 99 + "1",
    ),
    *("async", "[x async for x in s]", "nonlocal x", "s.no_such_field", "c.no_such", "nothing > 1"),
    *("range", "next_id(s, c, 1) == ''"[:0] + "exit", "sys.exit()", "os", "help()", "breakpoint()"),
    *(
        "\n",
        "1\n2",
        "):\n    import os\nif (1",
        "1)\nimport os\n(1",
        "1\\",
        "'",
        '"""',
        "@s",
        "s @ c",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("condition", REFUSED_CONDITIONS, ids=lambda text: ascii(text)[:30])
def test_conditions_that_are_refused(capsys, condition):
    """Bad input; a crash would be 4, and a verdict nonsense."""
    if condition == "range":  # a name that a condition may use; but it is no number
        condition = "range > 1"
    refused(capsys, 3, "check", TINY, *PLAIN, f"--constraint={condition}")
    with pytest.raises(LabError):
        predicate(load(TINY).bind(), condition)


@pytest.mark.parametrize(
    "condition",
    [
        *("True", "s.next_id < 2", " s.next_id < 2  # a comment", "s.next_id in (0, 1)", "1"),
        *(
            "all(k < 9 for k in range(c.max_id))",
            "any([k > 1 for k in (1, 2)])",
            "not not s.next_id",
        ),
        *("1 if s.next_id else 0", "2 ** s.next_id < 5", "abs(-s.next_id) < max(1, 2, c.max_id)"),
        *(
            "not " * 40 + "True",
            "(" * 150 + "1" + ")" * 150,
            "size(3) == 2",
            "-(-s.next_id) <= 0x10",
        ),
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
NAMED = "# spec: pulsar.compaction\n{}\n"


@pytest.mark.parametrize(
    "value",
    [
        *(
            "[1]",
            "{1}",
            "{-1}",
            "{[1]}",
            '{"a"}',
            "{None}",
            "(2,)",
            "[2]",
            "{2}",
            "2.0",
            "'2'",
            "True",
        ),
        *("None", "²", "٣", "1 + 1", "-" * 20_000 + "2", "[" * 300 + "2" + "]" * 300, "2j", "b'2'"),
        *(
            "*[2]",
            "lambda: 2",
            "x",
            "f(x)",
            "f(2)",
            "set()",
            "{}",
            "{1: 2}",
            "...",
            "2, new_leader=2",
        ),
        *("1, new_leader=2", "2, other=1", "2, **{}", "2, 1", "9" * 5_000, "99", "-2", "0", "\x00"),
        *(
            "2)(",
            "2);exit(",
            "(2 if 1 else 2)",
            "{2, [1]}",
            "{{}}",
            "{f()}",
            "f(g(h(1)))",
            "f(a=1, a=2)",
        ),
        *(
            "x" * 20_000,
            "__import__('os')",
            "2 or 1",
            "'" + "a" * 9_000 + "'",
            "{'a': [1]}",
            "[[]]",
        ),
    ],
    ids=lambda value: ascii(value)[:25],
)
def test_values_that_are_no_node(capsys, tmp_path, value):
    file = tmp_path / "mine.txt"
    file.write_text(ELECT.format(value), encoding="utf-8")
    said = refused(capsys, 3, "replay", str(file), json_too=False)
    assert "mine.txt, line 2: " in said


@pytest.mark.parametrize(
    "value",
    ["1", "6", "{-1}", "{[1]}", "{'a'}", "{None}", "{True}", "x", "f()", "[[1]]", "None", "{1: 2}"],
)
def test_values_that_are_no_set_of_nodes(capsys, tmp_path, value):
    file = tmp_path / "mine.txt"
    file.write_text(LOSE.format(value), encoding="utf-8")
    assert "mine.txt, line 2: " in refused(capsys, 3, "replay", str(file), json_too=False)


@pytest.mark.parametrize(
    "value",
    [
        *("1", "{1}", "[1]", "None", "Wrong(leader_epoch=0)", "LeaderAndIsrRequest(0)", "{'a': 1}"),
        *(
            "LeaderAndIsrRequest(no=1)",
            "LeaderAndIsrRequest(isr={[1]})",
            "LeaderAndIsrRequest(isr=1)",
        ),
        *(
            "LeaderAndIsrRequest(leader=[2])",
            "LeaderAndIsrRequest(leader=2, leader=2)",
            "{'leader': {}}",
        ),
        *("LeaderAndIsrRequest(leader=LeaderAndIsrRequest())", "LeaderAndIsrRequest(**{})"),
    ],
)
def test_values_that_are_no_message(capsys, tmp_path, value):
    file = tmp_path / "mine.txt"
    file.write_text(MEETS.replace("{}", value), encoding="utf-8")
    assert "mine.txt, line 3: " in refused(capsys, 3, "replay", str(file), json_too=False)


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


@pytest.mark.parametrize(
    "make",
    [
        *(
            "lab1.",
            "lab1.A",
            "lab1.AAAA",
            "lab1.AAAAA",
            "lab1.????",
            "lab²." + "A" * 9,
            "lab1.\n\n",
        ),
        *(
            "lab2.AAAA",
            "lab" + "9" * 5_000 + ".AAAA",
            "lab1." + "A" * 50_000,
            "lab٣.AAAA",
            "lab1.é",
        ),
        *(
            lambda: packed(""),
            lambda: packed("x"),
            lambda: packed(b"\xff"),
            lambda: packed("# spec: "),
        ),
        lambda: packed("# spec: kafka.kip_320 self=2"),
        lambda: packed("# spec: kafka.kip_320\nfly()"),
        lambda: packed("# spec: kafka.kip_320\n" + "a" * 2_000_000),
        lambda: packed("# spec: kafka.kip_320\n" + "a" * 20_000),
        *("{", "{}", "[[", '{"spec": 1}', '{"spec": NaN}', '{"a":' * DEEP, '{"spec":' + "[" * DEEP),
        *(lambda: changed(spec=None), lambda: changed(spec=[]), lambda: changed(spec="\ud800.x")),
        *(lambda: changed(constants=None), lambda: changed(constants=[["a", 1]])),
        *(lambda: changed(constants={"self": 1}), lambda: changed(constants={"replicas": [2]})),
        *(
            lambda: changed(constants={"replicas": 1e300}),
            lambda: changed(constants={"replicas": {}}),
        ),
        *(lambda: changed(constants={"replicas": 10**400}), lambda: changed(constants="replicas")),
        *(
            lambda: changed(initial=3),
            lambda: changed(initial={}),
            lambda: changed(initial="x" * 9_999),
        ),
        *(lambda: changed(steps=None), lambda: changed(steps=[1]), lambda: changed(steps={})),
        *(lambda: changed(steps=[{"text": 1, "caption": ""}]), lambda: changed(steps="x")),
        *(lambda: changed(states=None), lambda: changed(states=[]), lambda: changed(states=[1, 2])),
        *(
            lambda: changed(loop_from="x"),
            lambda: changed(loop_from=[1]),
            lambda: changed(loop_from=-1),
        ),
        *(
            lambda: changed(loop_from=1e400),
            lambda: changed(loop_from=1.5),
            lambda: changed(loop_from=0),
        ),
        *(lambda: changed(loop_from=99), lambda: changed(loop_from=True)),
    ],
)
def test_links_and_walks_that_are_malformed(make):
    text = make if isinstance(make, str) else make()
    with pytest.raises(LabError) as raised:
        walk_of(text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) <= MOST


# --- Captions ------------------------------------------------------------------------------------


CAPTIONS = [
    *("\x00", "\x01\x02\x1f", "\x0b\x0c", "\x1b[31m", "\x7f", "\x85\x9f", "\ud800", "\udfff\ud800"),
    *(
        "\ufffe\uffff",
        "]]>",
        "<b>&amp;</b>",
        "--> <!-- <?x?>",
        "\u2028\u2029",
        "# !holds x",
        "\r\n\r",
    ),
    *(
        "'\"`${x}\\",
        "\u202e\u200b",
        "\U0001f600" * 50,
        "a" * 2_000,
        "\u0301" * 50,
        "%%{init}%% ;;end",
    ),
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
        *(
            RuntimeError("can't start new thread"),
            ZeroDivisionError(),
            RecursionError("x"),
            KeyError("x"),
        ),
        *(
            OSError(28, "No space left on device"),
            PermissionError(13, "no", "a file"),
        ),
        *(
            MemoryError(),
            SystemExit(0),
            SystemExit(None),
            SystemExit("x"),
            AssertionError("a\nb\nc"),
        ),
        *(ValueError("x" * 100_000), UnicodeEncodeError("ascii", "\ud800", 0, 1, "x"), EOFError()),
        *(
            ImportError("libx.so: failed to map"),
            StopIteration(),
            GeneratorExit() if 0 else OverflowError(),
        ),
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


def test_a_full_memory_is_undecided(capsys, monkeypatch):
    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("protocol_lab.checker.reference.PythonSearch._take_in", no_memory)
    code, out, _ = run(capsys, "check", TINY, "--engine", "python", "--json")
    assert code == 2
    assert "no more memory" in json.loads(out)["undecided_reason"]


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ("simulation.random_walks.Walks.__init__", ["simulate", TINY]),
        ("simulation.coverage_estimate.Sightings.add", ["simulate", TINY]),
        ("liveness.check.StepGraph.fill", ["check", *ALONE, "--property", LED]),
        ("liveness.check._Check._judged", ["check", *ALONE, "--property", LED]),
    ],
)
def test_a_full_memory_is_undecided_where_walks_or_properties_are_judged(
    capsys, monkeypatch, refused, words
):
    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(f"protocol_lab.{refused}", no_memory)
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


def test_where_nobody_reads_any_more_nothing_is_said(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    said = io.StringIO()
    monkeypatch.setattr("sys.stdout", Gone())
    monkeypatch.setattr("sys.stderr", said)
    assert main(["specs"]) == 4
    assert said.getvalue() == ""


def test_streams_that_are_closed(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    assert main(["check", "nothing", "--json"]) == 3
    assert json.loads(out.getvalue())["error"]
    monkeypatch.setattr("sys.stdout", None)
    assert main(["check", TINY, *PLAIN]) == 4


def test_messages_are_whole_sentences_of_one_line():
    """The longest input, in the error class itself: whatever a message repeats."""
    assert len(str(LabError("x" * 10**7))) <= 3_000
