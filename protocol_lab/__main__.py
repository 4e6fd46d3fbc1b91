"""`python -m protocol_lab WORDS` is the kit's command line."""

import sys

from protocol_lab.cli import main

sys.exit(main())
