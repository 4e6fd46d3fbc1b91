"""See `command`."""

import sys

from tests.end_to_end.fuzz.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
