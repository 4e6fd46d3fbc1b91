"""Refinement mappings: each state of a spec as a state of a more abstract spec.

    consensus = Spec("consensus", Chosen, Values)          # what Paxos is for: a value is chosen

    def chosen_values(s, c, a):
        '''A value is chosen if a quorum has voted for it in one ballot.'''
        for v in range(1, c.values + 1):
            if is_chosen(s, c, v):
                a.chosen = with_node(a.chosen, v)

    paxos.refines(consensus, chosen_values)

A mapping fills the abstract state `a`, whose fields all begin as 0. Every initial state has to map
to an initial state, and every step to a step of the abstract spec, or to none. That is checked by
`liveness.refinement`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.spec.declared import Declared


@dataclass(frozen=True)
class Refinement(Declared):
    """A claim that a spec refines `other`, a Spec; the function is its mapping (s, c, a).

    constants: a function of c that gives the constants of the other spec; None for those that both
    have under one name.
    """

    function: Callable[..., None]
    other: Any
    constants: Callable[[Any], dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        return f"refines_{self.other.name.rpartition('.')[2]}"

    def abstract(self, constants: Any) -> Any:
        """The abstract model with the constants that belong to these. Raises LabError."""
        if self.constants is not None:
            return self.other.bind(**self.constants(constants))
        shared = set(self.other.constants._fields) & set(constants._fields)
        return self.other.bind(**{name: getattr(constants, name) for name in shared})
