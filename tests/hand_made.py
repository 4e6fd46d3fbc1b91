"""States that are made by hand: an initial state, changed field by field.

For the rules that a short test can state and a walk rarely meets.
"""

from dataclasses import dataclass
from typing import Any

from protocol_lab.model.node_sets import as_mask
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import initial
from tests.spec_checks import bind


@dataclass(frozen=True)
class HandMade:
    """A state that a test may write to, through `s`; `c` are the constants."""

    model: Model
    row: bytearray

    @classmethod
    def of(cls, spec_name: str, **constants: Any) -> "HandMade":
        """The initial state of a spec with these constants."""
        model = bind(spec_name, **constants)
        return cls(model, bytearray(next(initial(model)).row))

    @property
    def s(self) -> Any:
        return view(self.model.layout, self.row)

    @property
    def c(self) -> Any:
        return self.model.constants

    def after(self, step: str) -> Any:
        """The state after a step, which must be possible."""
        each = find_step(self.model, bytes(self.row), step)
        assert each.taken, f"{step}: {each.reason}"
        return view(self.model.layout, each.row)

    def refusal(self, step: str) -> str:
        """Why a step is not possible; "" if it is."""
        return find_step(self.model, bytes(self.row), step).reason


def nodes(*numbers: int) -> int:
    """A set of nodes, as a state has it."""
    return as_mask(numbers)
