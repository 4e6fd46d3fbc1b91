"""`python -m protocol_lab WORDS` is the kit's command line."""

import sys

from protocol_lab.process import run

sys.exit(run())
