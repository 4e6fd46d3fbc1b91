"""An exercise's cell in a page: runs what it needs and then the cell, and tells the judgement."""

import ast
import json
import linecache
from collections.abc import Iterable
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.teaching.feedback import DrawnFeedback, Feedback


def checked(asked: str) -> str:
    """The judgement of a cell, as JSON: `passed`, `verdict`, `text`, the `steps` and a `drawing`.

    asked, as JSON: `needed`, the statements that the cell needs, and the `cell`. Whatever the
    learner wrote, the answer is sentences.
    """
    wanted = json.loads(asked)
    try:
        value = last_value([*wanted["needed"], wanted["cell"]])
    except SyntaxError as error:
        return _said(f"Python can't read line {error.lineno} of the cell: {error.msg}.")
    except LabError as error:
        return _said(str(error))
    except Exception as error:
        return _said(f"The cell can't be run ({type(error).__name__}: {error}).")
    if not isinstance(value, Feedback):
        return _said("The cell must end with the line that checks the answer.")
    drawing = value._drawing() if isinstance(value, DrawnFeedback) else ""
    steps = [str(each) for each in value.steps]
    shown = {"passed": value.passed, "verdict": value.verdict, "text": value.text}
    return json.dumps({**shown, "steps": steps, "drawing": drawing})


def last_value(sources: Iterable[str]) -> Any:
    """The value of the last line of sources that are run one after the other in one scope."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    value = None
    for number, source in enumerate(sources):
        file = f"<cell {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        statements = ast.parse(source, file).body
        last = statements.pop() if statements and isinstance(statements[-1], ast.Expr) else None
        exec(compile(ast.Module(statements, []), file, "exec"), scope)
        value = last and eval(compile(ast.Expression(last.value), file, "eval"), scope)
    return value


def _said(text: str) -> str:
    return json.dumps(
        {"passed": False, "verdict": "✗ Not yet.", "text": text, "steps": [], "drawing": ""}
    )
