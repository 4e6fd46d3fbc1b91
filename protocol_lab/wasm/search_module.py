"""Compiles the search of one model to WebAssembly, and describes what a page needs to run it.

To be called in a process of its own, as `python -m protocol_lab.wasm.search_module` is: Numba's
optimisations are switched off, and they can't be taken out of what was compiled before.
"""

import json
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core.codegen import CPUCodeLibrary

from protocol_lab.catalog import load
from protocol_lab.checker.compiled_model import bits_of
from protocol_lab.compiler import loops
from protocol_lab.compiler.building import Builder
from protocol_lab.compiler.code_generation import Piece, action_piece, property_piece
from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.kernels import FAILS, STEP_FAILS
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.transitions import initial
from protocol_lab.spec_files import value_of_cells
from protocol_lab.teaching.challenges import challenge_named, goal_model
from protocol_lab.wasm import driver
from protocol_lab.wasm.translation import end_of_data, module_of, object_file


@dataclass(frozen=True)
class SearchModule:
    """A module, and the `description` with which `js/search.js` runs it, as plain values."""

    module: bytes
    description: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Both as plain values: the module is deflated before it becomes base64, which no server
        could compress as well afterwards."""
        deflated = zlib.compress(self.module, level=9, wbits=-zlib.MAX_WBITS)
        return {**self.description, "module": b64encode(deflated).decode()}


def compile_search(model: Model, invariants: Iterable[str] | None = None) -> SearchModule:
    """The search for a violated invariant; invariants: as in `explore`.

    Raises LabError if the spec can't be compiled.
    """
    CPUCodeLibrary._optimize_functions = _leave_as_it_is
    spec = model.spec
    chosen, chosen_steps = model.choose(None if invariants is None else [*invariants])
    properties = [*chosen, *spec.expected, *spec.constraints]
    builder = Builder(model, lambda *_: None)
    actions = [action_piece(model, each, ()) for each in spec.actions]
    search = driver.make_search(
        _one_after_the_other(builder, actions),
        _judging(builder, model, properties, FAILS),
        _judging(builder, model, spec.step_invariants if chosen_steps else [], STEP_FAILS),
    )
    search.compile((types.int64, types.int64))
    [compiled] = search.overloads.values()
    compiled.library.finalize()  # links what it calls into it
    symbol = compiled.fndesc.llvm_func_name
    content = object_file(str(compiled.library._final_module), symbol)
    rows = [each.row for each in initial(model)]
    description = {
        "spec": spec.name,
        "words": model.words,
        "constants": [int(value) for value in model.constants],
        "initial": [row.hex() for row in rows],
        "actions": [each.name for each in spec.actions],
        "properties": [each.name for each in properties],
        "step_properties": [each.name for each in spec.step_invariants],
        "bits": {
            "INVARIANTS": bits_of(properties, chosen),
            "STEP_INVARIANTS": bits_of(spec.step_invariants, chosen_steps),
            "CONSTRAINTS": bits_of(properties, spec.constraints),
            "UNMET": bits_of(properties, spec.expected),
        },
        "names": _positions(),
        "heap": end_of_data(content),
    }
    return SearchModule(module_of(content, symbol, "search"), description)


def _leave_as_it_is(library: CPUCodeLibrary, module: Any) -> None:
    """In place of Numba's optimisation for this machine."""


def _positions() -> dict[str, int]:
    """The names of positions and results that the script uses, from those of the modules."""
    own = {**vars(loops), **vars(driver)}
    return {name: own[name] for name in own if name.isupper() and type(own[name]) is int}


def _one_after_the_other(builder: Builder, pieces: list[Piece]) -> Callable:
    """A compiled function (work, source) that writes the successors by all actions."""
    lines = ["def expand(work, source):", "    written = 0"]
    for k in range(len(pieces)):
        lines += [
            f"    written = piece_{k}(work, source, written, {k})",
            "    if written < 0:",
            "        return written",
        ]
    return _made(builder, "expand", pieces, [*lines, "    return written"])


def _judging(builder: Builder, model: Model, properties: list[Property], fails: str) -> Callable:
    """A compiled function (table, row, parent, wanted): the wanted properties that fail, as
    bits."""
    pieces = [property_piece(each, fails) for each in properties]
    lines = ["def judge(table, row, parent, wanted):", "    failed = 0"]
    for k in range(len(pieces)):
        lines += [
            f"    if wanted >> {k} & 1:",
            f"        failed |= piece_{k}(table, row, parent, {k}) << {k}",
        ]
    return _made(builder, "judge", pieces, [*lines, "    return failed"])


def _made(builder: Builder, name: str, pieces: list[Piece], lines: list[str]) -> Callable:
    scope = {f"piece_{k}": builder.inlined(each) for k, each in enumerate(pieces)}
    exec("\n".join(lines), scope)
    return inner(scope[name])


def main() -> None:
    """Read requests from standard input, one a line, and write a module for each.

    A request is {"spec": ..., "constants": {...}, "invariants": [...] or null}, {"cells": [...],
    "invariants": ...} for the model that a notebook's cells make, {"challenge": ...,
    "invariants": ...} for a challenge's own model, or {"challenge": ...} for its goal.
    """
    for line in sys.stdin:
        asked = json.loads(line)
        challenge = challenge_named(asked["challenge"]) if "challenge" in asked else None
        if challenge:
            model = challenge.model
        elif "cells" in asked:
            model = value_of_cells(asked["cells"])
        else:
            model = load(asked["spec"]).bind(**asked["constants"])
        if "invariants" in asked:
            made = compile_search(model, asked["invariants"])
        else:
            made = compile_search(*goal_model(challenge, model))
        print(json.dumps(made.to_json()), flush=True)


if __name__ == "__main__":
    main()
