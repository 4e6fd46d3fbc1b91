"""How much memory a search may use, by what limits the process."""

from types import SimpleNamespace

import psutil
import pytest

from protocol_lab.errors import LabError
from protocol_lab.system import memory

resource = pytest.importorskip("resource", reason="Windows has none")

MACHINE = 64 << 30


@pytest.fixture(autouse=True)
def limit(monkeypatch, tmp_path):
    """The file with the limit of a container, on a machine of 64 GiB; so far there is none."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=MACHINE))
    monkeypatch.setattr(memory, "_CONTAINER_LIMITS", [tmp_path / "memory.max"])
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    return tmp_path / "memory.max"


def test_by_default_half_of_the_machine():
    assert memory.allowed_bytes(None) == MACHINE // 2


@pytest.mark.parametrize(
    ("said", "expected"), [(f"{8 << 30}\n", 8 << 30), ("max\n", MACHINE), (str(2**63), MACHINE)]
)
def test_a_container_has_less(limit, said, expected):
    limit.write_text(said, encoding="utf-8")
    assert memory.available_bytes() == expected
    assert memory.allowed_bytes(None) == expected // 2


def test_ulimit_counts(monkeypatch):
    used = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + (6 << 30),) * 2)
    assert 5 << 30 < memory.available_bytes() < 7 << 30


@pytest.mark.parametrize("gib", [0, -1, 1e-10, float("nan"), float("inf"), 1e300, "x", []])
def test_what_is_no_amount(gib):
    with pytest.raises(LabError, match=r"memory_gib=.* is not possible"):
        memory.allowed_bytes(gib)
    assert memory.allowed_bytes(0.5) == 1 << 29
