"""Makes a WebAssembly module of an object file, without a linker.

An object file is a module already: it has a section of custom data for the linker, and one of
relocations; the addresses of data and the indices of functions in it are final where nothing else
is linked. So these sections are left out, and a section of exports is added.
"""

from collections.abc import Iterator

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
