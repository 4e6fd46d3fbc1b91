"""A mistake in the compiler itself is told from code that can't be compiled."""

import pytest
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from protocol_lab import LabError
from protocol_lab.compiler import rewriting
from protocol_lab.compiler.inner_functions import refreshed_when_needed
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


def test_a_declaration_that_could_not_be_taken_in_is_taken_in_later(monkeypatch):
    """Numba looks for declarations deep within a compilation, where the recursion limit is near."""

    def fails(*_):
        raise RecursionError

    with refreshed_when_needed():

        @intrinsic
        def seven(typing_context):
            return types.int64(), _seven

        monkeypatch.setattr(cpu_target.typing_context, "_insert_global", fails)
        with pytest.raises(RecursionError):
            cpu_target.target_context.refresh()
    monkeypatch.undo()
    assert njit(lambda: seven() + 1)() == 8


def _seven(context, builder, signature, args):
    return context.get_constant(types.int64, 7)
