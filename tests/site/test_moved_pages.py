"""Old addresses of pages lead to pages that exist."""

from protocol_lab.site.moved_pages import moved_pages, write_moved_pages
from tests import ROOT

MOVED = moved_pages(ROOT)


def test_what_has_moved_is_gone_and_where_it_went_exists():
    assert MOVED
    assert [old for old in MOVED if (ROOT / f"{old}.ipynb").exists()] == []
    pages = {new: [*ROOT.glob(f"{new}.ipynb"), *ROOT.glob(f"{new}.md")] for new in MOVED.values()}
    assert [new for new, found in pages.items() if not found] == []


def test_an_old_page_leads_to_the_new_one(tmp_path):
    new = tmp_path / "notebooks" / "kafka" / "01_one_power_cut.html"
    new.parent.mkdir(parents=True)
    new.write_text("new", encoding="utf-8")
    write_moved_pages(ROOT, tmp_path)
    leading = [old for old, to in MOVED.items() if to == "notebooks/kafka/01_one_power_cut"]
    assert len(leading) == 2
    for old in leading:
        page = tmp_path / f"{old}.html"
        to = page.read_text(encoding="utf-8").partition("url=")[2].partition('"')[0]
        assert (page.parent / to).resolve() == new
    assert not (tmp_path / "notebooks" / "kafka" / "02_truncation.html").exists()
