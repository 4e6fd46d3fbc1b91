"""The form of a written walk: scenario files, which people write, and links, both written and read.

    # spec: kafka.unclean_leader_election  replicas=3 producers=2 min_isr=2
    # The replica with the latest offset is not always safe (slides 46-56)
    produce_message(replica=1, producer=1)        # slide 46: a producer sends to the leader
    !blocked replicate(replica=2, entries=1)      # it has not become a follower yet
    !violates committed_messages_never_lost

The first line names the spec and its constants; the comment lines after it are the description.
Where there are several initial states, a line `init(parameter=value)` before all steps chooses one;
instead of `init` it may have the name of the function that is registered with `@spec.init`.
`!violates NAME` says that the state there breaks the invariant and no state before it did,
`!holds NAME` that it holds there, `!blocked STEP` that the step can't be taken there; the caption
of that state then says so, with the reason.

`!loops_to K` says that the state there is state K again (the initial one is 1), and the run repeats
the loop from K forever; with the state's own number, the run stays there. After it `!violates` also
takes a temporal property: the loop is fair under the spec's conditions, and the run breaks the
property. `!violates NAME under none` assumes no fairness, `under next` only that a run does not
stop while a step is possible.
"""

import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from protocol_lab.catalog import bound_model, known_as
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError, at_line, quoted, shortened, visible
from protocol_lab.model.constants import show_text
from protocol_lab.model.spec import Model
from protocol_lab.traces.walk import Walk

_CODE = re.compile(r"""(?:[^#'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*""")
"""A line up to its comment. A name in quotes may have a #, as in 'C#'."""

_SLIDE = re.compile(r"^slides? (\d+(?:-\d+)?):?\s*")


@dataclass(frozen=True)
class Line:
    """One line after the header: kind is step, init, violates, holds, blocked or loops_to."""

    kind: str
    text: str
    caption: str = ""
    number: int = 0

    @property
    def slide(self) -> str:
        """The slide (or slides, as in 46-56) that the caption begins with; "" if none."""
        return split_caption(self.caption)[0]


@dataclass(frozen=True)
class Scenario:
    """A parsed scenario file. `title` is the first line of the description.

    file: for a spec in a file beside it; None for a text, so that a text, which may come from
    anybody, can't have a file run.
    """

    name: str
    spec_name: str
    constants: dict[str, str]
    description: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    file: Path | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of the file."""
        return self.file and self.file.parent

    @property
    def shown_name(self) -> str:
        """The file's name, or that of the text, for messages."""
        return shortened(self.file.name) if self.file else self.name

    @property
    def title(self) -> str:
        return self.description[0] if self.description else self.name

    @property
    def challenge(self) -> str:
        """The name of the challenge that the steps are an attempt at, which the second line of a
        link's text names; "" if none."""
        found = re.fullmatch(r"challenge: (\w+)", self.title)
        return found[1] if found else ""

    def model(self, given: Model | None = None) -> Model:
        """The spec with the scenario's constants; `given` supplies a spec that no package has.

        Raises LabError naming the first line, which has both.
        """
        with self.naming():
            return bound_model(self.spec_name, self.constants, given, self.folder)

    def naming(self, line: Line | None = None) -> AbstractContextManager:
        """A context that adds a line of the scenario, by default its first one, to errors."""
        return at_line(self.shown_name, line.number if line else 1)


def split_caption(caption: str) -> tuple[str, str]:
    """The slide or slides that a caption begins with ("" if none), and the words after it."""
    found = _SLIDE.match(caption)
    return (found.group(1), caption[found.end() :]) if found else ("", caption)


def split_comment(row: str) -> tuple[str, str]:
    """The code of a line, and the comment behind its # ("" if there is none)."""
    code = _CODE.match(row)[0]
    if row[len(code) :][:1] not in ("", "#"):  # a quote that is never closed
        code = row.partition("#")[0]
    return code.strip(), row[len(code) + 1 :].strip()


def parse_scenario(text: str, name: str = "scenario") -> Scenario:
    """Parse the text of a scenario. Raises LabError naming the line that is malformed."""
    name = shortened(name)
    # Not splitlines(), which also breaks lines at characters that a caption may contain.
    rows = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    first = next((k for k, row in enumerate(rows) if row.strip()), 0)
    header = rows[first].strip()
    with at_line(name, first + 1):
        if not header.startswith("# spec:"):
            raise LabError("the first line must be `# spec: NAME  constant=value ...`.")
        spec_name, constants = read_header(header.removeprefix("# spec:"))
    description: list[str] = []
    lines: list[Line] = []
    for number, row in enumerate(rows[first + 1 :], first + 2):
        code, comment = split_comment(row)
        comment = visible(comment)
        if code:
            with at_line(name, number):
                lines.append(parse_line(code, comment, number))
                if lines[-1].kind == "init" and len(lines) > 1:
                    raise LabError(
                        "init(...) chooses where the scenario begins: write it once, before all"
                        " steps."
                    )
        elif comment and not lines:
            description.append(comment)
    return Scenario(name, spec_name, constants, description, lines)


def read_header(text: str) -> tuple[str, dict[str, str]]:
    """The name of the spec, which is in quotes if it has spaces, and the constants after it.

    Raises LabError.
    """
    in_quotes = re.fullmatch(r'\s*"([^"]+)"(.*)', text)
    spec_name, *settings = text.split() or [""]
    if in_quotes:
        spec_name, settings = in_quotes[1], in_quotes[2].split()
    if not all(each.count("=") == 1 for each in settings):
        raise LabError("write constants as NAME=VALUE, separated by spaces.")
    names = [each.partition("=")[0] for each in settings]
    for each in names:
        if names.count(each) > 1:
            raise LabError(f"{quoted(each)} is written twice: leave one out.")
    return spec_name, dict(each.split("=") for each in settings)


def parse_line(code: str, caption: str, number: int) -> Line:
    """A step or a claim with its caption, of the line with this number. Raises LabError."""
    if not code.startswith("!"):
        kind = "init" if code.startswith("init(") else "step"
        return Line(kind, code, caption, number)
    kind, _, text = code[1:].partition(" ")
    if kind not in ("violates", "holds", "blocked", "loops_to") or not text.strip():
        raise LabError(
            f"{quoted(code)} is not known; write !violates INVARIANT, !holds INVARIANT, !blocked"
            " STEP or !loops_to STATE."
        )
    return Line(kind, text.strip(), caption, number)


def scenario_text(walk_or_result: Walk | Result, description: list[str] | None = None) -> str:
    """A walk's steps so far, or an exploration's trace, as the text of a scenario file."""
    walk = walk_or_result
    lines = list(description or [])
    claims = []
    if isinstance(walk_or_result, Result):
        walk = Walk.along(walk_or_result)
        walk.last()
        lines = lines or [_title_of(walk_or_result)]
        lines.append(
            "shortest: found breadth first"
            if walk_or_result.loop_from is None
            else "shortest way to a loop, found breadth first; the loop is not proved shortest"
        )
        claims += [walk_or_result.claim_line] if walk_or_result.claim_line else []
    if walk.moment.loops_to is not None:
        claims.insert(0, f"!loops_to {walk.moment.loops_to}")
    name = known_as(walk.model.spec)
    name = f'"{name}"' if " " in name else name
    header = f"# spec: {name}  {show_text(walk.model.constants)}"
    start = walk.init or ("init()" if walk.start.caption else None)
    steps = [_captioned(str(moment.step), moment.caption) for moment in walk.moment.path()[1:]]
    if start:
        steps.insert(0, _captioned(start, walk.start.caption))
    described = [f"# {visible(' '.join(line.split()))}" for line in lines]
    return "\n".join([header, *described, *steps, *claims]) + "\n"


def _title_of(result: Result) -> str:
    if result.loop_from is None:
        return f"A shortest trace to a violation of {result.violated}"
    return f"A run that breaks {result.violated} for ever"


def _captioned(code: str, caption: str) -> str:
    """A line with its caption, all on one line."""
    caption = visible(" ".join(caption.split()))
    return f"{code}    # {caption}" if caption else code


# --- Links ----------------------------------------------------------------------------------------
#
# A walk as one short string, to paste into a chat or append to an address after a `#`.
#
#     lab1.q1YqTS4uyczPU7JSUEotKs5MLQayM1OUrJSMAQ...
#
# `lab1.` is the version of the format. Then follows, in base64url, the CRC-32 (four bytes) and the
# deflated scenario text of the walk (`scenario_text`): its spec, constants, initial choice, steps
# and captions; for an attempt at a challenge the second line is `# challenge: NAME`. Nothing in it
# is ever executed.


PREFIX = "lab1."

_LINK = re.compile(r"lab(\d+)\.([\w-]+)", re.ASCII)
_RAW_DEFLATE = -zlib.MAX_WBITS
_MOST = 1_000_000
"""The most bytes of scenario text that a link may unpack to: far more than any walk has, far less
than memory."""


def link_text(walk: Walk, challenge: str = "") -> str:
    """The walk's steps so far as one string of letters, digits, `.`, `-` and `_`.

    challenge: the name of the one that the walk is an attempt at.
    """
    text = scenario_text(walk, [f"challenge: {challenge}"] if challenge else None).encode()
    pressed = zlib.compress(text, level=9, wbits=_RAW_DEFLATE)
    return PREFIX + urlsafe_b64encode(_checksum(text) + pressed).decode().rstrip("=")


def is_link(text: str) -> bool:
    """Is there a link in the text?"""
    return _LINK.search(text) is not None


def linked_scenario(text: str) -> Scenario:
    """The scenario of a link, not yet played. The link may be inside an address, or have line
    breaks.

    Raises LabError for a link that is incomplete.
    """
    found = _LINK.search(text)
    if found is None:
        raise LabError(f"There is no link in this text; a link begins with {PREFIX}")
    if f"lab{found.group(1)}." != PREFIX:
        raise LabError(
            f"This link begins with lab{shortened(found.group(1), 9)}. but this version of the kit"
            f" reads {PREFIX}: update the kit, or ask for the walk as a scenario."
        )
    in_one_piece = _LINK.search(re.sub(r"\s+", "", text))  # mail and chats break long lines
    unpacked = _unpacked(found.group(2)) or _unpacked(in_one_piece.group(2))
    if unpacked is None:
        raise LabError("This link is incomplete or was changed: copy the whole link again.")
    return parse_scenario(unpacked, "the link")


def _unpacked(packed: str) -> str | None:
    """The text that was packed; None if the packed bytes are damaged."""
    try:
        data = urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        inflater = zlib.decompressobj(wbits=_RAW_DEFLATE)
        text = inflater.decompress(data[4:], _MOST)
        if inflater.eof and not inflater.unused_data and _checksum(text) == data[:4]:
            return text.decode()
    except (ValueError, zlib.error):
        pass
    return None


def _checksum(text: bytes) -> bytes:
    return zlib.crc32(text).to_bytes(4, "big")
