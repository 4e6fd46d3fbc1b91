"""The kernel cache: whatever happens to its files costs a compilation, and nothing else."""

import importlib
import os
import pickle
import sys
import time
from pathlib import Path

import pytest

from protocol_lab.compiler import building, kernel_cache
from protocol_lab.explore import explore
from protocol_lab.reader.dependencies import source_hash
from protocol_lab.reader.source_code import code_of_file
from protocol_lab.system import folders
from protocol_lab.system.folders import cache_folder
from tests import ROOT
from tests.toy_specs import counter


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """An empty cache, in a process that has loaded and said nothing yet."""
    monkeypatch.setattr(folders, "_said", set())
    monkeypatch.setattr(building, "loaded", {})
    kernel_cache._sweep_once.cache_clear()
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


def searched() -> tuple[int, list[str]]:
    """Search a small model as a new process would: its states, and what was compiled for it."""
    building.loaded.clear()
    before = len(building.compilations)
    found = explore(counter.bind(limit=5), progress=False)
    return found.distinct, building.compilations[before:]


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kernel"))


DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "zeroed": lambda content: bytes(len(content)),
    "longer": lambda content: content + b"\0",
    "without a checksum": lambda content: pickle.dumps(print),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_kernel_is_compiled_again_and_one_line_says_so(home, capsys, damage):
    distinct, compiled = searched()
    assert compiled
    files = files_in(home)
    for file in files:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert searched() == (distinct, compiled)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is damaged: it is compiled again." in said
    assert files_in(home) == files
    assert searched() == (distinct, [])
    assert capsys.readouterr().err == ""


def test_a_full_disk_costs_the_cache_and_not_the_search(home, capsys):
    resource = pytest.importorskip("resource", reason="Windows has none")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        distinct, compiled = searched()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Compiled code can't be kept in" in said
    assert list(home.rglob("*.*")) == []
    assert searched() == (distinct, compiled)


@pytest.mark.parametrize("inside", [".", "kernels"])
def test_without_a_folder_nothing_is_kept_and_one_line_names_it(home, capsys, inside):
    file = home / inside
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    assert cache_folder("kernels") is None
    distinct, compiled = searched()
    assert searched() == (distinct, compiled)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    folder = home / "kernels"
    assert said.startswith(f"The cache folder {folder} is not used (")
    assert "every start compiles again" in said


def test_what_was_used_least_recently_goes(tmp_path, monkeypatch):
    for days, name in enumerate(("at_work.part", "new.kernel", "used.kernel", "old.kernel")):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (time.time() - days * 86_400,) * 2)
    kernel_cache.sweep(tmp_path)
    assert len([*tmp_path.iterdir()]) == 4
    monkeypatch.setattr(kernel_cache, "KEPT_BYTES", 250)
    kernel_cache.sweep(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"at_work.part", "new.kernel"}


def test_no_compiled_function_is_kept_elsewhere():
    for path in (ROOT / "protocol_lab").rglob("*.py"):
        assert "cache=True" not in path.read_text(encoding="utf-8"), (
            f"{path}: use kernel_cache.kernel"
        )


# --- What an update of the kit leaves as it is ----------------------------------------------------


def function_of(text: str):
    scope: dict = {}
    exec(text, scope)
    return scope["f"]


def test_other_words_about_a_function_are_the_same_code():
    first = function_of('def f(s):\n    """Adds one."""\n    return s + 1\n')
    same = function_of('def f(s):\n    """Adds one to it."""\n\n    return s + 1  # really\n')
    other = function_of('def f(s):\n    """Adds one."""\n    return s + 2\n')
    assert source_hash([first]) == source_hash([same]) != source_hash([other])


_HELPERS = "def a(s):\n    return s + 1\ndef b(s):\n    return s * 2\n"
_MODULE = "from types import ModuleType\nm = ModuleType('m')\nm.LIMIT = 1\n"
_NUMPY, _ENUM = "import numpy as np\n", "from enum import Enum\nclass E(Enum):\n    A = 1\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (f"{_HELPERS}c, d = a, b\ndef f(s):\n    return c(d(s))\n", "a, b", "b, a"),
        (f"{_HELPERS}def of(c, d):\n    return lambda s: c(d(s))\nf = of(a, b)\n", "a, b", "b, a"),
        ("def more(s, by=1):\n    return s + by\ndef f(s):\n    return more(s)\n", "=1", "=2"),
        (f"{_MODULE}def f(s):\n    return m.LIMIT\n", "= 1", "= 2"),
        (f"{_NUMPY}T = np.array([1, 2])\ndef f(s):\n    return T[1]\n", "2]", "3]"),
        (f"{_NUMPY}T = np.int64(1)\ndef f(s):\n    return T\n", "(1", "(2"),
        (f"{_ENUM}def f(s):\n    return E.A.value\n", "1", "2"),
        (f"{_ENUM}T = E.A\ndef f(s):\n    return T.value\n", "1", "2"),
        ("class A: ...\nclass B: ...\nC = A\ndef f(s):\n    return C(s)\n", "C = A", "C = B"),
    ],
)
def test_another_meaning_of_a_name_is_other_code(text, old, new):
    first, again = function_of(text), function_of(text)
    other = function_of(text.replace(old, new))
    assert source_hash([first]) == source_hash([again]) != source_hash([other])


def test_other_comments_in_a_file_of_the_compiler_are_the_same_code(tmp_path):
    texts = (
        '"""A."""\nx = 1\n"""What x is."""\ndef f():\n    """F."""\n',
        'x = 1  # a number\n\n\ndef f():\n    """Nothing."""\n',
        'x = 2\ndef f():\n    """F."""\n',
    )
    codes = []
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.py").write_text(text, encoding="utf-8")
        codes.append(code_of_file(tmp_path / f"{k}.py"))
    assert codes[0] == codes[1] != codes[2]


@pytest.mark.parametrize("edit", [("SMALL = 1", "SMALL = 2"), ("n + 1", "n + 2")])
def test_an_edit_in_a_file_that_a_kernel_calls_is_noticed(here, edit):
    called = here / "called.py"
    called.write_text(
        "from numba import njit\nSMALL = 1\n@njit\ndef more(n):\n    return n + 1\n",
        encoding="utf-8",
    )
    (here / "caller.py").write_text(
        "from called import SMALL, more\ndef twice(n):\n    return more(more(n)) + SMALL\n",
        encoding="utf-8",
    )
    sys.path.insert(0, str(here))
    hashes = set()
    for old, new in [edit, edit]:
        kernel_cache._hash_of_file.cache_clear()
        hashes.add(kernel_cache._hash_of_files(importlib.import_module("caller").twice))
        called.write_text(called.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        for name in ("caller", "called"):
            del sys.modules[name]
    assert len(hashes) == 2
