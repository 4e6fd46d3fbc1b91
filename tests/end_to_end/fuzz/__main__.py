"""See `command`."""

import signal
import sys

from tests.end_to_end.fuzz.command import main

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends its processes then, too
    sys.exit(main(sys.argv[1:]))
