"""Compiles functions that only compiled code calls: to LLVM code, without machine code.

By default Numba optimises every function and makes machine code of it, and does both again in each
function that calls it. A kernel contains all that it calls, so only the kernel's machine code is
ever run; here the others' is not made, which saves time, and they are optimised as parts of the
kernel. Also left out are Numba's passes for what rewritten code does not contain. Numba offers
`pipeline_class` for such changes; whatever is used beyond that is only known to work in the pinned
version.
"""

import sys
from importlib import import_module
from typing import Any

from llvmlite.binding import Linkage
from numba import njit
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes

from protocol_lab.system.process import is_command_line

_NEEDLESS = {
    typed_passes.DumpParforDiagnostics,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.WithLifting,
}
"""Numba's passes for `with`, `literally`, expressions of whole arrays, and functions that ask to be
inlined: generated and rewritten code has none of them. After many passes Numba looks through the
whole function again. DeadBranchPrune stays: it decides `x is None` where x has its default."""


class _InnerLibrary(JITCodeLibrary):
    """The LLVM code of one function and of those that it calls, to be linked into its callers."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave the code as it is: the kernel's passes optimise it, knowing its arguments."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: such a function is never called by its address."""
        return 0

    @property
    def codegen(self) -> "_InnerLibrary":
        """Numba wants to write a function's environment into its machine code; see `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: `link_environments` does it in the kernel."""


class _KernelLibrary(JITCodeLibrary):
    """The machine code of a kernel, with that of all functions that it calls.

    LLVM learns here that only the kernel calls those functions. Otherwise it would have to keep the
    declared arguments and result of each function that it does not inline: calls would pass
    arguments that are never read, and return a whole text where only its length is needed.
    """

    def _optimize_final_module(self) -> None:
        for each in self._final_module.functions:
            if each.linkage == Linkage.linkonce_odr and not each.is_declaration:
                each.linkage = "internal"
        super()._optimize_final_module()


def _pass_into(library: type[JITCodeLibrary]) -> type[LoweringPass]:
    """The pass that makes the next one write into such a library."""

    @register_pass(mutates_CFG=False, analysis_only=False)
    class IntoLibrary(LoweringPass):
        _name = f"into{library.__name__}"

        def __init__(self) -> None:
            LoweringPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            if library is _KernelLibrary:  # as the next pass does for a library that it makes
                state.library.enable_object_caching()
            return False

    return IntoLibrary


class GeneratedCompiler(CompilerBase):
    """Compiles a kernel: with Numba's own passes but for those that generated and rewritten code
    does not need, and into a `_KernelLibrary`."""

    into = _pass_into(_KernelLibrary)

    def define_pipelines(self) -> list[PassManager]:
        """The one list of passes, which Numba asks for."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [each for each in passes.passes if each[0] not in _NEEDLESS]
        passes.add_pass_after(self.into, AnnotateTypes)  # the last before lowering
        passes.finalize()
        return [passes]


class _InnerCompiler(GeneratedCompiler):
    """The same passes, into an `_InnerLibrary`."""

    into = _pass_into(_InnerLibrary)


inner = njit(
    nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_InnerCompiler
)
"""A decorator: compiles a function that only compiled code calls, once it is called."""


def link_environments(kernel: CompileResult) -> None:
    """Write the environments of the functions in a kernel into its machine code.

    Numba does so for each function's own machine code, which inner functions don't have, and for
    code that is loaded from a cache.
    """
    for environment in kernel._find_referenced_environments():
        kernel.library.codegen.set_env(environment.env_name, environment)


def _load_without_scipy() -> None:
    """Load Numba's functions of arrays, which look for SciPy's matrix products, without these.

    No spec multiplies matrices, and SciPy's take longer to load than a small search.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # an import of it fails
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


if is_command_line():  # elsewhere others may use Numba, too
    _load_without_scipy()
