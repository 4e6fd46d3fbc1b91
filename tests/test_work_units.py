"""How the tests are divided among pytest's processes, and among CI's runs."""

from dataclasses import dataclass
from pathlib import Path

from protocol_lab.catalog import spec_names
from tests import ROOT
from tests.notebook_outputs import name_of
from tests.notebook_outputs import notebooks as notebooks_of_the_kit
from tests.work_units import DIVIDED, IN_EACH_SHARE, LONGEST, STAND_FOR_ALL, others


@dataclass
class Collected:
    """What matters of a test that pytest has collected."""

    path: Path
    rarely: bool = False
    name: str = "test_it"

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.name}"

    def get_closest_marker(self, name: str) -> bool:
        return getattr(self, name)


def test_what_is_named_exists():
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert {*LONGEST, *DIVIDED} <= files
    notebooks = {name_of(path) for path in notebooks_of_the_kit()}
    assert {*STAND_FOR_ALL} <= {*spec_names()} | notebooks


def test_each_rarely_run_test_is_in_one_share_and_the_others_in_all():
    often = [Collected(Path("often.py"))]
    rare = [Collected(Path(f"rare_{number}.py"), rarely=True) for number in range(10)]
    real = [Collected(Path("a.py"), rarely=True, name=f"{IN_EACH_SHARE}[{k}]") for k in range(3)]
    left_out = [others(often + rare + real, (number, 3)) for number in (1, 2, 3)]
    for each in rare:
        assert [each in left for left in left_out].count(False) == 1
    assert not any(each in left for each in often + real for left in left_out)
