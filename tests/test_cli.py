"""The command line is a contract: fields, exit codes, and one sentence for words that do not go
together; `end_to_end/test_bad_input` has what no option takes."""

import json

import pytest

from protocol_lab.cli import main
from protocol_lab.new_protocol import new_protocol

SMALL = ["kafka.kip_320", "--set", "replicas=2"]
FIELDS = {
    *("spec", "constants", "engine", "verdict", "exhaustive", "undecided_reason", "distinct"),
    *("generated", "depth", "violated", "initial", "trace", "trace_states", "never_reached"),
    *("per_action", "per_depth", "collision_probability", "bytes_per_state", "widened"),
    *("compile_seconds", "seconds"),
}


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_check_reports_every_field(capsys):
    code, out, _ = run(capsys, "check", *SMALL, "--json")
    report = json.loads(out)
    assert code == 0
    assert set(report) >= FIELDS
    assert report["verdict"] == "holds"
    assert report["trace"] is None
    assert report["trace_states"] is None
    assert sum(report["per_depth"]) == report["distinct"]
    assert sum(report["per_action"].values()) == report["generated"]
    assert len(report["per_depth"]) == report["depth"]


def test_a_violation_exits_with_1_and_its_trace_replays(capsys, tmp_path):
    file = tmp_path / "trace.txt"
    words = ["check", "kafka.truncate_to_high_watermark", "--set", "replicas=2"]
    code, out, _ = run(capsys, *words, "--invariant", "weak_isr", "--trace", str(file), "--json")
    report = json.loads(out)
    assert code == 1
    assert report["violated"] == "weak_isr"
    assert len(report["trace"]) + 1 == report["trace_states"] == 9
    assert all(set(step) == {"action", "args"} for step in report["trace"])
    code, out, _ = run(capsys, "replay", str(file))
    assert code == 0
    assert "✓ violates weak_isr" in out


LAMPS = """
from typing import NamedTuple
from protocol_lab import *

class Constants(NamedTuple):
    pass

class State(Struct):
    lit: Int8
    switched: Int8

spec = Spec("lamps", State, Constants)

@spec.init
def some_lit(s, c, lit: Range(0, 2)):
    s.lit = lit
    return TAKEN

@spec.action
def switch(s, c):
    if s.switched == 1:
        return "it was switched"
    s.lit += 1
    s.switched = 1
    return TAKEN

@spec.invariant
def at_most_two(s, c):
    return HOLDS if s.lit <= 2 else "three are lit"
"""

MORE_LAMPS = """
@spec.init
def all_lit(s, c):
    s.lit = 2
    return TAKEN
"""


@pytest.mark.slow
@pytest.mark.parametrize(("more", "start"), [("", "init(lit=2)"), (MORE_LAMPS, "some_lit(lit=2)")])
def test_a_trace_from_one_of_several_initial_states_replays(capsys, tmp_path, more, start):
    """Whatever the function is called that is registered with @spec.init."""
    spec, file = tmp_path / "lamps.py", tmp_path / "trace.txt"
    spec.write_text(LAMPS + more, encoding="utf-8")
    run(capsys, "check", str(spec), "--engine", "python", "--trace", str(file))
    trace = file.read_text(encoding="utf-8")
    assert trace.splitlines()[3:] == [start, "switch()", "!violates at_most_two"]
    assert run(capsys, "replay", str(file))[0] == 0
    for written in ("some_lit(lit=2)", "all_lit()") if more else ("some_lit(lit=2)",):
        file.write_text(trace.replace(start, written), encoding="utf-8")
        assert run(capsys, "replay", str(file))[0] == 0
    file.write_text(trace.replace(start + "\n", ""), encoding="utf-8")
    code, _, told = run(capsys, "replay", str(file))
    assert (code, told[:43]) == (3, "trace.txt, line 1: There are several initia")


@pytest.mark.slow
def test_states_prints_what_each_step_changes(capsys, tmp_path):
    new_protocol("toy", tmp_path)
    words = ("check", str(tmp_path / "toy.py"), "--states")
    trace = tmp_path / "trace.txt"
    code, out, _ = run(capsys, *words, "--engine", "python", "--trace", str(trace))
    listing = out.partition("what each step changes:\n")[2]
    assert code == 1
    assert listing.startswith("       1 the initial state\n           asked: 0\n")
    assert listing.endswith(
        "       5 execute(request=Message(number=1))\n"
        "           executed: 1 → 2\n"
        "           requests: − (number 1)\n"
        "           replies: + (number 1)\n"
    )
    assert listing.strip() in run(capsys, "replay", str(trace), "--states")[1]
    _, out, _ = run(capsys, *words, "--engine", "python", "--json")
    states = json.loads(out)["states"]
    assert [each["executed"] for each in states] == [0, 0, 0, 1, 2]


GOES_OUT = """
def nine_lit(s, c):
    return s.lit == 9

def none_lit(s, c):
    return s.lit == 0

@spec.property
def nine_go_out():
    return leads_to(nine_lit, none_lit)
"""


@pytest.mark.vacuous
def test_a_premise_that_is_never_true_is_told_everywhere(capsys, tmp_path):
    spec = tmp_path / "lamps.py"
    spec.write_text(LAMPS + GOES_OUT, encoding="utf-8")
    words = ["check", str(spec), "--property", "nine_go_out"]
    told = "but nine lit is never true on a fair run"
    code, out, _ = run(capsys, *words)
    assert (code, told in out.splitlines()[1]) == (0, True)
    code, out, _ = run(capsys, *words, "--json")
    report = json.loads(out)
    assert (code, report["verdict"], report["vacuous"]) == (0, "holds", True)


SETTLED = "records_are_committed_or_truncated"


def test_a_temporal_property_has_its_lasso_in_the_json_and_as_a_scenario(capsys, tmp_path):
    file = tmp_path / "trace.txt"
    words = ["check", *SMALL, "--set", "log_size=1", "--set", "max_records=1"]
    words += ["--property", SETTLED, "--json", "--trace", str(file)]
    code, out, _ = run(capsys, *words)
    report = json.loads(out)
    assert (code, report["verdict"], report["violated"]) == (1, "violated", SETTLED)
    assert report["property"] == SETTLED
    assert report["parameters"] == {"record": 0}
    assert report["loop_from"] == report["trace_states"] == len(report["trace"]) + 1
    assert report["stutters"] is True
    assert report["fairness"][1] == (
        "weak fairness of fenced_become_follower_and_truncate, become_leader"
    )
    assert len(report["why_fair"]) == 5
    code, out, _ = run(capsys, "replay", str(file))
    assert code == 0
    assert f"✓ loops_to {report['loop_from']}" in out
    assert f"✓ violates {SETTLED}" in out
    assert run(capsys, *words[:-3], "--fairness", "next", "--max-states", "5")[0] == 2


def test_simulation_never_says_holds(capsys):
    words = ["simulate", *SMALL, "--walks", "3", "--steps", "9", "--seed", "1", "--json"]
    code, out, _ = run(capsys, *words)
    assert (code, json.loads(out)["verdict"]) == (2, "undecided")
    again = json.loads(run(capsys, *words)[1])
    differing = {name for name, value in json.loads(out).items() if again[name] != value}
    assert differing <= {"compile_seconds", "seconds", "compared"}


def test_specs_lists_constants_actions_and_invariants(capsys):
    code, out, _ = run(capsys, "specs", "--json")
    specs = {each["name"]: each for each in json.loads(out)["specs"]}
    assert code == 0
    assert list(specs["kafka.kip_320"]["constants"]) == [
        "replicas",
        "log_size",
        "max_records",
        "max_leader_epoch",
    ]
    assert "fenced_follower_fetch" in specs["kafka.kip_320"]["actions"]
    defaults = [each["name"] for each in specs["kafka.kip_320"]["invariants"] if each["default"]]
    assert defaults == ["weak_isr", "strong_isr", "type_ok"]
    text = run(capsys, "specs")[1]
    assert all(name in text for name in specs)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["check", *SMALL, "--invariant", "weak_isr", "--no-invariants"], "exclude each other"),
        (["check", *SMALL, "--constraint", "s.hw < 1"], "has no field"),
        (["check", *SMALL, "--property", "x"], "has no temporal property 'x'; it has:"),
        (["check", *SMALL, "--property", SETTLED, "--symmetry"], "symmetry can't be combined"),
        (["check", *SMALL, "--property", SETTLED, "--deadlock"], "deadlock can't be combined with"),
        (
            ["check", *SMALL, "--property", SETTLED, "--engine", "python"],
            "checked by compiled code; leave --engine out",
        ),
        (["check", *SMALL, "--property", SETTLED, "--fairness", "x"], "There is no fairness 'x'"),
        (["check", *SMALL, "--fairness", "none"], "--fairness needs --property"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_3(capsys, words, sentence):
    code, out, err = run(capsys, *words, "--json")
    assert code == 3
    assert sentence in json.loads(out)["error"]
    assert sentence in err
    assert "Traceback" not in err
