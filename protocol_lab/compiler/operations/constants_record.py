"""Compiled access to a spec's constants: each is read where it stands when it is asked for.

So functions pass an address on instead of all the numbers, of which most functions read only a few.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import register_default
from numba.core.datamodel.models import OpaqueModel
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic

from protocol_lab.reader.dependencies import short_hash

_INT64 = ir.IntType(64)


class ConstantsRecord(types.Type):
    """The type of `c`: int64 numbers that stand one after the other, called by these names."""

    def __init__(self, fields: tuple[str, ...]):
        self.fields = fields
        super().__init__(f"constants({', '.join(fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """The type's part in names of machine code (see `records.StateRecord`)."""
        return "Constants", (short_hash(self.name),)


register_default(ConstantsRecord)(OpaqueModel)  # the address of the first


@infer_getattr
class _Constants(AttributeTemplate):
    key = ConstantsRecord

    def generic_resolve(self, constants: ConstantsRecord, name: str) -> types.Type:
        if name not in constants.fields:
            known = ", ".join(constants.fields)
            raise TypingError(f"there is no constant {name!r}; there are {known}")
        return types.int64


@lower_getattr_generic(ConstantsRecord)
def _get_constant(context, builder, constants, value, name):
    numbers = builder.bitcast(value, _INT64.as_pointer())
    found = builder.load(builder.gep(numbers, [_INT64(constants.fields.index(name))]))
    # Whatever is written meanwhile, it need not be loaded again.
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def make_constants_at(fields: tuple[str, ...]) -> Any:
    """Make a compiled function (address) -> the constants that stand there."""
    kind = ConstantsRecord(fields)

    @intrinsic
    def constants_at(typing_context, start):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.int64), codegen

    return constants_at
