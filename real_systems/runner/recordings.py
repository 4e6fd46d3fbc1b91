"""What a run of a story leaves: its acts with their answers, and what came of it.

A live run and one that was recorded earlier are the same thing; `day` says when it was.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError


@dataclass(frozen=True)
class Act:
    """One thing that was done or seen. `at`: seconds since the run began.

    text: what was done, in the lesson's words. answer: what the system or a client said. seen: what
    the system was like afterwards, as its picture needs it. step: the lesson's step that this act
    stands for, as scenarios write it.
    """

    at: float
    text: str
    answer: str = ""
    seen: dict[str, Any] = field(default_factory=dict)
    step: str = ""

    def __str__(self) -> str:
        answer = f" -> {self.answer}" if self.answer else ""
        return f"{self.at:6.1f}  {self.text}{answer}"


@dataclass
class Outcome:
    """What clients saw, and which replica had what in the end.

    acknowledged, failed: values, in the order in which producers were answered; an acknowledgement
    counts if it promises that the value is safe. readable: what a
    consumer gets in the end. copies: the values of each replica's log. facts: what else the story
    is about, each a name and a text.
    """

    acknowledged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    readable: list[str] = field(default_factory=list)
    copies: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> list[str]:
        """What was acknowledged and can't be read."""
        return [each for each in self.acknowledged if each not in self.readable]

    def differences(self, other: "Outcome") -> list[str]:
        """In which points another outcome differs, each as a sentence without its full stop."""
        found = []
        if self.lost != other.lost:
            words = [" ".join(each) or "nothing" for each in (other.lost, self.lost)]
            found.append(f"{words[0]} was lost, not {words[1]}")
        for name, value in self.facts.items():
            got = other.facts.get(name, "not seen")
            if got != value:
                found.append(f"{name}: {got}, not {value}")
        return found

    @property
    def in_short(self) -> str:
        """What was lost, and the facts."""
        lost = [f"{' '.join(self.lost)} is lost"] if self.lost else []
        facts = [f"{name}: {value}" for name, value in self.facts.items()]
        return "; ".join(lost + facts) or "nothing is lost"

    def __str__(self) -> str:
        parts = []
        if self.acknowledged:
            parts.append(f"acknowledged: {' '.join(self.acknowledged)}")
        if self.failed:
            parts.append(f"told failed: {' '.join(self.failed)}")
        if self.acknowledged or self.failed:
            parts.append(f"readable: {' '.join(self.readable) or 'nothing'}")
            parts.append(f"lost: {' '.join(self.lost) or 'nothing'}")
        parts += [f"{name}: {value}" for name, value in self.facts.items()]
        return "; ".join(parts)


@dataclass
class Recording:
    """One run of a story."""

    story: str
    release: str
    settings: dict[str, str]
    day: str = ""
    seconds: float = 0.0
    acts: list[Act] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)


def write_recordings(runs: list[Recording], file: Path) -> None:
    """Write runs as JSON, an act a line. Raises OSError."""
    texts = []
    for each in runs:
        parts = asdict(each)
        acts = ",\n".join(json.dumps(act) for act in parts.pop("acts"))
        texts.append(f'{{"acts": [\n{acts}\n],\n{json.dumps(parts).removeprefix("{")}')
    file.write_text("[" + ",\n".join(texts) + "]\n", encoding="utf-8")


def read_recordings(file: Path) -> list[Recording]:
    """The runs in this file. Raises LabError if it holds none."""
    try:
        return [
            Recording(
                **each
                | {
                    "acts": [Act(**act) for act in each["acts"]],
                    "outcome": Outcome(**each["outcome"]),
                }
            )
            for each in json.loads(file.read_text(encoding="utf-8"))
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise LabError(f"{file} has no recordings of a story ({type(error).__name__}).") from None
