"""Chooses the engine that searches in this process: native, or the reference engine."""

import importlib.util

from protocol_lab.checker.options import NATIVE, PYTHON


def engine_here(engine: str) -> str:
    """The engine that was asked for; in place of the native one the reference engine where Numba is
    not installed, as in a page."""
    if engine == NATIVE and importlib.util.find_spec("numba") is None:
        return PYTHON
    return engine


def search_class(engine: str) -> type:
    """The class of an engine, imported only where it is used: Numba alone takes a second."""
    if engine == NATIVE:
        from protocol_lab.checker.breadth_first import NativeSearch

        return NativeSearch
    from protocol_lab.checker.reference import PythonSearch

    return PythonSearch


def fastest_search() -> type:
    """The engine for searches of the kit's own, where nobody asks for one."""
    return search_class(engine_here(NATIVE))
