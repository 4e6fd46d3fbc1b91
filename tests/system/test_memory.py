"""How much memory a search may use, by what limits the process."""

from types import SimpleNamespace

import psutil
import pytest

from protocol_lab.errors import LabError
from protocol_lab.system import memory

resource = pytest.importorskip("resource", reason="Windows has none")

MACHINE = 64 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A machine of 64 GiB without any limits, whose control groups are in a folder."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=MACHINE))
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    return tmp_path


def limit(folder, own: str, **files: str) -> None:
    (folder / "own").write_text(own, encoding="utf-8")
    for name, said in files.items():
        path = folder / "cgroup" / name.replace("__", "/").replace("memory_max", "memory.max")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(said, encoding="utf-8")


def test_by_default_half_of_the_machine():
    assert memory.allowed_bytes(None) == MACHINE // 2


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {"memory_max": f"{8 << 30}\n"}, 8 << 30),
        ("0::/a/b\n", {"a__memory_max": str(4 << 30), "a__b__memory_max": "max"}, 4 << 30),
        ("5:cpu,memory:/a\n", {"memory__a__memory.limit_in_bytes": str(3 << 30)}, 3 << 30),
        ("nonsense", {"memory_max": "nonsense"}, MACHINE),
        ("0::/\n", {}, MACHINE),
    ],
)
def test_a_container_has_less(machine, own, files, expected):
    limit(machine, own, **files)
    assert memory.available_bytes() == expected
    assert memory.allowed_bytes(None) == expected // 2


def test_ulimit_counts(monkeypatch):
    used = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + (6 << 30),) * 2)
    assert 5 << 30 < memory.available_bytes() < 7 << 30


@pytest.mark.parametrize("gib", [0, -1, float("nan"), "x"])
def test_what_is_no_amount(gib):
    with pytest.raises(LabError, match=r"memory_gib=.* is not possible"):
        memory.allowed_bytes(gib)
    assert memory.allowed_bytes(0.5) == 1 << 29
