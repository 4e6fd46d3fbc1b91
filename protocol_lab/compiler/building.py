"""Compiling generated code, and keeping it on the disk.

What is generated is written into a cache folder named by a hash of everything that it depends on,
and compiled there. A second start loads the machine code; what calls an edited function has another
hash and is compiled anew.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from platformdirs import user_cache_dir

from protocol_lab.compiler import code_generation, compiler, loops, records
from protocol_lab.errors import LabError
from protocol_lab.interrupts import deferred_interrupts
from protocol_lab.spec.extensions import left_out
from protocol_lab.spec.node_sets import size
from protocol_lab.spec.spec import Model

compilations: list[str] = []
"""What this process compiled rather than loaded; a test counts it."""

loaded: dict[str, Any] = {}
"""What this process has compiled or loaded, by its hash."""

_lock = threading.Lock()
"""A search in the background and a learner's own may both want a piece; one compiles at a time."""

_ENTRANCES = {
    "piece": {"signature_or_function": loops.PIECE, "no_cpython_wrapper": True},
    "identify": {
        "signature_or_function": types.void(
            *(types.uint64[:, ::1], types.int64, types.uint8[::1]),
            *[types.int64[::1]] * 5,
            *(types.uint64[:, ::1], types.uint64[::1]),
        )
    },
}
"""How generated functions are called: their types, and whether Python calls them, too."""


Watch = Callable[[str, int, int], None]
"""Is told, before each piece: its name, its number from 0, and how many there are."""


class Builder:
    """Compiles or loads what is generated for one model (a spec and a layout)."""

    def __init__(self, model: Model, watch: Watch):
        self.model, self.watch = model, watch
        self.seconds = 0.0
        self.compiler = compiler.Compiler(
            model.layout, model.spec.constants._fields, left_out(model.constants)
        )

    def addresses(self, wanted: list[code_generation.Piece]) -> np.ndarray:
        """Where the machine code of these pieces starts, for `loops`.

        An interruption is raised between two pieces, as KeyboardInterrupt.
        """
        found = []
        with deferred_interrupts() as interrupted:
            for k, piece in enumerate(wanted):
                self.watch(piece.name, k, len(wanted))
                found.append(self._address(piece))
                if interrupted():
                    raise KeyboardInterrupt
        return np.array(found, np.int64)

    def loop(self, loop: Any, signature: Any) -> Any:
        """One of `loops`, compiled or loaded."""
        with _lock:
            began = time.perf_counter()
            loop.compile(signature)
            self.seconds += time.perf_counter() - began
        return loop

    def _address(self, piece: code_generation.Piece) -> int:
        built = self.built("piece", piece.name, piece.functions, piece.text)
        compiled = built.get_compile_result(loops.PIECE)
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)

    def built(
        self,
        kind: str,
        name: str,
        functions: dict[str, Callable],
        source: str,
        called: dict[str, Any] | None = None,
    ) -> Any:
        """The compiled version of a generated function of a kind of `_ENTRANCES`.

        functions: the plain functions that it calls; called: other things. Raises LabError if it
        can't be compiled, or not be kept.
        """
        with _lock:
            key = self.compiler.hash_of(list(functions.values()), source)
            if key not in loaded:
                began = time.perf_counter()
                loaded[key] = self._load(key, kind, name, functions, source, called or {})
                self.seconds += time.perf_counter() - began
            return loaded[key]

    def _load(
        self,
        key: str,
        kind: str,
        name: str,
        functions: dict[str, Callable],
        source: str,
        called: dict[str, Any],
    ) -> Any:
        path = cache_folder() / key / f"{kind}.py"
        _write_once(path, source)
        scope: dict[str, Any] = {
            "__name__": __name__,
            "Constants": self.model.spec.constants,
            "state_at": self.compiler.state_at,
            "sequence": compiler.inner(code_generation.sequence),
            "size_of": compiler.inner(size),
            "keep": compiler.inner(loops.keep),
            **{each: getattr(records, each) for each in ("as_number", "copy_state")},
            **{each: value for each, value in vars(loops).items() if type(value) is int},
            **{each: getattr(loops, each) for each in ("number_at", "put_number")},
            **called,
            **{each: self.compiler.compiled(function) for each, function in functions.items()},
        }
        exec(compile(source, str(path), "exec"), scope)
        scope[kind].__qualname__ = f"{kind}_{key}"
        try:
            built = njit(nogil=True, cache=True, no_cfunc_wrapper=True, **_ENTRANCES[kind])(
                scope[kind]
            )
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise LabError(
                f"{self.model.spec.name} can't be compiled: {_cause(error)}. Write it with"
                ' numbers, loops and fields of the state only, or use engine="python".'
            ) from None
        if not built.stats.cache_hits:
            compilations.append(f"{self.model.spec.name} {name}")
        return built


def _cause(error: Exception) -> str:
    """The one line of Numba's long message that says what it does not understand, and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "- Resolution"))]
    ours = ("there is no field", "can't be stored", "can be assigned")
    causes = [line for line in told if any(each in line for each in ours)]
    generated = str(cache_folder())
    place = next((line for line in told if line.startswith("File ") and generated not in line), "")
    line_number = place.partition("line ")[2].rstrip(":")
    where = f" (line {line_number})" if line_number.isdigit() else ""
    return (causes or told)[0].rstrip(".") + where


def cache_folder() -> Path:
    """Where compiled code is kept: $PROTOCOL_LAB_CACHE, or the user's cache folder."""
    return Path(os.environ.get("PROTOCOL_LAB_CACHE") or user_cache_dir("protocol-lab")) / "kernels"


def _write_once(path: Path, source: str) -> None:
    try:
        if not path.exists():  # its time stamp is part of Numba's cache index: never rewritten
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(source)
            part.replace(path)
    except OSError as error:
        raise LabError(
            f"Compiled code can't be kept in {path.parent} ({error.strerror}): free some space or"
            " set PROTOCOL_LAB_CACHE to a folder that can be written."
        ) from None
