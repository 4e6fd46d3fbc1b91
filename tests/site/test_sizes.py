"""How large a page and the site may be."""

import random

from protocol_lab.site.sizes import too_large


def test_what_takes_too_long_to_load_is_told(tmp_path):
    frames = tmp_path / "_static" / "frames"
    frames.mkdir(parents=True)
    (frames / "large.js").write_bytes(random.Random(1).randbytes(5_000))
    (tmp_path / "small.html").write_text("<p>" * 5_000, encoding="utf-8")
    (tmp_path / "page.html").write_text('{"frames": "large"}', encoding="utf-8")
    assert list(too_large(tmp_path)) == []
    ((page),) = too_large(tmp_path, most_of_a_page=4_000)
    assert page == "page.html takes 0.0 MB to load."
    ((site),) = too_large(tmp_path, most_of_all=10_000)
    assert site.startswith("The site takes")
