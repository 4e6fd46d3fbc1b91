"""Renews the texts, all of them or those of the protocols that are named."""

import sys

from tests.browser.conftest import chromium
from tests.browser.visible_text import FOLDER, STEPPERS, visible_text

with chromium() as browser:
    for protocol in sys.argv[1:] or STEPPERS:
        text = visible_text(browser, protocol)
        (FOLDER / f"{protocol}.txt").write_text(text, encoding="utf-8")
