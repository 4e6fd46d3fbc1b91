"""Puts a submission's functions into the grader's own copy of the skeleton, and loads that.

So the state, the given actions, the invariants and the parameters of the learner's actions are the
grader's, whatever the submission says of them.
"""

import ast
import re
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

from protocol_lab.errors import shortened
from protocol_lab.grading.labs import Lab
from protocol_lab.grading.submissions import LANGUAGE, Submission
from protocol_lab.model.spec import Spec
from protocol_lab.spec_files import load_file


@dataclass(frozen=True)
class Assembled:
    """The skeleton with a learner's functions, written into a file. lines: for a line of that file
    the submission's own."""

    path: Path
    lines: dict[int, int]

    def load(self, lab: Lab) -> Spec:
        """The spec in it, with those of the lab's checks that its parts name. Raises LabError."""
        spec = load_file(self.path)
        invariants = {name for part in lab.parts for name in part.invariants}
        goals = {name for part in lab.parts for name in (*part.reaches, *part.stays_possible)}
        for name, check in vars(lab.checks).items():
            if name in invariants:
                is_of_steps = len(signature(check).parameters) == 3
                (spec.step_invariant if is_of_steps else spec.invariant)(check)
            elif name in goals:
                spec.situation(check, expected=True)
        return spec

    def in_own_lines(self, text: str) -> str:
        """A message with the numbers of the submission's lines in place of the assembled file's,
        and without the folder of that file."""

        def own(found: re.Match) -> str:
            line = self.lines.get(int(found[1]))
            return f"line {line}" if line else "a line of the skeleton"

        for each in {str(self.path), str(self.path.resolve()), shortened(self.path)}:
            text = text.replace(each, self.path.name)
        return re.sub(rf"(?:{re.escape(self.path.name)},? )?\bline (\d+)", own, text)


def assembled(lab: Lab, submission: Submission, names: list[str], folder: Path) -> Assembled:
    """The skeleton with those functions of the submission that are named, which it has, and which
    were not refused, in a new file in `folder`."""
    skeleton = ast.parse(lab.skeleton.read_text(encoding="utf-8"))
    body, own = skeleton.body, {name: submission.functions[name] for name in names}
    helpers = {k: v for k, v in submission.helpers.items() if k not in submission.refusals}
    numbers = {k: v for k, v in submission.numbers.items() if k not in submission.refusals}
    for each in body:
        if isinstance(each, ast.FunctionDef) and each.name in own:
            each.body = [*_docstring(each), *_without_docstring(own[each.name])]
    after = next(k for k, each in enumerate(body) if isinstance(each, ast.ImportFrom)) + 1
    language = ast.parse(f"from protocol_lab import {', '.join(sorted(LANGUAGE))}").body
    given = ast.parse("\n".join(f"{k} = {v}" for k, v in numbers.items())).body
    first_action = next(k for k, e in enumerate(body) if getattr(e, "name", "") in lab.written)
    body[first_action:first_action] = [*given, *helpers.values()]
    body[after:after] = language
    text = ast.unparse(ast.fix_missing_locations(skeleton))
    # A folder and a name of its own, so that nothing that was loaded before is taken for it.
    path = folder / f"{lab.name}.py"
    path.write_text(text, encoding="utf-8")
    return Assembled(path, _lines(text, {**helpers, **own}))


def _docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[:1] if ast.get_docstring(function) is not None else []


def _without_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    body = function.body[len(_docstring(function)) :]
    return body or [ast.Pass()]


def _lines(text: str, own: dict[str, ast.FunctionDef]) -> dict[int, int]:
    """For each line of the assembled text that comes from the submission the line there."""
    found = {}
    for made in ast.parse(text).body:
        if isinstance(made, ast.FunctionDef) and made.name in own:
            given = own[made.name]
            header = min([made.lineno, *(each.lineno for each in made.decorator_list)])
            found.update(dict.fromkeys(range(header, made.body[0].lineno), given.lineno))
            theirs = [n for each in _without_docstring(given) for n in ast.walk(each)]
            ours = [n for each in _without_docstring(made) for n in ast.walk(each)]
            for one, other in zip(ours, theirs):
                if hasattr(one, "lineno") and hasattr(other, "lineno"):
                    found.setdefault(one.lineno, other.lineno)
    return found
