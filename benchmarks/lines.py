"""Counts the lines of Python, JavaScript and CSS in a commit: the product by room, and the tests.

.venv/bin/python -m benchmarks.lines [COMMIT]
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

KINDS = ("*.py", "*.js", "*.css")
ROOT = Path(__file__).parents[1]


def counted(commit: str) -> Counter[str]:
    """The lines by room: `protocol_lab/compiler`, `kafka_spec`, `tests`."""
    words = ("grep", "--count", "--text", "", commit, "--", *KINDS)
    found: Counter[str] = Counter()
    for line in _output(*words).splitlines():
        _, path, lines = line.split(":")
        parts = path.split("/")
        is_room = parts[0] in ("protocol_lab", "real_systems") and len(parts) > 2
        found["/".join(parts[: 1 + is_room])] += int(lines)
    return found


def _output(*words: str) -> str:
    return subprocess.check_output(("git", *words), cwd=ROOT, text=True)


def total(found: Counter[str], begin: str) -> int:
    """The lines of the rooms whose names begin so."""
    return sum(lines for room, lines in found.items() if room.startswith(begin))


def main() -> None:
    """Print a table, the largest rooms first, and the sums."""
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    found = counted(commit)
    for room, lines in found.most_common():
        print(f"{lines:8,} {room}")
    for begin in ("protocol_lab", "real_systems"):
        print(f"{total(found, begin):8,} {begin} in all")
    packages = sum(lines for room, lines in found.items() if room.endswith("_spec"))
    print(f"{packages:8,} protocol packages in all")
    print(f"{found.total() - found['tests']:8,} product in all, and {found['tests']:,} tests")
    print(f"{len(_output('ls-tree', '-r', commit).splitlines()):8,} files")


if __name__ == "__main__":
    main()
