"""How large a page and the site may be, and which models are recorded whole."""

import random

from protocol_lab.site.build import smallest
from protocol_lab.site.sizes import too_large


def test_what_takes_too_long_to_load_is_told(tmp_path):
    recordings = tmp_path / "_static" / "recordings"
    recordings.mkdir(parents=True)
    (recordings / "large.js").write_bytes(random.Random(1).randbytes(5_000))
    (tmp_path / "small.html").write_text("<p>" * 5_000, encoding="utf-8")
    (tmp_path / "page.html").write_text('{"recording": "large"}', encoding="utf-8")
    assert list(too_large(tmp_path)) == []
    ((page),) = too_large(tmp_path, most_of_a_page=4_000)
    assert page.startswith("page.html takes 0.0 MB to load: record fewer states")
    ((site),) = too_large(tmp_path, most_of_all=10_000)
    assert site.startswith("The site takes")


def test_the_smallest_models_are_recorded_whole():
    sizes = {"large": 500, "too large in any case": 0, "small": 49, "middle": 120}
    assert smallest(sizes, 200) == {"small", "middle"}
