"""The searches that a site's pages need, compiled once and kept in the cache."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llvmlite
import numba

from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model
from protocol_lab.page.searches import name_of
from protocol_lab.reader.dependencies import source_hash
from protocol_lab.system.folders import cache_folder, write_whole

ROOT = Path(__file__).parents[2]


@dataclass
class Searches:
    """The modules that pages need: `asked` has what to compile, and `code` a hash of all code that
    it reaches, by their names."""

    asked: dict[str, dict[str, Any]] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)

    def add(self, model: Model, goal_of: str = "", **asked: Any) -> None:
        """Add the search of a model, for any of its invariants, or for the goal of a challenge.

        asked: where the module's compiler finds the model: its `spec` in the catalog, the `cells`
        that make it, or the `challenge` that it is of.
        """
        name = name_of(model, goal_of)
        if goal_of:
            asked["challenge"] = goal_of
        else:
            invariants = [*model.spec.invariants, *model.spec.step_invariants]
            asked["invariants"] = [each.name for each in invariants]
        if "spec" in asked:
            constants = show(model.constants).items()
            asked["constants"] = {each: as_text(value) for each, value in constants}
        spec = model.spec
        parts = [*spec.actions, *spec.invariants, *spec.step_invariants]
        parts += [*spec.constraints, *spec.expected]
        self.asked[name] = asked
        self.code[name] = source_hash([each.function for each in parts])

    def update(self, other: "Searches") -> None:
        """Add the modules that other pages need."""
        self.asked |= other.asked
        self.code |= other.code

    def scripts(self, tell: Callable[[str], None] = lambda _: None) -> Iterator[tuple[str, str]]:
        """The name of each search and the script that gives it to the page.

        A search that can't be compiled is left out. tell(progress) is called after each of them.
        After an interrupt, those that were compiled are kept.
        """
        kept = cache_folder("searches")
        version = _version()
        with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
            made = {}
            for name, asked in self.asked.items():
                file = kept and kept / f"{name}-{self.code[name]}-{version}.json"
                made[name] = pool.submit(_made, asked, file)
            try:
                for number, (name, text) in enumerate(made.items(), 1):
                    if text.result():
                        yield name, f"labSearch({json.dumps(name)}, {text.result()});\n"
                    tell(f"search {number} of {len(made)}: {name}")
            finally:
                pool.shutdown(cancel_futures=True)


def _made(asked: dict[str, Any], file: Path | None) -> str:
    """The module and its description as JSON, kept in the file; empty if it can't be compiled."""
    if file and file.is_file():
        return file.read_text(encoding="utf-8")
    # In a process of its own, since Numba's optimisations are switched off.
    done = subprocess.run(
        [sys.executable, "-m", "protocol_lab.wasm.search_module"],
        input=json.dumps(asked),
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    text = done.stdout.strip() if done.returncode == 0 else ""
    if file and text:
        write_whole(file, text.encode())
    return text


def _version() -> str:
    """A mark of what the modules are made by, besides the specs."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for room in ("wasm", "compiler", "reader", "model", "checker"):
        for path in sorted((ROOT / "protocol_lab" / room).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]
