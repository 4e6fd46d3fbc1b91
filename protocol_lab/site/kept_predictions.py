"""The predictions of a notebook, for pages without a kernel.

A prediction is read from its cell's code, `name = predict(question, guess, choices=...)`. Its
answer is in the kept output of the cell that settles it, `name.settle(...)`; the sentences for
wrong choices are in the code of either cell.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.teaching.guesses import is_same, shown
from protocol_lab.teaching.predictions import predict

_FOLDED = re.compile(r"<details><summary>[^<]*</summary>(.*)</details>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A prediction: the cells that ask it and settle it, the answer as Markdown, and its choices,
    each with the sentence for readers who chose it and are wrong, or "".

    `right` is the number of the choice that is the answer; None where there is none to compare.
    """

    asked: int
    settled: int
    choices: list[tuple[str, str]]
    answer: str
    right: int | None


def predictions(cells: list[dict[str, Any]]) -> Iterator[Asked]:
    """All predictions of a notebook that are settled later on."""
    open_ones: dict[str, tuple[int, list[tuple[str, str]]]] = {}
    for number, cell in enumerate(cells):
        for node in _nodes(cell):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("predict")) as call):
                    open_ones[name] = number, _choices(call)
                case ast.Call(ast.Attribute(ast.Name(name), "settle")) as call if name in open_ones:
                    asked, choices = open_ones.pop(name)
                    wrong = {shown(each): why for each, why in _literal(call, "wrong", {}).items()}
                    choices = [(each, wrong.get(each) or why) for each, why in choices]
                    answer = _answer(cell)
                    if answer:
                        yield Asked(asked, number, choices, answer, _right(choices, answer))


def _nodes(cell: dict[str, Any]) -> Iterator[ast.AST]:
    if cell["cell_type"] != "code":
        return
    try:
        yield from ast.walk(ast.parse(cell["source"]))
    except SyntaxError:
        return  # a magic


def _choices(call: ast.Call) -> list[tuple[str, str]]:
    """The answers to choose from, with their sentences."""
    try:
        offered = predict("", choices=_literal(call, "choices", [])).choices
    except LabError:
        return []
    return [(shown(choice), why) for choice, why in offered]


def _literal(call: ast.Call, name: str, otherwise: Any) -> Any:
    """The value of a keyword argument; `otherwise` where it is missing or has to be computed."""
    for each in call.keywords:
        if each.arg == name:
            try:
                return ast.literal_eval(each.value)
            except ValueError:
                return otherwise
    return otherwise


def _answer(cell: dict[str, Any]) -> str:
    """The answer that a settling cell's output has folded."""
    for output in cell.get("outputs", []):
        text = output.get("data", {}).get("text/markdown", "")
        found = _FOLDED.search(text if isinstance(text, str) else "".join(text))
        if found:
            return found.group(1).strip()
    return ""


def _right(choices: list[tuple[str, str]], answer: str) -> int | None:
    """The choice that the answer's first sentence is; or that means the same, "a and b" for "a, b";
    or the longest that the answer begins with, since one may be the beginning of another."""
    fact = answer.partition(". ")[0].rstrip(".")
    same = [k for k, (choice, _) in enumerate(choices) if choice == fact]
    same += [k for k, (choice, _) in enumerate(choices) if is_same(choice, fact.split(", "))]
    fitting = [k for k, (choice, _) in enumerate(choices) if answer.startswith(choice)]
    return next(iter(same), max(fitting, key=lambda k: len(choices[k][0]), default=None))
