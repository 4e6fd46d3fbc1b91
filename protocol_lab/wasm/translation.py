"""Translates the LLVM code that Numba makes into an object file for WebAssembly, and makes a module
of that, without a linker.

The code must not have been optimised for this machine: optimised code has the sizes of this
machine's addresses in it.

An object file is a module already: it has a section of custom data for the linker, and one of
relocations; the addresses of data and the indices of functions in it are final where nothing else
is linked. So these sections are left out, and a section of exports is added.
"""

import re
from collections.abc import Iterator

import llvmlite.binding as llvm

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals"

_RUNTIME = """
define internal i32 @memcmp(ptr %left, ptr %right, i64 %count) {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %more, %same ]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %equal, label %compare
compare:
  %at = getelementptr i8, ptr %left, i64 %k
  %other = getelementptr i8, ptr %right, i64 %k
  %a = load i8, ptr %at
  %b = load i8, ptr %other
  %more = add i64 %k, 1
  %is = icmp eq i8 %a, %b
  br i1 %is, label %same, label %differ
same:
  br label %next
differ:
  %wide_a = zext i8 %a to i32
  %wide_b = zext i8 %b to i32
  %order = sub i32 %wide_a, %wide_b
  ret i32 %order
equal:
  ret i32 0
}
define void @__multi3(ptr %result, i64 %a, i64 %ah, i64 %b, i64 %bh) {
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %low = mul i64 %a0, %b0
  %one = mul i64 %a0, %b1
  %two = mul i64 %a1, %b0
  %high = mul i64 %a1, %b1
  %carry = lshr i64 %low, 32
  %one_low = and i64 %one, 4294967295
  %two_low = and i64 %two, 4294967295
  %m1 = add i64 %carry, %one_low
  %middle = add i64 %m1, %two_low
  %shifted = shl i64 %middle, 32
  %bottom = and i64 %low, 4294967295
  %answer = or i64 %shifted, %bottom
  store i64 %answer, ptr %result
  %one_high = lshr i64 %one, 32
  %two_high = lshr i64 %two, 32
  %middle_high = lshr i64 %middle, 32
  %h1 = add i64 %high, %one_high
  %h2 = add i64 %h1, %two_high
  %h3 = add i64 %h2, %middle_high
  %c1 = mul i64 %ah, %b
  %c2 = mul i64 %a, %bh
  %h4 = add i64 %h3, %c1
  %h5 = add i64 %h4, %c2
  %upper = getelementptr i64, ptr %result, i32 1
  store i64 %h5, ptr %upper
  ret void
}
"""
"""Functions of the C library that compiled code calls: __multi3 multiplies numbers of 128 bits, for
which a checked product asks."""

_COUNTED = re.compile(
    r"^define [^\n]*@(NRT_(?:in|de)cref[^ (]*)\([^\n]*\{\n.*?^\}", re.DOTALL | re.MULTILINE
)
"""The functions that count references to memory. Only constant texts have counts here, so they do
nothing."""


def object_file(code: str, exported: str) -> bytes:
    """The object file of this LLVM code, of whose functions one is called from outside.

    Raises RuntimeError if the code is not valid, or calls what is not there.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        opt=3, reloc="static", features=FEATURES
    )
    code = re.sub(r'^target datalayout = ".*"', "", code, flags=re.MULTILINE)
    code = re.sub(r'^target triple = ".*"', "", code, flags=re.MULTILINE)
    code = _COUNTED.sub(r"define internal void @\1(ptr %0) alwaysinline {\n  ret void\n}", code)
    if "declare i32 @memcmp" in code:
        code = re.sub(r"^declare i32 @memcmp\(.*$", "", code, flags=re.MULTILINE)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{TRIPLE}"\n'
    module = llvm.parse_assembly(head + code + _RUNTIME)
    for each in module.functions:
        if not each.is_declaration and each.name not in (exported, "__multi3"):
            each.linkage = "internal"
    for each in module.global_variables:
        if not each.is_declaration:
            each.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    missing = [each.name for each in module.functions if each.is_declaration]
    missing = [name for name in missing if not name.startswith("llvm.")]
    if missing:
        raise RuntimeError(f"WebAssembly has no {', '.join(missing)}")
    return machine.emit_object(module)


_CUSTOM, _EXPORT, _START, _ELEMENTS, _CODE, _DATA, _DATA_COUNT = 0, 7, 8, 9, 10, 11, 12
_AFTER_EXPORTS = (_START, _ELEMENTS, _CODE, _DATA, _DATA_COUNT)
_SYMBOL_TABLE, _FUNCTION, _DATA_SYMBOL, _SECTION = 8, 0, 1, 3
_UNDEFINED, _NAMED = 0x10, 0x40


def module_of(content: bytes, exported: str, name: str) -> bytes:
    """The module of an object file, which exports the function with this symbol under a name."""
    functions = _functions(content)
    entry = _with_length(name.encode()) + b"\0" + _number(functions[exported])
    exports = _number(1) + entry
    module, is_put = content[:8], False
    for kind, body in _sections(content):
        if kind == _CUSTOM:
            continue
        if kind in _AFTER_EXPORTS and not is_put:
            module += bytes([_EXPORT]) + _with_length(exports)
            is_put = True
        module += bytes([kind]) + _with_length(body)
    return module


def end_of_data(content: bytes) -> int:
    """The first address behind the constants, which begin at 0."""
    end = 0
    for kind, body in _sections(content):
        if kind != _DATA:
            continue
        count, at = _read(body, 0)
        for _ in range(count):
            _, at = _read(body, at)  # an active segment of the only memory
            start, at = _read(body, at + 1)  # the instruction i32.const, and its operand
            length, at = _read(body, at + 1)  # the instruction end
            end, at = max(end, start + length), at + length
    return end


def _functions(content: bytes) -> dict[str, int]:
    """The functions of an object file by symbol: their indices."""
    for kind, body in _sections(content):
        name, at = _text(body, 0) if kind == _CUSTOM else ("", 0)
        if name == "linking":
            _, at = _read(body, at)  # the version
            while at < len(body):
                subsection = body[at]
                size, at = _read(body, at + 1)
                if subsection == _SYMBOL_TABLE:
                    return dict(_symbols(body, at))
                at += size
    raise ValueError("the object file has no table of symbols")


def _symbols(body: bytes, at: int) -> Iterator[tuple[str, int]]:
    count, at = _read(body, at)
    for _ in range(count):
        kind = body[at]
        flags, at = _read(body, at + 1)
        if kind == _SECTION:
            _, at = _read(body, at)
        elif kind == _DATA_SYMBOL:
            _, at = _text(body, at)
            for _ in range(0 if flags & _UNDEFINED else 3):
                _, at = _read(body, at)
        else:
            index, at = _read(body, at)
            if not flags & _UNDEFINED or flags & _NAMED:
                name, at = _text(body, at)
                if kind == _FUNCTION:
                    yield name, index


def _sections(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 8
    while at < len(content):
        kind = content[at]
        size, at = _read(content, at + 1)
        yield kind, content[at : at + size]
        at += size


def _read(content: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return number, at


def _number(value: int) -> bytes:
    found = bytearray()
    while True:
        low, value = value & 127, value >> 7
        found.append(low | (128 if value else 0))
        if not value:
            return bytes(found)


def _with_length(content: bytes) -> bytes:
    return _number(len(content)) + content


def _text(content: bytes, at: int) -> tuple[str, int]:
    size, at = _read(content, at)
    return content[at : at + size].decode(), at + size
