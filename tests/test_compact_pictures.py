"""Pictures that notebooks keep say the same in fewer bytes."""

import re
from html import unescape
from urllib.parse import unquote

from protocol_lab.drawing.pictures import image_html, picture_strip
from protocol_lab.traces.scenarios import play, scenario
from tests.compact_pictures import EMBEDDED, compact, whole, with_compact_pictures


def test_a_compact_picture_has_all_words_and_places_and_stays_as_it_is():
    drawn = picture_strip(play(scenario("defect_1_diagram")), 2)
    html = image_html(drawn, "it's µ")
    made = with_compact_pictures(html)
    assert len(made) < 0.45 * len(html)
    assert with_compact_pictures(made) == made
    (kept,) = map(unquote, EMBEDDED.findall(made))
    assert kept == compact(drawn)

    def words(svg: str) -> list[str]:
        return [unescape(each) for each in re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", svg)]

    unfolded = whole(kept)
    assert words(unfolded) == words(drawn)
    for tag in ("rect", "line", "path", "text"):
        assert unfolded.count(f"<{tag}") == drawn.count(f"<{tag}")
