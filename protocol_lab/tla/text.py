"""Prints TLA+ expressions: short ones on a line, long ones as they are usually laid out."""

from collections.abc import Collection
from functools import lru_cache

from protocol_lab.tla.expressions import BINDERS, E, clauses, unused

WIDTH = 92
_ENDLESS = 1_000_000

_LEVELS = {"\\cup": 8, "\\": 8, "\\cap": 8, "..": 9, "(+)": 10, "(-)": 11, "+": 10, "-": 11}
_LEVELS |= {"*": 13, "\\div": 13, "%": 12, "\\o": 13, "^": 14}
_LEVELS |= dict.fromkeys(("=", "#", "<", ">", "<=", ">=", "\\in", "\\notin", "\\subseteq"), 5)
_LEVELS |= {"=>": 1, "and": 3, "or": 3, "not": 4, "unchanged": 4, "prefix": 9}
_LEVELS |= dict.fromkeys(("if", "let", "\\A", "\\E", "choose"), 0)
_CHAINS = {"+", "\\cup", "*", "\\o", "\\cap", "(+)"}
_BRACKETS = {"set": ("{", "}"), "tuple": ("<<", ">>"), "record": ("[", "]")}


def definition(head: str, given: tuple[str, ...], value: E, taken: Collection[str]) -> list[str]:
    """The lines of `head(given) == value`, with names that nothing around them has."""
    new, around = {}, set(taken)
    for each in given:
        new[each] = unused(each.partition("#")[0], around)
        around.add(new[each])
    value = _named(value, new, frozenset(around))
    head = f"{head}({', '.join(new.values())})" if given else head
    shown = block(value)
    if len(shown) == 1 and len(head) + len(shown[0]) + 4 <= WIDTH:
        return [f"{head} == {shown[0]}"]
    return [f"{head} ==", *("    " + line for line in block(value, WIDTH - 4))]


def _named(expression: E, new: dict[str, str], taken: frozenset[str]) -> E:
    """With the names that are shown for what is bound: those before #, or the next unused one."""
    kind, head, parts = expression
    if kind in ("name", "call"):
        parts = tuple(_named(each, new, taken) for each in parts)
        return E(kind, new.get(head, head), parts)
    if kind not in BINDERS and kind != "let":
        return E(kind, head, tuple(_named(each, new, taken) for each in parts))
    own = [head] if kind in BINDERS else [head[0], *head[1]]
    inner, outside = dict(new), taken
    for each in own:
        inner[each] = unused(each.partition("#")[0], taken)
        taken |= {inner[each]}
    shown = tuple(inner[each] for each in own)
    if kind == "let":
        return E("let", (shown[0], shown[1:]), tuple(_named(each, inner, taken) for each in parts))
    return E(kind, shown[0], (_named(parts[0], new, outside), _named(parts[1], inner, taken)))


@lru_cache(10_000)
def flat(expression: E) -> str:
    """On one line, without notes."""
    kind, _, parts = expression
    if kind == "note":
        return flat(parts[0])
    if kind in ("and", "or"):
        return (" /\\ " if kind == "and" else " \\/ ").join(_in(each, 4) for each in parts)
    return " ".join(line.strip() for line in _laid_out(expression, _ENDLESS))


def _around(binder: E) -> tuple[str, str]:
    """What is shown before and after the body of a quantifier, a set or a function."""
    kind, head, (domain, _) = binder
    within = f"{head} \\in {_in(domain, 6)}"
    match kind:
        case "filter":
            return f"{{{within} : ", "}"
        case "fn":
            return f"[{within} |-> ", "]"
    return f"{'CHOOSE' if kind == 'choose' else kind} {within} : ", ""


def _level(expression: E) -> int:
    """How tightly its outermost operator binds: 0 for what extends to the right, 20 for atoms."""
    if expression.kind == "note":
        return _level(expression.parts[0])
    if expression.kind == "num" and expression.head < 0:
        return 12
    return _LEVELS.get(expression.head if expression.kind == "op" else expression.kind, 20)


def _least(sign: str, side: int, operand: E) -> int:
    """How tightly an operand must bind to need no parentheses."""
    chain = side == 0 and operand.kind == "op" and operand.head == sign in _CHAINS
    return _LEVELS[sign] + (not chain)


def _in(expression: E, least: int) -> str:
    shown = flat(expression)
    return shown if _level(expression) >= least else f"({shown})"


def _path(path: tuple) -> str:
    return "!" + "".join(f".{s}" if isinstance(s, str) else f"[{flat(s)}]" for s in path)


@lru_cache(10_000)  # a head and what follows are tried in two ways, at each depth
def block(expression: E, width: int = WIDTH) -> list[str]:
    """In lines, each of at most `width` characters if that can be."""
    kind, head, parts = expression
    if width > _ENDLESS // 2:
        return [flat(expression)]
    if kind == "note":
        lines = block(parts[0], width)
        remark = f"  \\* else: {head}"
        if len(lines) == 1 and len(lines[0]) + len(remark) <= width:
            return [lines[0] + remark]
        return [remark.strip(), *lines]
    if not _needs_lines(expression) and len(flat(expression)) <= width:
        return [flat(expression)]
    return _laid_out(expression, width)


def _laid_out(expression: E, width: int) -> list[str]:
    kind, head, parts = expression
    match kind:
        case "num" | "name":
            return [str(head)]
        case "str":
            return ['"' + head.replace("\\", "\\\\").replace('"', '\\"') + '"']
        case "and" | "or":
            sign = "/\\ " if kind == "and" else "\\/ "
            return [line for each in parts for line in _bullet(sign, each, width)]
        case "if":
            words = ("IF ", "THEN ", "ELSE ")
            return [
                line
                for word, each in zip(words, parts, strict=True)
                for line in _behind(word, each, width)
            ]
        case "let":
            lines, start = [], "LET "
            while expression.kind == "let":
                (defined, given), (value, body) = expression.head, expression.parts
                if given:
                    lines.append(f"{start}RECURSIVE {defined}({', '.join('_' * len(given))})")
                    start = "    "
                shown = f"{defined}({', '.join(given)})" if given else defined
                lines += _behind(f"{start}{shown} == ", value, width, hang=8)
                expression, start = body, "    "
            within = "IN " if width == _ENDLESS else "IN  "
            return [*lines, *_behind(within, expression, width)]
        case "\\A" | "\\E" | "choose" | "filter" | "fn":
            start, end = _around(expression)
            return _closed(_behind(start, parts[1], width - len(end), hang=4), end)
        case "map":
            end = f" : {head} \\in {_in(parts[0], 6)}}}"
            return _closed(_behind("{", parts[1], width - 20), end)
        case "record":
            named = zip(head, parts, strict=True)
            rows = [_behind(f"{each} |-> ", value, width - 2) for each, value in named]
            return _listed("[", rows, "]")
        case "set" | "tuple":
            start, end = _BRACKETS[kind]
            if not parts:
                return [start + end]
            return _listed(start, [block(each, width - 2 * len(start)) for each in parts], end)
        case "except":
            changed = clauses(expression)
            rows = [_behind(f"{_path(p)} = ", value, width - 6, hang=4) for p, value in changed]
            base = _closed(_hang("[", _parted(parts[0], 17, width - 9)), " EXCEPT")
            if len(base) == 1 and len(base[0]) < 40:
                return _listed(base[0] + " ", rows, "]")
            return [*base, *_listed("    ", rows, "]")]
        case "op":
            before = _parted(parts[0], _least(head, 0, parts[0]), width)
            after = _parted(parts[1], _least(head, 1, parts[1]), width - 6)
            if len(before) == 1 and len(before[0]) < width // 2:
                return _hang(f"{before[0]}.." if head == ".." else f"{before[0]} {head} ", after)
            return [*before, *_hang(f"  {head} ", after)]
        case "not":
            return _hang("~", _parted(parts[0], 16, width - 1))
        case "call":
            rows = [block(each, width - 6) for each in parts]
            if all(len(row) == 1 for row in rows):
                return _listed(f"{head}(", rows, ")") if rows else [head]
            return [f"{head}(", *_closed(["    " + line for line in _listed("", rows, "")], ")")]
        case "box":
            return _closed(_behind("[][", parts[0], width - 6), "]_vars")
        case "index" | "field":
            end = f".{head}" if kind == "field" else f"[{flat(parts[1])}]"
            return _closed(_parted(parts[0], 17, width - 8), end)
        case "prefix":
            sign = head if head == "-" else f"{head} "
            return _hang(sign, _parted(parts[0], 16, width - 8))
        case "prime":
            return [f"{_in(parts[0], 17)}'"]
        case "functions":
            return [f"[{flat(parts[0])} -> {flat(parts[1])}]"]
        case "unchanged":
            if len(head) == 1:
                return [f"UNCHANGED {head[0]}"]
            lines, row = [], "UNCHANGED <<"
            for k, each in enumerate(head):
                piece = each + (">>" if k == len(head) - 1 else ", ")
                if len(row) + len(piece) > width:
                    lines.append(row.rstrip())
                    row = " " * 12
                row += piece
            return [*lines, row]
    raise ValueError(kind)


@lru_cache(10_000)
def _needs_lines(expression: E) -> bool:
    """Is it clearer on several lines even where it is short?"""
    kind, _, parts = expression
    is_step = kind == "and" and any(
        each.kind == "unchanged" or (each.kind == "op" and each.parts[0].kind == "prime")
        for each in parts
    )
    return kind in ("note", "let") or is_step or any(map(_needs_lines, parts))


def _bullet(sign: str, expression: E, width: int) -> list[str]:
    lines = block(expression, width - 3)
    if lines[0].startswith("\\*"):
        return [lines[0], *_hang(sign, lines[1:])]
    return _hang(sign, lines)


def _behind(head: str, expression: E, width: int, hang: int | None = None) -> list[str]:
    """A head and the expression after it, or below it, indented by `hang`, if that is narrower."""
    lines = block(expression, max(30, width - len(head)))
    fits = all(len(head) + len(line) <= width for line in lines)
    if lines[0].startswith("\\*") or (not fits and hang is not None and hang < len(head)):
        indent = " " * (hang or len(head))
        return [head.rstrip(), *(indent + each for each in block(expression, width - len(indent)))]
    return _hang(head, lines)


def _hang(head: str, lines: list[str]) -> list[str]:
    return [head + lines[0], *(" " * len(head) + each for each in lines[1:])]


def _parted(expression: E, least: int, width: int) -> list[str]:
    lines = block(expression, width - 2)
    return lines if _level(expression) >= least else _closed(_hang("(", lines), ")")


def _closed(lines: list[str], end: str) -> list[str]:
    """With the end on the last line, or below it if that ends with a comment."""
    if "\\* else" in lines[-1]:
        return [*lines, end] if end else lines
    return [*lines[:-1], lines[-1] + end]


def _listed(start: str, rows: list[list[str]], end: str) -> list[str]:
    lines: list[str] = []
    for k, row in enumerate(rows):
        shown = _closed(row, "," if k < len(rows) - 1 else end)
        lines += _hang(start if k == 0 else " " * len(start), shown)
    return lines
