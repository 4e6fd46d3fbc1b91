"""*What can my ledger lose?* in a page."""

from real_systems.bookkeeper.ledger_settings import FIRST, Settings, read
from real_systems.promise_page import Page

_FILES = "<code>bk_server.conf</code>, or Pulsar’s <code>broker.conf</code>"
_LEGEND = (
    "Lost · 16: the shortest story has 16 steps. Passed over: a bookie has the entry, and the"
    " ledger was closed without it. Destroyed: no bookie has it. Run: recorded on real bookies."
    f" {Settings.limits} The quorums above are at first those of Pulsar 4.2.4:"
    ' <a href="docs/public_questions.html#the-defaults-of-pulsar">what they promise a'
    " topic</a>. For three bookies:"
    " <code>python3 lab.py promise bookkeeper --set write_quorum=3</code>."
)

PAGE = Page(__name__, FIRST, read, _FILES, _LEGEND)
answer, html = PAGE.answer, PAGE.html
