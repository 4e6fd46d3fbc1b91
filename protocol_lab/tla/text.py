"""Prints TLA+ expressions: short ones on a line, long ones as they are usually laid out."""

from functools import lru_cache

from protocol_lab.tla.expressions import Expression, parts_of

WIDTH = 92

_LEVELS = {"\\cup": 8, "\\": 8, "\\cap": 8, "..": 9, "(+)": 10, "(-)": 11, "+": 10, "-": 11}
_LEVELS |= {"*": 13, "\\div": 13, "%": 12, "\\o": 13, "^": 14}
_LEVELS |= dict.fromkeys(("=", "#", "<", ">", "<=", ">=", "\\in", "\\notin", "\\subseteq"), 5)
_SAME = {"+", "\\cup", "*", "\\o", "\\cap", "(+)"}
"""Operators of which a chain needs no parentheses."""


def level(expression: Expression) -> int:
    """How tightly its outermost operator binds: 0 for what extends to the right, 20 for atoms."""
    match expression[0]:
        case "op":
            return _LEVELS[expression[1]]
        case "and" | "or":
            return 3
        case "not":
            return 4
        case "if" | "let" | "quant" | "choose":
            return 0
        case "prefix":
            return 9
        case "num":
            return 20 if expression[1] >= 0 else 12
        case "note":
            return level(expression[1])
        case "unchanged":
            return 4
    return 20


def flat(expression: Expression) -> str:
    """On one line."""
    kind, *parts = expression
    match kind:
        case "num" | "name":
            return str(parts[0])
        case "str":
            return '"' + parts[0].replace("\\", "\\\\").replace('"', '\\"') + '"'
        case "op":
            sign, left, right = parts
            own = _LEVELS[sign]
            before = _in(left, own if left[0] == "op" and left[1] == sign in _SAME else own + 1)
            after = _in(right, own + 1)
            return f"{before}..{after}" if sign == ".." else f"{before} {sign} {after}"
        case "and" | "or":
            sign = " /\\ " if kind == "and" else " \\/ "
            return sign.join(_in(each, 4) for each in parts[0])
        case "not":
            return "~" + _in(parts[0], 16)
        case "if":
            return "IF {} THEN {} ELSE {}".format(*map(flat, parts))
        case "quant":
            return f"{parts[0]} {parts[1]} \\in {_in(parts[2], 6)} : {flat(parts[3])}"
        case "filter":
            return f"{{{parts[0]} \\in {_in(parts[1], 6)} : {flat(parts[2])}}}"
        case "map":
            return f"{{{flat(parts[0])} : {parts[1]} \\in {_in(parts[2], 6)}}}"
        case "choose":
            return f"CHOOSE {parts[0]} \\in {_in(parts[1], 6)} : {flat(parts[2])}"
        case "fn":
            return f"[{parts[0]} \\in {_in(parts[1], 6)} |-> {flat(parts[2])}]"
        case "call":
            given = ", ".join(map(flat, parts[1]))
            return f"{parts[0]}({given})" if given else parts[0]
        case "index":
            return f"{_in(parts[0], 17)}[{flat(parts[1])}]"
        case "field":
            return f"{_in(parts[0], 17)}.{parts[1]}"
        case "functions":
            return f"[{flat(parts[0])} -> {flat(parts[1])}]"
        case "record":
            return "[" + ", ".join(f"{each} |-> {flat(value)}" for each, value in parts[0]) + "]"
        case "set":
            return "{" + ", ".join(map(flat, parts[0])) + "}"
        case "tuple":
            return "<<" + ", ".join(map(flat, parts[0])) + ">>"
        case "except":
            clauses = ", ".join(f"{path_text(path)} = {flat(value)}" for path, value in parts[1])
            return f"[{_in(parts[0], 17)} EXCEPT {clauses}]"
        case "let":
            defined = " ".join(f"{_head(each)} == {flat(each[2])}" for each in parts[0])
            return f"LET {defined} IN {flat(parts[1])}"
        case "prefix":
            return f"{parts[0]} {_in(parts[1], 16)}" if parts[0] != "-" else f"-{_in(parts[1], 16)}"
        case "prime":
            return f"{_in(parts[0], 17)}'"
        case "box":
            return f"[][{flat(parts[0])}]_{parts[1]}"
        case "note":
            return flat(parts[0])
        case "unchanged":
            names = parts[0]
            return f"UNCHANGED {names[0] if len(names) == 1 else '<<' + ', '.join(names) + '>>'}"
    raise ValueError(kind)


def _in(expression: Expression, least: int) -> str:
    shown = flat(expression)
    return shown if level(expression) >= least else f"({shown})"


def _head(defined: tuple) -> str:
    each, parameters, _, recursive = defined
    head = f"{each}({', '.join(parameters)})" if parameters else each
    return f"RECURSIVE {each}({', '.join('_' * len(parameters))}) {head}" if recursive else head


def path_text(path: tuple) -> str:
    """A path of EXCEPT: ![i].x."""
    return "!" + "".join(f".{at}" if step == "f" else f"[{flat(at)}]" for step, at in path)


@lru_cache(10_000)  # a head and what follows are tried in two ways, at each depth
def block(expression: Expression, width: int = WIDTH) -> list[str]:
    """In lines, each of at most `width` characters if that can be."""
    kind, *parts = expression
    if kind == "note":
        lines = block(parts[0], width)
        remark = f"  \\* else: {parts[1]}"
        if len(lines) == 1 and len(lines[0]) + len(remark) <= width:
            return [lines[0] + remark]
        return [f"\\* else: {parts[1]}", *lines] if len(lines) > 1 or parts[1] else lines
    if not _needs_lines(expression):
        shown = flat(expression)
        if len(shown) <= width:
            return [shown]
    match kind:
        case "and" | "or":
            sign = "/\\ " if kind == "and" else "\\/ "
            return [line for each in parts[0] for line in _bullet(sign, each, width)]
        case "if":
            return [
                *behind("IF ", parts[0], width),
                *behind("THEN ", parts[1], width),
                *behind("ELSE ", parts[2], width),
            ]
        case "let":
            lines = []
            for k, each in enumerate(parts[0]):
                start = "LET " if k == 0 else "    "
                head = _head(each)
                if each[3]:
                    declared, head = head.split(") ", 1)
                    lines.append(f"{start}{declared})")
                    start = "    "
                lines += behind(f"{start}{head} == ", each[2], width, hang=8)
            return [*lines, *behind("IN  ", parts[1], width)]
        case "quant":
            head = f"{parts[0]} {parts[1]} \\in {_in(parts[2], 6)} : "
            return behind(head, parts[3], width, hang=4)
        case "choose":
            head = f"CHOOSE {parts[0]} \\in {_in(parts[1], 6)} : "
            return behind(head, parts[2], width, hang=4)
        case "filter":
            head = f"{{{parts[0]} \\in {_in(parts[1], 6)} : "
            return closed(behind(head, parts[2], width - 1, hang=4), "}")
        case "map":
            return closed(
                behind("{", parts[0], width - 20), f" : {parts[1]} \\in {_in(parts[2], 6)}}}"
            )
        case "fn":
            head = f"[{parts[0]} \\in {_in(parts[1], 6)} |-> "
            return closed(behind(head, parts[2], width - 1, hang=4), "]")
        case "record":
            rows = [behind(f"{each} |-> ", value, width - 2) for each, value in parts[0]]
            return _listed("[", rows, "]")
        case "set":
            return _listed("{", [block(each, width - 2) for each in parts[0]], "}")
        case "tuple":
            return _listed("<<", [block(each, width - 4) for each in parts[0]], ">>")
        case "except":
            rows = [
                behind(f"{path_text(path)} = ", value, width - 6, hang=4)
                for path, value in parts[1]
            ]
            base = _in(parts[0], 17)
            if len(base) < 40 and not _needs_lines(parts[0]):
                return _listed(f"[{base} EXCEPT ", rows, "]")
            above = closed(_hang("[", _block_in(parts[0], 17, width - 9), width), " EXCEPT")
            return [*above, *_listed("    ", rows, "]")]
        case "op":
            sign, left, right = parts
            own = _LEVELS[sign]
            before = _block_in(
                left, own if left[0] == "op" and left[1] == sign in _SAME else own + 1, width
            )
            if len(before) == 1 and len(before[0]) < width // 2:
                return _hang(f"{before[0]} {sign} ", _block_in(right, own + 1, width - 4), width)
            return [*before, *_hang(f"  {sign} ", _block_in(right, own + 1, width - 6), width)]
        case "not":
            return _hang("~", _block_in(parts[0], 16, width - 1), width)
        case "call":
            rows = [block(each, width - 6) for each in parts[1]]
            if sum(map(len, rows)) == len(rows):
                return _listed(f"{parts[0]}(", rows, ")")
            return [f"{parts[0]}(", *closed(["    " + line for line in _listed("", rows, "")], ")")]
        case "box":
            return closed(behind("[][", parts[0], width - 6), f"]_{parts[1]}")
        case "index":
            return closed(_block_in(parts[0], 17, width - 8), f"[{flat(parts[1])}]")
        case "field":
            return closed(_block_in(parts[0], 17, width - 8), f".{parts[1]}")
        case "prefix":
            return _hang(f"{parts[0]} ", _block_in(parts[1], 16, width - 8), width)
        case "prime":
            return closed(_block_in(parts[0], 17, width - 1), "'")
        case "unchanged":
            lines, row = [], "UNCHANGED <<"
            for k, each in enumerate(parts[0]):
                piece = each + (">>" if k == len(parts[0]) - 1 else ", ")
                if len(row) + len(piece) > width:
                    lines.append(row.rstrip())
                    row = " " * 12
                row += piece
            return [*lines, row]
    return [flat(expression)]


@lru_cache(10_000)
def _needs_lines(expression: Expression) -> bool:
    """Is it clearer on several lines even where it is short?"""
    if expression[0] == "note" or (
        expression[0] == "and"
        and any(each[0] in ("note", "unchanged") or _is_step(each) for each in expression[1])
    ):
        return True
    if expression[0] == "let":
        return True
    return any(map(_needs_lines, parts_of(expression)))


def _is_step(expression: Expression) -> bool:
    return expression[0] == "op" and expression[2][0] == "prime"


def _bullet(sign: str, expression: Expression, width: int) -> list[str]:
    above = []
    if expression[0] == "note":
        lines = block(expression, width - 3)
        if lines[0].startswith("\\*"):
            above, expression = [lines[0]], expression[1]
    return above + _hang(sign, block(expression, width - 3), width)


def behind(head: str, expression: Expression, width: int, hang: int | None = None) -> list[str]:
    """A head and the expression after it, or below it, indented by `hang`, if that is narrower."""
    lines = block(expression, max(30, width - len(head)))
    fits = all(len(head) + len(line) <= width for line in lines)
    if lines[0].startswith("\\*") or (not fits and hang is not None and hang < len(head)):
        indent = " " * (hang or len(head))
        return [head.rstrip(), *(indent + each for each in block(expression, width - len(indent)))]
    return _hang(head, lines, width)


def _hang(head: str, lines: list[str], width: int) -> list[str]:
    return [head + lines[0], *(" " * len(head) + each for each in lines[1:])]


def _block_in(expression: Expression, least: int, width: int) -> list[str]:
    lines = block(expression, width - 2)
    if level(expression) >= least:
        return lines
    return closed(_hang("(", lines, width), ")")


def closed(lines: list[str], end: str) -> list[str]:
    """With the end on the last line, or below it if that ends with a comment."""
    if "\\* else" in lines[-1]:
        return [*lines, end]
    return [*lines[:-1], lines[-1] + end]


def _listed(start: str, rows: list[list[str]], end: str) -> list[str]:
    lines: list[str] = []
    for k, row in enumerate(rows):
        shown = closed(row, "," if k < len(rows) - 1 else end)
        lines += _hang(start if k == 0 else " " * len(start), shown, 0)
    return lines
