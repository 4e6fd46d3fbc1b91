"""Transfers a model to another process, and checks that it is still the same there.

A spec from a module is sent as the module's name and imported there (`packaging` ships the module).
A spec from a notebook cell is sent by value, pickled with the source of its functions, since Numba
compiles from source. In both cases the receiver hashes what it got and refuses it if it differs
from what was sent.
"""

import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from protocol_lab.errors import LabError
from protocol_lab.model.spec import Action, Model, Spec
from protocol_lab.reader import dependencies
from protocol_lab.reader.source_code import parse
from protocol_lab.spark.executor.task_reports import TaskRequest
from protocol_lab.spark.packaging import packages_for


@dataclass(frozen=True)
class PackedModel:
    """What another process needs to rebuild the model and the request.

    spec: the module and the name in it, or None; pickled: (spec or None, constraint);
    packages: what must be importable there; source: the hash to be matched.
    """

    spec: tuple[str, str] | None
    pickled: bytes
    constants: tuple[int, ...]
    packages: tuple[str, ...]
    source: str
    request: TaskRequest


class UnpackedModel(NamedTuple):
    """A model, and a request for its search: the constraint, if any, and the rest."""

    model: Model
    constraint: Callable | None = None
    request: TaskRequest = TaskRequest()

    @property
    def functions(self) -> list[Callable]:
        """The functions of the request."""
        return [self.constraint] if self.constraint else []

    @property
    def source(self) -> str:
        """A hash of everything that decides which states are reachable and what they mean."""
        return source_of(self.model, self.functions)


def pack_model(unpacked: UnpackedModel) -> PackedModel:
    """Pack a model and a request. Raises LabError if a function's source can't be read."""
    from pyspark import cloudpickle

    model, constraint, request = unpacked
    place = _place_of(model.spec)
    functions = functions_of(model.spec)
    travelling = [*(functions if place is None else []), *unpacked.functions]
    with _sources_attached(dependencies.reachable(travelling)):
        whole = None if place else replace(model.spec, draw=None)
        pickled = cloudpickle.dumps((whole, constraint))
    reached = dependencies.reachable([*functions, *unpacked.functions])
    modules = [*(each.__module__ for each in reached), *([place[0]] if place else [])]
    packages = tuple(packages_for(modules))
    return PackedModel(place, pickled, tuple(model.constants), packages, unpacked.source, request)


def unpack_model(packed: PackedModel) -> UnpackedModel:
    """The model and the request. Raises LabError if their source differs here."""
    from pyspark import cloudpickle

    spec, constraint = cloudpickle.loads(packed.pickled)
    if packed.spec:
        module, name = packed.spec
        spec = getattr(importlib.import_module(module), name)
    constants = spec.constants(*packed.constants)
    model = spec.model(constants)
    unpacked = UnpackedModel(model, constraint, packed.request)
    if unpacked.source != packed.source:
        raise LabError(
            f"The source of {spec.name} was edited after it was loaded: load it again"
            " (restart the kernel, or call protocol_lab.catalog.load)."
        )
    return unpacked


def functions_of(spec: Spec) -> list[Callable]:
    """Every function that a spec registers, and those of its parameters' domains."""
    properties = [
        *spec.invariants,
        *spec.step_invariants,
        *spec.expected,
        *spec.constraints,
    ]
    functions = [each.function for each in properties]
    for action in [*spec.inits, *spec.actions]:
        functions += [action.function, *filter(None, [action.multiplicity])]
        functions += [value for _, value in _bounds(action) if callable(value)]
    return functions


def source_of(model: Model, more: list[Callable]) -> str:
    """A hash of all code of a spec, and of these further functions."""
    spec = model.spec
    domains = [
        (action.name, name, value)
        for action in [*spec.inits, *spec.actions]
        for name, value in _bounds(action)
        if not callable(value)
    ]
    functions = [*functions_of(spec), *more]
    order = [function.__qualname__ for function in functions]
    return dependencies.source_hash(functions, order, domains, model.layout)


def _bounds(action: Action) -> Iterator[tuple[str, Any]]:
    for name, domain in action.domains.items():
        yield name, type(domain).__name__
        for value in vars(domain).values():
            yield name, value


def _place_of(spec: Spec) -> tuple[str, str] | None:
    """The module and name under which another process can import the spec."""
    for module_name, module in sys.modules.copy().items():
        if module_name == "__main__" or getattr(module, "__spec__", None) is None:
            continue
        for name, value in vars(module).copy().items():
            if value is spec:
                return module_name, name
    return None


@contextmanager
def _sources_attached(functions: Iterable[Callable]) -> Iterator[None]:
    """Give functions that can't be imported elsewhere their source text, while they are pickled."""
    given = []
    for function in functions:
        if not hasattr(function, "lab_source") and not _can_be_imported(function):
            try:
                function.lab_source = textwrap.dedent(inspect.getsource(function))
            except (OSError, TypeError):
                parse(function)  # raises LabError with the remedy
            given.append(function)
    try:
        yield
    finally:
        for function in given:
            del function.lab_source


def _can_be_imported(function: Callable) -> bool:
    if function.__module__ == "__main__":
        return False
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__qualname__, None) is function
