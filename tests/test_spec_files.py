"""Specs outside the kit: any folder, any file name, with what stands beside them."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocol_lab import LabError
from protocol_lab.catalog import known_as, load
from protocol_lab.cli import main
from protocol_lab.errors import SpecError
from protocol_lab.explore import explore
from protocol_lab.spark.model_transfer import UnpackedModel, pack_model, unpack_model
from protocol_lab.traces.scenarios import play, read_scenario
from tests import ROOT
from tests.spec_checks import read_link
from tests.work_units import one_in, one_of

COUNTER = '''
"""Counts to three."""
from typing import NamedTuple

from protocol_lab import HOLDS, TAKEN, Int8, Spec, Struct


class Constants(NamedTuple):
    top: int = 3


class State(Struct):
    n: Int8


spec = Spec("counter", State, Constants, meaning=__doc__)


@spec.init
def start(s, c):
    return TAKEN


@spec.action
def count(s, c):
    if s.n == c.top:
        return "at the top"
    s.n += 1
    return TAKEN


@spec.invariant
def small(s, c):
    return HOLDS if s.n < 9 else "too large"
'''
SCENARIO = "# spec: counter  top=2\n# Twice\ncount()\ncount()\n!blocked count()\n!holds small\n"
PLAIN = ["--engine", "python"]


def written(folder: Path, name: str = "counter.py", text: str = COUNTER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def states(name: str | Path, **constants) -> int:
    return explore(load(str(name)).bind(**constants), engine="python", progress=False).distinct


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    one_in(4, ["counter.py", "my/counter.py", "a b/two-phase.py", "my/json.py", "my/class.py"]),
)
def test_a_spec_is_found_by_the_path_of_its_file(here, place):
    file = written((here / place).parent, Path(place).name)
    assert states(place) == states(place.removesuffix(".py") if "/" in place else place) == 4
    assert states(file) == 4
    assert known_as(load(place)) == place
    assert json.loads('{"still": "json"}') == {"still": "json"}


NAMES = ("queue", "json", "random", "numba", "numpy", "tqdm", "secrets", "raft.v2", "class")
"""Names of files that Python, the kit or its packages might import in place of their own."""


@pytest.fixture
def hostile(here):
    """A folder with a spec under each of these names; and a function that tells which were run."""
    ran = here / "ran"
    for name in NAMES:
        note = f"open({str(ran)!r}, 'a').write({name!r} + chr(10))\n"
        written(here, f"{name}.py", note + COUNTER)
    written(here / "a_spec", "__init__.py", f"open({str(ran)!r}, 'a').write('a_spec' + chr(10))\n")
    return lambda: ran.read_text(encoding="utf-8").split() if ran.exists() else []


def lab(*words: str) -> subprocess.CompletedProcess:
    """`lab.py WORDS` in the current folder; only what it prints is of interest."""
    command = [
        sys.executable,
        "-P",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); {STARTED}",
    ]
    return subprocess.run([*command, *words], capture_output=True, text=True)


STARTED = (
    "import lab; from pathlib import Path; lab.venv_python = lambda: Path(sys.executable);"
    "sys.exit(lab.run(['-m', 'protocol_lab', *sys.argv[1:]]))"
)
"""Starts the kit as lab.py does, with the Python of the tests."""


def test_a_protocol_by_path_may_have_the_name_of_any_module(hostile):
    files = [f"{name}.py" for name in NAMES]
    told = lab("specs", *files, "--json")
    assert len(json.loads(told.stdout)["specs"]) == len(NAMES), told.stderr
    assert sorted(hostile()) == sorted(NAMES)  # each once, when it was asked for


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(["numba.py", "queue.py", "raft.v2.py"]))
def test_such_a_protocol_is_compiled_and_stepped(hostile, name):
    told = lab("check", name)
    assert (told.returncode, hostile()) == (0, [name.removesuffix(".py")]), told.stderr
    told = lab("check", name, "--engine", "spark", "--set", "top=5")
    assert "6 distinct states" in told.stdout, told.stderr
    assert set(hostile()) == {name.removesuffix(".py")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", one_of(["grade .", "logs .", "check kafka.id_sequence", "new queue"])
)
def test_no_command_runs_a_file_that_only_lies_there(hostile, here, words):
    written(here, "primary_backups.py", "x = 1\n")
    lab(*words.split())
    assert hostile() == []


def test_a_package_of_ones_own_is_found_in_the_current_folder(here):
    written(here / "my_spec", "__init__.py", "")
    written(here / "my_spec", text=COUNTER.replace('Spec("counter"', 'Spec("my.counter"'))
    assert "4 distinct states" in lab("check", "my.counter", *PLAIN).stdout
    assert lab("specs", "my.counter").returncode == 0


def test_a_file_in_a_package_is_loaded_as_its_part(here):
    text = COUNTER.replace("top: int = 3", "top: int = TOP")
    written(here / "mine" / "deep", "__init__.py", "")
    written(here / "mine", "__init__.py", "")
    written(here / "mine", "limits.py", "TOP = 6\n")
    written(here / "mine" / "deep", text=f"from ..limits import TOP\n{text}")
    assert states("mine/deep/counter.py") == 7
    written(here / "other" / "mine", "__init__.py", "")
    written(here / "other" / "mine", text=COUNTER)
    with pytest.raises(LabError, match="Python has another package of that name: rename"):
        load("other/mine/counter.py")


@pytest.mark.slow
def test_an_edited_file_is_read_again_and_so_is_one_beside_it(here):
    written(here, text=f"import limits\n{COUNTER.replace('= 3', '= limits.TOP')}")
    written(here, "limits.py", "TOP = 6\n")
    assert states("counter.py") == 7
    assert load("counter.py") is load("counter.py")
    written(here, "limits.py", "TOP = 8  # now\n")
    assert states("counter.py") == 9
    written(here, text=COUNTER)
    assert states("counter.py") == 4


def test_a_spec_is_loaded_while_another_thread_imports(here, monkeypatch):
    """When garbage is collected, other threads get a turn: here each time one imports a module."""

    def imports(phase: str, _: dict[str, int]) -> None:
        monkeypatch.setitem(sys.modules, f"imported_{next(names)}", sys)

    written(here)
    names = iter(range(10**9))
    often = gc.get_threshold()
    gc.callbacks.append(imports)
    gc.set_threshold(1)
    try:
        assert load("counter.py").name == "counter"
    finally:
        gc.set_threshold(*often)
        gc.callbacks.remove(imports)
    assert next(names) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("no/such.py", "", "There is no file 'no/such.py'; check its path."),
        ("./", "", "./ is a folder: give the file in it that has the spec."),
        ("none.py", "x = 1\n", "none.py has no spec: write spec = Spec(...) in it."),
        ("no_such_module_here", "", "There is no spec 'no_such_module_here'"),
        (
            "two.py",
            "from protocol_lab import Spec, Struct\n"
            "one, other = Spec('one', Struct), Spec('other', Struct)\n",
            "two.py has more than one spec (one, other): name the one to load `spec`.",
        ),
        ("syntax.py", "def f(:\n", "SyntaxError: invalid syntax (syntax.py, line 1)."),
        ("fails.py", "\n1 / 0\n", "fails.py can't be loaded: ZeroDivisionError: division by zero"),
        ("a-b.py", "\nimport no_such\n", "No module named 'no_such' (a-b.py, line 2)."),
        (
            "again.py",
            COUNTER + "\n\ndef helper(s):\n    return 1\n\n\ndef helper(s):\n    return 2\n",
            "again.py defines helper twice, in lines ",
        ),
        ("a-c.py", COUNTER + "\n@spec.action\ndef f():\n    pass\n", "must take the state"),
        (
            "old.py",
            COUNTER + "\n@spec.sometimes\ndef full(s, c):\n    return HOLDS\n",
            "old.py can't be loaded: full: a state that must be reachable is a situation: write "
            "@spec.situation(expected=True), and return True in such a state (old.py, line ",
        ),
    ],
)
def test_what_can_not_be_loaded_is_told_in_one_sentence(here, capsys, name, text, sentence):
    if text:
        written(here, Path(name).name, text)
    with pytest.raises(LabError) as error:
        load(name)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    code = main(["check", name])
    assert code == (4 if isinstance(error.value, SpecError) else 3)
    assert str(error.value) in capsys.readouterr().err


@pytest.mark.slow
def test_a_trace_of_a_spec_by_path_replays_from_its_file(here, capsys):
    written(here / "my folder")
    words = ["check", "my folder/counter.py", *PLAIN, "--set", "top=12", "--trace", "trace.txt"]
    assert main(words) == 1
    assert '# spec: "my folder/counter.py"  top=12' in Path("trace.txt").read_text(encoding="utf-8")
    assert main(["replay", "trace.txt"]) == 0
    assert "✓ violates small" in capsys.readouterr().out
    assert main(["replay", "trace.txt", "--save", "walk.json"]) == 0
    assert main(["replay", "walk.json"]) == 0  # one's own export can be replayed as well
    assert "count" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("folder", ["my", "my/scenarios"])
@pytest.mark.parametrize("called", ["counter", "counter.py"])
def test_a_scenario_names_a_spec_beside_it_or_above_it(here, folder, called):
    written(here / "my")
    text = SCENARIO.replace("spec: counter", f"spec: {called}")
    file = written(here / folder, "twice.txt", text)
    assert play(read_scenario(file)).state.n == 2


@pytest.mark.parametrize("name", ["antigravity", "alone.counter", "../elsewhere/counter.py", "{}"])
def test_a_scenario_names_no_other_file_or_module(here, monkeypatch, name):
    monkeypatch.syspath_prepend(here / "path")
    elsewhere = written(here / "elsewhere", text="raise AssertionError('it was run')\n")
    written(here / "path" / "alone", text="raise AssertionError('it was run')\n")
    (here / "deep" / "my").mkdir(parents=True)
    monkeypatch.chdir(here / "deep")
    file = written(here / "deep" / "my", "walk.txt", f"# spec: {name.format(elsewhere)}\n")
    with pytest.raises(LabError, match=r"a file elsewhere|There is no"):
        play(read_scenario(file))
    assert "antigravity" not in sys.modules


def test_a_text_from_somebody_else_runs_no_file(here):
    written(here, text="raise AssertionError('it was run')\n")
    with pytest.raises(LabError, match="a pasted text may not run files: load it"):
        read_link(link_of("# spec: counter.py\n"))
    with pytest.raises(LabError, match="There is no spec 'counter'"):
        read_link(link_of("# spec: counter\n"))


def link_of(text: str) -> str:
    """A link as somebody might send it."""
    import zlib
    from base64 import urlsafe_b64encode

    data = text.encode()
    pressed = zlib.compress(data, level=9, wbits=-zlib.MAX_WBITS)
    return "lab1." + urlsafe_b64encode(zlib.crc32(data).to_bytes(4, "big") + pressed).decode()


@pytest.mark.parametrize("name", ["my_counter.py", "two-phase.py"])
def test_a_spec_by_path_is_made_again_from_its_packed(here, name):
    written(here / "my", name)
    model = load(f"my/{name}").bind(top=2)
    packed = pack_model(UnpackedModel(model))
    assert packed.spec[0] in packed.packages
    assert unpack_model(packed).model.layout == model.layout
