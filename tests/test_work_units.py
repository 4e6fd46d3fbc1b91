"""What is named where tests are divided among pytest's processes exists."""

from protocol_lab.catalog import spec_names
from tests import ROOT
from tests.notebook_outputs import name_of
from tests.notebook_outputs import notebooks as notebooks_of_the_kit
from tests.work_units import DIVIDED, LONGEST, STAND_FOR_ALL


def test_what_is_named_exists():
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert {*LONGEST, *DIVIDED} <= files
    notebooks = {name_of(path) for path in notebooks_of_the_kit()}
    assert {*STAND_FOR_ALL} <= {*spec_names()} | notebooks
