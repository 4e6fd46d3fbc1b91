"""The layouts with which a reading of a spec's code begins: of the state, the constants, the
parameters and the fields.

`value_flow` follows them through the code. Where the way is lost, as behind a parameter without
annotation, a field is known by its name if all fields of that name are alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from protocol_lab.model import node_sets
from protocol_lab.model.constants import limits_of
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, Named, NodeSet, StructLayout
from protocol_lab.model.parameters import Member, Subset

SET_OF_NODES = IntegerLayout("i8", kind="nodes")
"""Stands for the layout of a set that is no field."""


@dataclass(frozen=True)
class PairLayout(StructLayout):
    """Two states, as a refinement mapping has them: in code `s` is `concrete`, `a` `abstract`."""


class Layouts:
    """The layouts of a model's state: of its structs by class, and of all fields by name.

    state: the layout of the whole state. constants: the class of the constants. roomy: those for
    which it has more room than their values say.
    """

    def __init__(self, state: StructLayout, constants: type, roomy: frozenset[str] = frozenset()):
        self.state, self.limits, self.roomy = state, limits_of(constants), roomy
        choices = {name: IntegerLayout("i8", names=e.choices) for name, e in self.limits.items()}
        self.constants = StructLayout(constants, {}, choices, 0)
        # by the name of a parameter without annotation
        self.states = dict.fromkeys(("s", "before", "after"), state)
        if isinstance(state, PairLayout):
            self.states = {"s": state.fields["concrete"], "a": state.fields["abstract"]}
        self.states["c"] = self.constants
        self.structs: dict[type, StructLayout] = {}
        self.fields: dict[str, Any] = {}  # None where two fields of one name differ
        self._note(state)

    def _note(self, layout: Any) -> None:
        if isinstance(layout, ArrayLayout):
            self._note(layout.item)
        elif is_container(layout):
            self._note(layout.fields["items"])
        elif isinstance(layout, StructLayout):
            self.structs[layout.declared] = layout
            for name, part in layout.fields.items():
                self.fields[name] = common([self.fields.get(name, part), part])
                self._note(part)

    def of_parameter(self, function: Callable, name: str) -> Any:
        """The layout of a function's parameter, by its annotation or name; None if unknown. The
        constants may be annotated with the class of another variant, which the function is from."""
        annotation = signature(function).parameters[name].annotation
        known = self.of_annotation(annotation)
        if annotation is Parameter.empty or (known is None and name == "c"):
            return self.states.get(name)
        return known

    def of_annotation(self, declared: Any) -> Any:
        """The layout of a parameter or result with this annotation; None if unknown.

        A struct that the state has in one derived form only stands for that form.
        """
        if declared is node_sets.Nodes or isinstance(declared, NodeSet | Subset):
            return SET_OF_NODES
        if isinstance(declared, Named):
            return IntegerLayout("i8", names=declared.names)
        if isinstance(declared, Member):
            found: Any = self.state
            for name in declared.path.split("."):
                found = found.fields.get(name) if isinstance(found, StructLayout) else None
            return item_of(found)
        if not isinstance(declared, type):
            return None
        if declared is self.constants.declared:
            return self.constants
        derived = [each for kind, each in self.structs.items() if issubclass(kind, declared)]
        return self.structs.get(declared) or (common(derived) if derived else None)


def common(layouts: list[Any]) -> Any:
    """The layout that all of these share, whatever their widths; None if they differ."""
    first = layouts[0]
    if all(each == first for each in layouts):
        return first
    numbers = [each for each in layouts if isinstance(each, IntegerLayout)]
    if len(numbers) < len(layouts):
        return None
    return first if len({(each.kind == "nodes", each.names) for each in numbers}) == 1 else None


def is_container(layout: Any) -> bool:
    """Is it the layout of a sequence or bag?"""
    return isinstance(layout, StructLayout) and layout.kind != "struct"


def item_of(layout: Any) -> Any:
    """The layout of what an array, sequence or bag holds; None for anything else."""
    if is_container(layout):
        layout = layout.fields["items"]
    return layout.item if isinstance(layout, ArrayLayout) else None
