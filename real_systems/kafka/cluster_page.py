"""*What can my cluster lose?* in a page."""

from collections.abc import Iterable
from typing import Any

from kafka_spec.settings import RELEASES
from real_systems.kafka.cluster_settings import FIRST, WITH_ELR, Settings, read
from real_systems.promise_page import Page

_FILES = (
    "<code>server.properties</code>, a Strimzi resource, or what <code>kafka-configs</code>,"
    " <code>kafka-topics</code> or <code>kafka-features</code> print with <code>--describe</code>"
)
_LEGEND = (
    "Lost · 6: the shortest story has six steps. Destroyed: no copy was left. Written: consumers"
    " read a record whose producer was told that it failed. Run: recorded on real brokers of this"
    f" release. {Settings.limits} Other losses need two quick elections, or two leaders at once: "
    '<a href="notebooks/kafka/03_the_talk.html#The-search">the talk</a> has them.'
    ' <a href="docs/public_questions.html">Questions of other people</a>, answered.'
)


def _read(files: Iterable[tuple[str, str]], **chosen: Any) -> Settings:
    """The settings that a reader chose; a release without ELR switches it off."""
    if chosen.get("release") in RELEASES and chosen["release"] not in WITH_ELR:
        chosen["elr"] = None
    return read(files, **chosen)


PAGE = Page(__name__, FIRST, _read, _FILES, _LEGEND)
answer, html = PAGE.answer, PAGE.html
