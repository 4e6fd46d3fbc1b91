"""A mistake in the compiler itself is told from code that can't be compiled."""

import pytest

from protocol_lab import LabError
from protocol_lab.compiler import rewriting
from protocol_lab.compiler.operations import records
from protocol_lab.errors import KitDefect
from protocol_lab.explore import explore
from tests.one_action import declare


@pytest.mark.parametrize("error", [TypeError, RuntimeError])
@pytest.mark.parametrize(("module", "name"), [(rewriting, "_prepared"), (records, "store")])
def test_an_error_of_the_kit_is_a_defect(monkeypatch, tmp_path, module, name, error):
    def fails(*_):
        raise error("this should not be")

    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(module, name, fails)
    with pytest.raises(KitDefect, match=rf"no verdict \({error.__name__}: this should not be;"):
        explore(declare(f"s.found = {10 * len(name) + len(error.__name__)}"), progress=False)


def test_an_error_of_numba_is_not():
    with pytest.raises(LabError, match="can't be compiled") as error:
        explore(declare("x = s.votes if s.n else s.places\ns.found = 1"), progress=False)
    assert not isinstance(error.value, KitDefect)
