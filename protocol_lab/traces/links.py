"""A walk as one short string, to paste into a chat or append to an address after a `#`.

    lab1.q1YqTS4uyczPU7JSUEotKs5MLQayM1OUrJSMAQ...

`lab1.` is the version of the format. Then follows, in base64url, the CRC-32 (four bytes) and the
deflated scenario text of the walk (`scenario_text`): its spec, constants, initial choice, steps and
captions; for an attempt at a challenge the second line is `# challenge: NAME`. Nothing in it is
ever executed.
"""

import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode

from protocol_lab.errors import LabError, shortened
from protocol_lab.model.spec import Model
from protocol_lab.traces.scenarios import Scenario, parse_scenario, play, scenario_text
from protocol_lab.traces.walk import Walk

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


def read_link(text: str, model: Model | None = None) -> Walk:
    """The walk of a link, at its end.

    `model` supplies a spec that is in no package but in a notebook's cell; the constants are the
    link's. Raises LabError for a link that is incomplete, or does not play.
    """
    return play(linked_scenario(text), model)


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
