"""What is handed in is hostile, damaged or renamed: each has the right grade, or a row that says
what happened, and nothing of it runs."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from protocol_lab.cli import main
from protocol_lab.grading import part_checks
from protocol_lab.grading.labs import find_submissions, load_lab
from protocol_lab.grading.submissions import read_submission
from tests import ROOT
from tests.grading.submissions import graded, solution_with
from tests.work_units import one_of

LAB = load_lab("primary_backups")
LABS = ["primary_backups", "election", "compactor"]
FILE = "primary_backups.py"

# --- Which files are submissions ---------------------------------------------------------------

LINK = "a link to "

FILES = [  # a name, the files, and the rows: who, and a piece of why not or of the notes
    ("plain", {f"ann/{FILE}": "", f"bob/{FILE}": ""}, [("ann", ""), ("bob", "")]),
    ("a browser's copy", {"ann/primary_backups (1).py": ""},
     [("ann", "handed in as primary_backups (1).py")]),
    ("a copy beside it", {f"ann/{FILE}": "", "ann/primary_backups (2).py": ""},
     [("ann", "also there, and not graded: primary_backups (2).py")]),
    ("a Mac's copy", {"ann/primary_backups copy 2.py": ""}, [("ann", "handed in as")]),
    ("a version", {"ann/election_final_v2.py": ""}, [("ann", "handed in as")]),
    ("a course system's names",
     {"12345_primary_backups.py": "", "smith_john_late_123_primary_backups-1.py": ""},
     [("12345", "handed in as"), ("smith_john_late_123", "primary_backups-1.py")]),
    ("a test of one's own", {f"ann/{FILE}": "", f"ann/test_{FILE}": ""}, [("ann", "")]),
    ("a Mac's archive", {f"ann/{FILE}": "", f"__MACOSX/ann/._{FILE}": "", f"ann/._{FILE}": ""},
     [("ann", "")]),
    ("links", {f"alice/{FILE}": "", "bob/mine": f"{LINK}../alice",
               f"kim/{FILE}": f"{LINK}../alice/{FILE}"}, [("alice", "")]),
    ("another name", {f"ann/{FILE}": "", f"bob/{FILE}": "", "kim/lab1.py": "", "lea/x.txt": ""},
     [("ann", ""), ("bob", ""), ("kim", "no file in this folder is named as a lab is"),
      ("lea", "no file in this folder is named as a lab is")]),
]  # fmt: skip


def hand_in(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith(LINK):
            path.symlink_to(content.removeprefix(LINK))
        else:
            path.write_text(content, encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names and links")
@pytest.mark.parametrize(("files", "rows"), [each[1:] for each in FILES],
                         ids=[each[0] for each in FILES])  # fmt: skip
def test_each_file_has_a_row_that_says_what_happened(files, rows, tmp_path):
    hand_in(tmp_path / "all", files)
    found = find_submissions([tmp_path / "all"], LABS)
    assert [each.submission for each in found] == [each[0] for each in rows]
    for each, (_, said) in zip(found, rows, strict=True):
        told = "; ".join([each.why_not, *each.notes])
        assert said in told
        assert bool(said) == bool(told.strip("; ")) or not said.startswith("handed in")


# --- What a file says --------------------------------------------------------------------------

DIGITS = "0x" + "f" * 4000
TAKEN = "has a meaning already: choose another name"
SOLUTION = solution_with(LAB)
USED = solution_with(LAB, receive="return LIMIT")

TEXTS = [  # a name, the file's content, what is unreadable, refused and noted
    ("a mark at the start", b"\xef\xbb\xbf" + SOLUTION.encode(), "", {}, []),
    ("UTF-16", SOLUTION.encode("utf-16"), "it is written in UTF-16, save it as UTF-8", {}, []),
    ("Latin-1 without", b"X = '\xfc'\n" + SOLUTION.encode(), "can't be read as Python", {}, []),
    ("a huge number", f"{USED}\nLIMIT = {DIGITS}\n", "",
     {"LIMIT": "is more than", "receive": "LIMIT is more than 2,147,483,648"}, []),
    ("a function twice", f'{SOLUTION}\n\ndef restart(s, c, server):\n    return "no"\n', "", {},
     ["restart is defined twice, in lines"]),
    *[(f"a number for {name}", f"{SOLUTION}\n{name} = 1\n", "", {name: TAKEN}, [TAKEN])
      for name in ("NONE", "range", "Node")],
    ("a number for TAKEN", f"{SOLUTION}\nTAKEN = True\n", "",
     {"TAKEN": TAKEN, **dict.fromkeys(LAB.written, TAKEN)}, []),
    *[(f"a function for {name}", f"{SOLUTION}\n\ndef {name}(a):\n    return 1\n", "",
       {name: TAKEN}, [TAKEN])
      for name in ("Range", "str", "drawing_of")],
    ("a function for any", f"{SOLUTION}\n\ndef all(a):\n    return 1\n", "",
     {"all": TAKEN, "acknowledge": TAKEN}, []),
    ("a private helper", SOLUTION.replace("is_at", "_is_at"), "", {}, []),
]  # fmt: skip


@pytest.mark.parametrize(("content", "unreadable", "refused", "notes"),
                         [each[1:] for each in TEXTS], ids=[each[0] for each in TEXTS])  # fmt: skip
def test_what_can_not_be_taken_has_a_reason(content, unreadable, refused, notes, tmp_path):
    file = tmp_path / FILE
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    found = read_submission(file, LAB)
    assert unreadable in found.unreadable
    assert bool(unreadable) == bool(found.unreadable)
    assert sorted(found.refusals) == sorted(refused)
    assert all(reason in found.refusals[name] for name, reason in refused.items())
    assert len(found.notes) == len(notes)
    assert all(said in note for said, note in zip(notes, found.notes, strict=True))


# --- Verdicts on every state -------------------------------------------------------------------


@pytest.fixture
def compiled_from_the_start(monkeypatch):
    monkeypatch.setattr(part_checks, "FEW", 3)


RESENDS = """
if s.primary not in s.alive:
    return "the primary is down"
if backup not in backups(s, c):
    return "the server is no backup that is alive"
offset = first_difference(s.log[s.primary], s.log[backup])
if offset == len(s.log[s.primary]):
    return "the backup has all that the primary has"
more = (c.servers - 1) * (c.writes - s.written)
if len(s.updates) + more >= c.servers * c.writes * (c.crashes + 1):
    return "the network is full"
value = s.log[s.primary][offset]
add(s.updates, Update(dest=backup, epoch=s.epoch, offset=offset, value=value))
{then}
return TAKEN
"""
"""A safe way to send again that has many states, since it does not look what is on its way."""


@pytest.mark.rarely
def test_a_state_that_was_not_expanded_is_no_dead_end(tmp_path):
    grade = graded(LAB, solution_with(LAB, send_again=RESENDS.format(then="")), "come back",
                   tmp_path)  # fmt: skip
    assert (grade.points, grade.reason) == (25, "")


@pytest.mark.rarely
def test_frames_are_asked_of_every_state(tmp_path, compiled_from_the_start):
    late = RESENDS.format(then="if len(s.updates) == 6:\n    s.crashed = c.crashes")
    grade = graded(LAB, solution_with(LAB, send_again=late), "answer", tmp_path)
    assert "servers=3 writes=1 crashes=2 send_again changes crashed, which it" in grade.reason


HARMFUL = [
    ("primary_backups", {"acknowledge": "if offset >= len(s.log[s.primary]) or"
     " s.log[s.primary][offset] in s.acknowledged:\n    return 'no'\n"
     "add(s.acknowledged, s.log[s.primary][offset])\nreturn TAKEN"},
     "acknowledged_is_kept breaks after 4 steps"),
    ("compactor", {"delete_ledger": "s.ledgers[slot].exists = False\n"
     "s.horizon = len(s.topic)\nreturn TAKEN"}, "breaks after"),
    ("compactor", {"begin": "if s.compactor.phase != 'idle':\n    return 'no'\n"
     "s.crashed = s.crashed\ns.current = s.current\nif len(s.topic) == 2:\n"
     "    s.crashed = c.crashes\nreturn 'no'"}, "changed the state and then refused"),
    ("isr_replication", {"advance_hw": "if s.belief[leader].leader != leader or"
     " s.belief[leader].hw == len(s.log[leader]):\n    return 'no'\n"
     "s.belief[leader].hw = len(s.log[leader])\nreturn TAKEN"}, "strong_isr breaks after"),
    ("election", {"may_lead": "return TAKEN"}, "one_leader_a_term breaks after"),
    ("ledger_recovery", {"may_close": "return TAKEN"}, "confirmed_is_kept breaks after"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bodies", "reason"), HARMFUL)
def test_the_last_part_judges_what_the_others_do(name, bodies, reason, tmp_path):
    lab = load_lab(name)
    grade = graded(lab, solution_with(lab, **bodies), lab.parts[-1].name, tmp_path)
    assert grade.points == 0
    assert reason in grade.reason


# --- Nothing there is run, and what was graded stays -------------------------------------------


def command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "protocol_lab", "grade", *words]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@pytest.mark.slow
@pytest.mark.parametrize("path", one_of(["", os.curdir, "{here}"]))
def test_modules_beside_a_submission_are_never_run(path, here):
    hand_in(here, {FILE: "x = 1"})
    for name in ("secrets", "json", "numba", "usercustomize", "a_spec/__init__"):
        hand_in(here, {f"{name}.py": f"open({str(here / 'ran')!r}, 'w').close()"})
    found = [path.format(here=here), str(ROOT)] if path else [str(ROOT)]
    # The process that grades gets a path by which a person may have said too much.
    code = (
        "import sys; from protocol_lab.cli import main; import os;"
        f"os.environ['PYTHONPATH'] = {os.pathsep.join(found)!r}; sys.exit(main(['grade', '.']))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], env=environment(),
                           capture_output=True, text=True, check=False)  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    assert "0 of 100" in ended.stdout
    assert "receive is missing" in ended.stdout
    assert not (here / "ran").exists()


def working(folder: str) -> list[int]:
    """The processes that grade a file in this folder, by what they were told to limit."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"protocol_lab.grading.worker" in (each / "cmdline").read_bytes()
            if is_worker and folder.encode() in (each / "environ").read_bytes():
                found.append(int(each.name))
        except OSError:
            continue
    return found


EXPONENTIAL = "".join(
    f"\n\ndef h{k}(x):\n    return h{k - 1}(x) + h{k - 1}(x + 1)" if k else
    "\n\ndef h0(x):\n    return x + 1" for k in range(40)
)  # fmt: skip
SLOW = solution_with(LAB, receive="if h39(1) == 5:\n    return 'a'\nreturn TAKEN") + EXPONENTIAL


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the process in /proc")
@pytest.mark.parametrize("number", one_of([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]))
def test_an_interrupt_kills_the_worker_and_keeps_what_was_graded(number, here):
    hand_in(here, {f"all/ann/{FILE}": "x = 1", f"all/bob/{FILE}": SLOW})
    words = ["all", "--csv", "g.csv", "--junit", "g.xml", "--json"]
    temporary = here / "temporary"
    temporary.mkdir()
    with open(here / "out", "w", encoding="utf-8") as out:
        grading = subprocess.Popen(command(*words), env=environment(TMPDIR=str(temporary)),
                                   stdout=out, stderr=subprocess.PIPE)  # fmt: skip
        until(lambda: "ann" in (here / "out").read_text(encoding="utf-8"))
        until(lambda: working(str(temporary)))
        time.sleep(1)
        grading.send_signal(number)
        said = grading.communicate(timeout=30)[1].decode()
    until(lambda: not working(str(temporary)), seconds=20)
    told = (here / "out").read_text(encoding="utf-8")
    with open("g.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["submission"] for row in rows] == ["ann"] * 4
    assert ElementTree.parse("g.xml").getroot()[0].get("name") == "ann primary_backups"
    if number == signal.SIGKILL:
        assert [each["submission"] for each in json.loads(told + "]")] == ["ann"]
        return
    assert grading.returncode == 2
    assert said.splitlines()[-1] == "interrupted: 1 of 2 submissions were graded"
    assert [each["submission"] for each in json.loads(told)] == ["ann"]
    assert list(temporary.iterdir()) == []


def until(true, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_report_that_can_not_be_written_says_so(here, capsys):
    hand_in(here, {f"all/ann/{FILE}": ""})
    assert main(["grade", "all", "--pictures", f"all/ann/{FILE}"]) == 3
    assert "give another folder" in capsys.readouterr().err


# --- Functions that could do more than compute ---------------------------------------------------


HOSTILE = [
    ("import os\nos._exit(0)", "an import can't be used"),
    ('print(\'{"kind": "done"}\')\nreturn TAKEN', "there is no function print"),
    ("open('solution.py')\nreturn TAKEN", "there is no function open"),
    ("return s.__class__", "no field is called __class__"),
    ("return c._replace", "no field is called _replace"),
    ("return spec", "spec has no value that a protocol can read"),
    ("return append", "append has no value that a protocol can read"),
    ("add = 1\nreturn TAKEN", "add has a meaning already"),
    ("k = 9 ** 9 ** 9\nreturn TAKEN", "** can't be used"),
    ("f = lambda: 1\nreturn TAKEN", "a lambda can't be used"),
    ("def f():\n    return 1\nreturn TAKEN", "a function inside a function can't be used"),
    ("with s:\n    pass\nreturn TAKEN", "a with can't be used"),
    ("k = [0] * 3\nk.sort()\nreturn TAKEN", "only functions can be called, not k.sort"),
    ("return (k := 1)", "the assignment `:=` can't be used"),
    ("return max(**{})", "can't be used"),
]


def refusals(tmp_path, text: str) -> dict[str, str]:
    file = tmp_path / "primary_backups.py"
    file.write_text(text, encoding="utf-8")
    return read_submission(file, LAB).refusals


@pytest.mark.parametrize(("body", "reason"), HOSTILE, ids=[each[0] for each in HOSTILE])
def test_a_function_that_could_do_more_than_compute_is_refused(body, reason, tmp_path):
    found = refusals(tmp_path, solution_with(LAB, receive=body))
    assert reason in found["receive"]
    assert found["receive"].startswith("line ")
    assert list(found) == ["receive"]


def test_the_solution_is_not_refused(tmp_path):
    assert refusals(tmp_path, solution_with(LAB)) == {}


def test_annotations_and_decorators_of_helpers_are_not_evaluated(tmp_path):
    text = solution_with(LAB)
    for bad in ("def first_difference(log, other: print(1)) -> int:",
                "@print\ndef first_difference(log, other) -> int:"):  # fmt: skip
        changed = text.replace("def first_difference(log, other) -> int:", bad)
        assert "can't be used" in refusals(tmp_path, changed)["first_difference"]


def test_a_function_with_other_parameters_is_refused(tmp_path):
    text = solution_with(LAB).replace("def restart(s, c, server)", "def restart(s, c)")
    assert refusals(tmp_path, text)["restart"].endswith("write restart(s, c, server)")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def receive(s", "can't be read as Python"),
        (b"\xff\xfe", "can't be read as Python"),
        (b"x = " + b"(" * 5000, "can't be read as Python"),
        (b"#" * 200_001, "more than 200,000 bytes"),
    ],
)
def test_a_file_that_is_no_python_is_not_read(data, reason, tmp_path):
    file = tmp_path / "primary_backups.py"
    file.write_bytes(data)
    assert reason in read_submission(file, LAB).unreadable


def test_what_else_the_file_says_is_left_aside_and_noted(tmp_path):
    file = tmp_path / "primary_backups.py"
    text = LAB.skeleton.read_text(encoding="utf-8").replace(
        "crashes: Annotated[int, Limits(0, 4", "crashes: Annotated[int, Limits(0, 0"
    )
    file.write_text(text + "\nimport os\n\nos._exit(0)\n", encoding="utf-8")
    found = read_submission(file, LAB)
    assert found.refusals == {}
    assert [each.partition(": ")[2] for each in found.notes] == [
        "Constants differs from the skeleton, not used",
        "import os differs from the skeleton, not used",
        "os._exit(0) differs from the skeleton, not used",
    ]
