"""The errors that a learner meets: each is one sentence that says what to do.

First, text in which every character can be shown: control characters are replaced by their
pictures. XML, and so SVG, admits no control characters except tab and line breaks; a terminal obeys
them. A pasted caption may contain any of them.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

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


_MANY = 12
"""Up to this many names are all listed; of more only the closest matches are."""

_ECHOED, _LONGEST = 200, 3_000
"""The longest that an input may be when a message repeats it, and a whole message, in
characters."""


def shortened(text: object, most: int = _ECHOED) -> str:
    """The value as text of at most about `most` characters; `...` stands for what is cut from its
    middle."""
    text = _as_text(text, str)
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def quoted(given: object) -> str:
    """The value as a message repeats it: shortened, and in quotes if it is a text."""
    return repr(shortened(given)) if isinstance(given, str) else shortened(_as_text(given, repr))


def _as_text(given: object, convert: Callable[[object], str]) -> str:
    try:
        return convert(given)
    except (ValueError, RecursionError):  # Python prints no integer of more than 4,300 digits
        return f"a {type(given).__name__} too long to show"


_FRAMES = 4
"""Of the calls that led to an unexpected error so many are named."""


class LabError(Exception):
    """Bad input or a missing tool; the message is one sentence with the remedy."""

    def __init__(self, message: str = ""):
        super().__init__(visible(shortened(message, _LONGEST)))

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in a notebook: the sentence alone, without a stack trace."""
        return [str(self)]


class SpecError(LabError):
    """A function of a spec, or a condition, failed: a mistake in the spec, never a verdict.

    The message names the function, the file and the line. The command line exits with 4.
    """


class KitDefect(LabError):
    """Compiled and plain code disagree: a mistake in the kit itself, never a verdict.

    The message says what to report. The command line exits with 4.
    """


class EvaluationError(LabError):
    """A step or a property can't be computed; that is neither a refusal nor a verdict.

    A search that meets it ends as undecided; the stepper shows it as the action's reason. Compiled
    code raises it without a message; the step is then repeated in plain Python, which has one.
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
    """An expression in a spec's function has no value: an index outside its array, a division by
    zero, the minimum of nothing; in compiled code also a number of more than 64 bits."""


def unexpected(error: BaseException) -> str:
    """One sentence for a failure of the kit itself, with the lines that it came from."""
    said = " ".join(str(error).split()).rstrip(".")
    cause = shortened(f"{type(error).__name__}: {said}" if said else type(error).__name__)
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = ", ".join(f"{Path(each.filename).name} line {each.lineno}" for each in frames)
    where = f"; in {places}" if places else ""
    return f"The kit failed, and this is no verdict ({cause}{where}): please report this sentence."


def unknown(what: str, name: object, known: Iterable[str]) -> LabError:
    """The error for an unknown name: it lists the known names, or the closest ones."""
    known = list(known)
    name_text = shortened(name)
    alike = [each for each in known if name_text in each]
    alike += [each for each in get_close_matches(name_text, known, 6) if each not in alike]
    if len(known) <= _MANY or not 0 < len(alike) <= _MANY:
        return LabError(f"There is no {what} {quoted(name)}; there are: {', '.join(known)}.")
    return LabError(f"There is no {what} {quoted(name)}; did you mean {' or '.join(alike)}?")


@contextmanager
def writing(path: str | Path, what: str = "file") -> Iterator[None]:
    """A context for writing to a path. An error of the system becomes one sentence that asks for
    another file, or whatever it is."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise LabError(
            f"{shortened(path)} can't be written ({reason}): give another {what}."
        ) from None


@contextmanager
def at_line(place: str, number: int) -> Iterator[None]:
    """A context that adds a line of a file to errors."""
    try:
        yield
    except LabError as error:
        raise LabError(f"{place}, line {number}: {error}") from None


def place(file: str, line: int) -> str:
    """Where a person finds a line: "lock.py line 12", or "line 3 of its cell"."""
    if "ipykernel" in file or file.startswith("<"):
        return f"line {line} of its cell"
    return f"{Path(file).name} line {line}"


def place_of(function: Callable) -> str:
    """Where a person finds a function: the place of its first line."""
    return place(function.__code__.co_filename, function.__code__.co_firstlineno)
