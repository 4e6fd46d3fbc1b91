"""Compiles searches, and runs them in Node."""

import json
import shutil
import subprocess
import sys
from typing import Any

from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import initial
from protocol_lab.page.searches import question
from tests import ROOT

NODE = shutil.which("node")

BYTES = 300 << 20
"""The memory of a search."""

_RUN = """
import { newSearch } from "./protocol_lab/wasm/js/search.js";
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
const { made, questions } = JSON.parse(readFileSync(0));
const module = new WebAssembly.Module(inflateRawSync(Buffer.from(made.module, "base64")));
console.log(JSON.stringify(questions.map((asked) => {
  const search = newSearch(module, made, asked);
  while (search.step() === "GOING_ON");
  return search.told();
})));
"""


def compiled(model: Model) -> dict[str, Any]:
    """The module that searches a model for any of its invariants, with its description."""
    properties = [*model.spec.invariants, *model.spec.step_invariants]
    asked = {
        "spec": model.spec.name,
        "constants": {name: as_text(value) for name, value in show(model.constants).items()},
        "invariants": [each.name for each in properties],
    }
    words = [sys.executable, "-m", "protocol_lab.wasm.search_module"]
    return json.loads(_answer(words, asked))


def searched(made: dict[str, Any], model: Model, invariants: list[str]) -> dict[str, Any]:
    """What the search of a model with the module's layout tells."""
    return all_searched(made, [(model, invariants)])[0]


def all_searched(
    made: dict[str, Any], asked: list[tuple[Model, list[str]]], **more: Any
) -> list[dict[str, Any]]:
    """What the searches of several models tell, each for its invariants, in one process."""
    questions = []
    for model, invariants in asked:
        rows = [each.row for each in initial(model)]
        questions.append({**question(model, invariants, rows), "bytes": BYTES, **more})
    words = [NODE, "--input-type=module", "-e", _RUN]
    return json.loads(_answer(words, {"made": made, "questions": questions}))


def fits(model: Model, states: int) -> bool:
    """Do so many states fit into the memory? Each takes its row, its parent and four slots."""
    return states * (8 * model.words + 8 + 32) < BYTES


def _answer(words: list[str], asked: Any) -> str:
    done = subprocess.run(
        words, input=json.dumps(asked), cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
