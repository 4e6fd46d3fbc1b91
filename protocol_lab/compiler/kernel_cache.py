"""The cache of compiled kernels on disk: one file with a checksum for each compiled function.

It replaces Numba's own disk cache, which loads machine code without checking that it is intact. A
file is only unpickled after its checksum was verified; one that is damaged, or was written under
another name, is deleted and compiled again. The file's name contains a hash of everything that the
code depends on: so a stale file is never found, and it is removed once the cache is too large.

If the cache can't be used, code is compiled at every start and kept in memory only.
"""

import hashlib
import inspect
import os
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba import config, njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from protocol_lab.compiler.inner_functions import link_environments
from protocol_lab.errors import LabError
from protocol_lab.reader.source_code import code_of_file
from protocol_lab.system.folders import cache_folder, say_once

if config.DISABLE_JIT:
    raise LabError(
        "NUMBA_DISABLE_JIT is set, and so nothing can be compiled: take it out of the environment,"
        ' or choose engine="python" (--engine python).'
    )

KEPT_BYTES = 2 << 30
"""The most that all kernels may take; beyond it the least recently used are removed."""

_USE_NOTED_SECONDS = 86_400
"""How often the time of the last use is written."""

_FORMAT = b"protocol lab kernel 1\n"


def kernel(
    *signatures: Any,
    stamp: str | None = None,
    prepare: Callable[[], None] | None = None,
    **options: Any,
) -> Callable:
    """A decorator: Numba's `njit`, without the GIL, and kept in this cache.

    What it decorates is compiled (or loaded) when it is first called. signatures: what it will be
    called with, for `missing_kernels`. stamp: what the code depends on besides the function itself,
    by default the code in its file and in the files of the compiled functions that it may call.
    prepare: called before it is compiled, but not if it is loaded.
    """

    def decorate(function: Callable) -> Any:
        compiled = njit(nogil=True, **options)(function)
        compiled._cache = KernelCache(function, stamp, repr(sorted(options.items())), prepare)
        if stamp is None:
            _declared.extend((compiled, normalize_signature(each)[0]) for each in signatures)
        else:
            for signature in signatures:
                compiled.compile(signature)
        return compiled

    return decorate


_declared: list[tuple[Any, tuple]] = []
"""The kernels that are declared with the types they are called with."""


def missing_kernels() -> list[Callable[[], None]]:
    """For each kernel that is declared with its types, and not in the cache, what compiles it."""
    folder = cache_folder("kernels")
    if folder is None:
        return []
    return [
        partial(compiled.compile, types)
        for compiled, types in _declared
        if types not in compiled.overloads
        and not (folder / compiled._cache.file_name(types, compiled.targetctx.codegen())).exists()
    ]


class KernelCache(NullCache):
    """The cache of one function's compiled versions, with the interface that Numba expects."""

    def __init__(
        self,
        function: Callable,
        stamp: str | None,
        options: str,
        prepare: Callable[[], None] | None = None,
    ):
        self._name, self._prepare = function.__qualname__, prepare
        if stamp is None:
            stamp = _hash_of_files(function)
        code = hashlib.sha256(function.__code__.co_code).hexdigest()
        versions = numba.__version__, sys.version
        self._depends_on = (stamp, code, options, int(config.OPT), *versions)

    @property
    def cache_path(self) -> str:
        """The folder of the files, for Numba's statistics."""
        return str(cache_folder("kernels"))

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The compiled version for these types, if it is kept; else Numba compiles it next."""
        found = self._kept(sig, target_context)
        if found is None and self._prepare is not None:
            self._prepare()
        return found

    def _kept(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        folder = cache_folder("kernels")
        if folder is None:
            return None
        file = folder / self.file_name(sig, target_context.codegen())
        content = read(file)
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # intact, and yet not from this version of the kit
            _throw_away(file)
            return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Keep a version that was just compiled."""
        link_environments(data)
        folder = cache_folder("kernels")
        if folder is None or data.library.has_dynamic_globals:
            return
        try:
            write(folder / self.file_name(sig, data.codegen), dumps(data._reduce()))
            _sweep_once(folder)
        except OSError as error:
            say_once(
                "kernels",
                f"Compiled code can't be kept in {folder} ({error.strerror or error}): the next"
                " start compiles it again.",
            )

    def file_name(self, sig: Any, codegen: Any) -> str:
        """Where the version for these types is kept, given with or without the result's."""
        types, _ = normalize_signature(sig)
        key = repr((self._name, types, codegen.magic_tuple(), self._depends_on))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"


def kept_names() -> set[str] | None:
    """The names of the functions that have a file in the cache, for any types; None if nothing can
    be kept."""
    folder = cache_folder("kernels")
    return None if folder is None else {each.partition("-")[0] for each in os.listdir(folder)}


def write(file: Path, content: bytes) -> None:
    """Write a file with its checksum, whole or not at all. Raises OSError if it can't be."""
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        part.write_bytes(_FORMAT + _checksum(file, content) + content)
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read(file: Path) -> bytes | None:
    """What `write` has written; None if there is no such file. If it is damaged, or was written
    under another name, it is deleted, with one line on stderr."""
    try:
        stored = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        stored = b""
    start = len(_FORMAT) + hashlib.sha256().digest_size
    content = stored[start:]
    if stored[:start] != _FORMAT + _checksum(file, content):
        _throw_away(file)
        return None
    with suppress(OSError):
        if time.time() - file.stat().st_mtime > _USE_NOTED_SECONDS:
            os.utime(file)
    return content


def _checksum(file: Path, content: bytes) -> bytes:
    return hashlib.sha256(file.name.encode() + b"\n" + content).digest()


def _throw_away(file: Path) -> None:
    say_once("damaged", f"The kept kernel {file} is damaged: it is compiled again.")
    with suppress(OSError):
        file.unlink()


def sweep(folder: Path) -> None:
    """Remove the least recently used files until all take KEPT_BYTES at most; a part that a killed
    process has written is one of them some day."""
    kept = []
    for file in folder.iterdir():
        with suppress(OSError):
            known = file.stat()
            kept.append((known.st_mtime, known.st_size, file))
    total = sum(size for _, size, _ in kept)
    for _, size, file in sorted(kept):
        if total <= KEPT_BYTES:
            break
        with suppress(OSError):
            file.unlink()
        total -= size


@cache
def _sweep_once(folder: Path) -> None:
    sweep(folder)


def _hash_of_files(function: Callable) -> str:
    """A hash of the function's file, of the files of compiled functions that are imported there,
    and of those of theirs; and of the whole numbers among its global names."""
    files, ahead = {inspect.getfile(function)}, [function]
    numbers = []
    while ahead:
        known = ahead.pop().__globals__
        numbers += sorted((name, value) for name, value in known.items() if type(value) is int)
        for each in known.values():
            plain = getattr(each, "py_func", getattr(each, "_defn", None))
            if inspect.isfunction(plain) and inspect.getfile(plain) not in files:
                files.add(inspect.getfile(plain))
                ahead.append(plain)
    return repr((sorted(map(_hash_of_file, files)), numbers))


@cache
def _hash_of_file(path: str) -> str:
    return hashlib.sha256(code_of_file(path).encode()).hexdigest()
