"""An exercise's cell in a page: runs what it needs and then the cell, and tells the judgement."""

import json

from protocol_lab.errors import LabError
from protocol_lab.spec_files import value_of_cells
from protocol_lab.teaching.exercises import missing
from protocol_lab.teaching.feedback import DrawnFeedback, Feedback


def checked(asked: str) -> str:
    """The judgement of a cell, as JSON: `passed`, `verdict`, `text`, the `steps` and a `drawing`.

    asked, as JSON: `needed`, the statements that the cell needs, and the `cell`. Whatever the
    learner wrote, the answer is sentences.
    """
    wanted = json.loads(asked)
    try:
        value = value_of_cells([*wanted["needed"], wanted["cell"]])
    except SyntaxError as error:
        return _said(f"Python can't read line {error.lineno} of the cell: {error.msg}.")
    except LabError as error:
        return _said(str(error))
    except ModuleNotFoundError as error:
        return _said(missing(error))
    except Exception as error:
        return _said(f"The cell can't be run ({type(error).__name__}: {error}).")
    if not isinstance(value, Feedback):
        return _said("The cell must end with the line that checks the answer.")
    drawing = value._drawing() if isinstance(value, DrawnFeedback) else ""
    steps = [str(each) for each in value.steps]
    shown = {"passed": value.passed, "verdict": value.verdict, "text": value.text}
    return json.dumps({**shown, "steps": steps, "drawing": drawing})


def _said(text: str) -> str:
    return json.dumps(
        {"passed": False, "verdict": "✗ Not yet.", "text": text, "steps": [], "drawing": ""}
    )
