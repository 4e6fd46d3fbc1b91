"""Text in which every character can be shown: control characters are replaced by their pictures.

XML, and so SVG, admits no control characters except tab and line breaks; a terminal obeys them. A
pasted caption may contain any of them.
"""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"}
_NOTHING_TO_SHOW = [*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]
_TABLE = {**_PICTURES, 0x7F: "\u2421", **dict.fromkeys(_NOTHING_TO_SHOW, "\ufffd")}


def visible(text: str) -> str:
    """The text with the picture of each control character in its place, such as ␀ for NUL.

    Characters without a picture (lone surrogates, the controls of Latin-1) become the replacement
    character. Tabs and line breaks stay.
    """
    return text.translate(_TABLE)


_LINE_BREAKS = {ord("\t"): "\u2409", ord("\n"): "\u2424", ord("\r"): "\u240d", 0x2028: "\u2424"}
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_LINE_TABLE = {**_TABLE, **_LINE_BREAKS, 0x2029: "\u2424", **dict.fromkeys(_DIRECTIONS, "\ufffd")}


def visible_line(text: str) -> str:
    """The text as one line, for a name that somebody else chose, such as a folder's.

    As `visible`; line breaks and tabs are shown by their pictures, too, and the controls that turn
    the direction of what follows become the replacement character.
    """
    return text.translate(_LINE_TABLE)
