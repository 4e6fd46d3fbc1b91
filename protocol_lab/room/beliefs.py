"""What a room believed, question by question, as a CSV file beside workshop.md's table."""

import csv
import re
from pathlib import Path

from protocol_lab.errors import writing
from protocol_lab.room.meeting import Meeting

_COLUMNS = (
    *("notebook or lesson", "question", "the run says", "answers", "right"),
    *("common wrong answer", "chosen by", "workshop.md's wrong answer", "all answers"),
)
_TABLE = Path(__file__).parents[2] / "notebooks" / "workshop.md"
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| .+? \| (.+?) \| .+? \|$", re.MULTILINE)


def write_beliefs(meeting: Meeting, path: Path) -> None:
    """Write a row for each question that has an answer, without names. Raises LabError."""
    expected = _ROW.findall(_TABLE.read_text(encoding="utf-8")) if _TABLE.is_file() else []
    with writing(path), path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        for name in meeting.answered():
            asked, counts = meeting.questions[name], meeting.counts(name)
            chosen = dict(zip(asked.choices, counts, strict=True))
            right = None if asked.right is None else asked.choices[asked.right]
            wrong = {each: n for each, n in chosen.items() if n and right not in (None, each)}
            common = max(wrong, key=wrong.get, default="")
            row = [asked.place, asked.text, right, sum(counts), chosen.get(right)]
            known = [w for p, q, w in expected if p == asked.place and asked.text.endswith(q)]
            row += [common, wrong.get(common), "; ".join(known)]
            row.append("; ".join(f"{each}: {n}" for each, n in chosen.items()))
            # A spreadsheet would take some texts for formulas.
            rows.writerow(f"'{each}" if re.match("[=+@-]", str(each)) else each for each in row)
