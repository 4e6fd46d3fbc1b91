"""`python -m protocol_lab WORDS`, and `protocol-lab WORDS`: the kit's command line."""

import sys
from collections.abc import Callable

from protocol_lab.system import process


def run() -> int:
    """Run the command line of this process; returns its exit code."""
    return process.run(_load)


def _load() -> Callable[[], int]:
    from protocol_lab.cli import main

    return main


if __name__ == "__main__":
    sys.exit(run())
