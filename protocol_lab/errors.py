"""The errors that a learner meets: each is one sentence that says what to do."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from protocol_lab.visible_text import visible

_MANY = 12
"""So many names can be read through; of more the most alike are told."""

_ECHOED, _LONGEST = 200, 3_000
"""Characters of an input that a message repeats, and of a whole message."""


def shortened(text: object, most: int = _ECHOED) -> str:
    """The text of what was given; `...` in the middle stands for what exceeds `most` characters."""
    text = _as_text(text, str)
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def quoted(given: object) -> str:
    """What was given as a message repeats it: in quotes if it is a text, and not too long."""
    return repr(shortened(given)) if isinstance(given, str) else shortened(_as_text(given, repr))


def _as_text(given: object, convert: Callable[[object], str]) -> str:
    try:
        return convert(given)
    except (ValueError, RecursionError):  # Python prints no integer of more than 4,300 digits
        return f"a {type(given).__name__} too long to be shown"


class LabError(Exception):
    """Bad input or a missing tool; the message is one sentence with the remedy."""

    def __init__(self, message: str = ""):
        super().__init__(visible(shortened(message, _LONGEST)))

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in a notebook: the sentence alone, without a stack trace."""
        return [str(self)]


class SpecError(LabError):
    """A function of a spec, or a condition, failed: a mistake in it, and never a verdict.

    The message names the function, the file and the line. The command line exits with 4.
    """


class KitDefect(LabError):
    """Compiled and plain code disagree: a mistake in the kit itself, and never a verdict.

    The message names the file that holds what to send. The command line exits with 4.
    """


class EvaluationError(LabError):
    """A step or a property can't be computed: neither a refusal nor a state, nor a verdict.

    A search that meets it ends as undecided; the stepper shows it as the action's reason. Compiled
    code raises it without words; the uncompiled twin then repeats the step and finds them.
    """


class CapacityExceeded(EvaluationError):
    """A step does not fit into the declared storage.

    size: how the size of the sequence or bag that is full is declared, as in "message_slots"; ""
    for a number that does not fit.
    """

    def __init__(self, message: str = "", size: str = ""):
        super().__init__(message)
        self.size = size


class Fault(EvaluationError):
    """What a function of a spec asks for has no value: a slot that an array does not have, a
    division by zero, a number of more than 64 bits, the smallest of nothing."""


def unknown(what: str, name: object, known: Iterable[str]) -> LabError:
    """There is nothing of this kind with this name: the names that there are, or those alike."""
    known = list(known)
    name_text = shortened(name)
    alike = [each for each in known if name_text in each]
    alike += [each for each in get_close_matches(name_text, known, 6) if each not in alike]
    if len(known) <= _MANY or not 0 < len(alike) <= _MANY:
        return LabError(f"There is no {what} {quoted(name)}; there are: {', '.join(known)}.")
    return LabError(f"There is no {what} {quoted(name)}; did you mean {' or '.join(alike)}?")
