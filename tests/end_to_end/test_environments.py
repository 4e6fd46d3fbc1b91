"""The kit on odd machines: folders with signs in their names, old locales, no home, `python -OO`.

Every test starts the kit as a process of its own, from a copy in such a folder.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests import PATIENCE, ROOT

CHECK = ("-m", "protocol_lab", "check", "kafka.id_sequence", "--set", "max_id=5", "--json")
REPLAY = ("-m", "protocol_lab", "replay", "talk_46_56_found_scenario.txt")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale in which Python reads and writes text in ASCII where nobody says otherwise."""
ODD = {
    "ASCII": ASCII,
    "no home, other times and widths": {
        "HOME": os.devnull,
        "TZ": "Pacific/Kiritimati",
        "COLUMNS": "40",
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    },
    "no asserts and docstrings": {"PYTHONOPTIMIZE": "2"},
}

ON_SPARK = """
from protocol_lab.catalog import load
from protocol_lab.explore import explore

if __name__ == "__main__":
    model = load("kafka.id_sequence").bind(max_id=5)
    result = explore(model, engine="spark", driver_below=0, progress=False)
    print(result.verdict, result.distinct, {each["where"] for each in result.levels[1:]})
"""


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """A copy of the kit in a folder whose name a shell, a URL or ASCII can't take as it is."""
    folder = tmp_path_factory.mktemp("it's") / 'one $(kit) with 5% "ü" & more'
    for package in [ROOT / "protocol_lab", *ROOT.glob("*_spec")]:
        shutil.copytree(
            package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("lab.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(folder / "kafka_spec" / "scenarios" / REPLAY[-1], folder)
    (folder / "temporary files").mkdir()
    return folder


def run(kit, *words, **environment):
    """Run Python on these words in the kit's folder, for a user whose files are private."""
    settings = {
        "PYTHONPATH": str(kit),
        "PROTOCOL_LAB_CACHE": str(kit / "its cache"),
        "TMPDIR": str(kit / "temporary files"),
        "PYTHONUTF8": "1",
    }
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | settings | environment,
        cwd=kit,
        umask=0o077,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(each, id=name, marks=() if each is ASCII else pytest.mark.rarely)
        for name, each in ODD.items()
    ],
)
def test_a_search_finds_the_same(kit, odd):
    done = run(kit, *CHECK, **odd)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["verdict"], result["distinct"]) == ("holds", 7)


@pytest.mark.rarely
def test_without_a_compiler_it_says_so_and_searches_in_plain_python(kit):
    refused = run(kit, *CHECK, NUMBA_DISABLE_JIT="1")
    assert (refused.returncode, refused.stderr.count("\n")) == (3, 1)
    assert "NUMBA_DISABLE_JIT is set" in refused.stderr
    found = run(kit, *CHECK, "--engine", "python", NUMBA_DISABLE_JIT="1")
    assert json.loads(found.stdout)["distinct"] == 7


@pytest.mark.rarely
def test_an_environment_is_known_again_under_another_locale(kit):
    key = "import lab; print(lab.stamp_key('3.11'))"
    assert run(kit, "-c", key).stdout == run(kit, "-c", key, **ASCII).stdout != ""


@pytest.mark.rarely
@pytest.mark.spark
def test_spark_finds_the_same_in_odd_folders(kit):
    (kit / "on_spark.py").write_text(ON_SPARK, encoding="utf-8")
    done = run(kit, "on_spark.py", TZ="Pacific/Kiritimati")
    assert done.stdout == "holds 7 {'spark'}\n", done.stderr
