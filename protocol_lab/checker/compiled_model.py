"""The compiled actions and properties of a model, and the bits that stand for its properties.

Every search over compiled code uses it: the native engine, the successor graph of distances,
simulation, and the tasks on Spark.
"""

from collections.abc import Callable
from typing import Any

from protocol_lab.compiler.building import Watch
from protocol_lab.compiler.kernels import Kernels, constants_array
from protocol_lab.errors import LabError
from protocol_lab.model.spec import Model, Property

MOST_PROPERTIES = 62
"""How many properties have a bit in a number of 64 bits, with one to spare and the sign."""


class CompiledModel:
    """The functions of a model for one choice of what to check; see `Kernels` for their arguments.

    expand: takes all actions. check: evaluates the `properties` of a state, which are the chosen
    invariants, the expected situations and the constraints; check_steps: the spec's step
    invariants, or None if none is chosen. check_constraint and check_goal: the search's own
    conditions, in bit 0, or None. invariants, expected, constraints, step_invariants: their bits
    in the results; places: by the name of a chosen invariant, whether it is one of steps, and the
    number of its bit. watch: see `building.Watch`. Raises LabError if something can't be compiled.
    """

    def __init__(
        self,
        model: Model,
        invariants: list[Property],
        step_invariants: list[Property],
        constraint: Callable[..., Any] | None = None,
        goal: Callable[..., Any] | None = None,
        watch: Watch = lambda *_: None,
    ):
        spec = model.spec
        self.model, self.constants = model, constants_array(model)
        self.kernels = kernels = Kernels(model, watch)
        self.properties = [*invariants, *spec.expected, *spec.constraints]
        if len(self.properties) + len(spec.step_invariants) > MOST_PROPERTIES:
            raise LabError(
                f"{spec.name} has more than {MOST_PROPERTIES} properties to check at once: name"
                " some of its invariants, as in invariants=[...] or --invariant."
            )
        steps = spec.step_invariants if step_invariants else []
        self.expand, self.check, self.check_steps = kernels.of_search(self.properties, steps)
        self.check_constraint = kernels.check_predicate(constraint) if constraint else None
        self.check_goal = kernels.check_predicate(goal) if goal else None
        self.invariants = bits_of(self.properties, invariants)
        self.expected = bits_of(self.properties, spec.expected)
        self.constraints = bits_of(self.properties, spec.constraints)
        self.step_invariants = bits_of(spec.step_invariants, step_invariants)
        self.places = {each.name: (False, k) for k, each in enumerate(invariants)}
        for each in step_invariants:
            self.places[each.name] = True, spec.step_invariants.index(each)

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling, or loading, so far."""
        return self.kernels.compile_seconds


def bits_of(properties: list[Property], chosen: list[Property]) -> int:
    """The chosen properties as a bitmask, in which the first of all properties is bit 0."""
    return sum(1 << k for k, each in enumerate(properties) if each in chosen)
