"""One place says where the project is published; where it is not, nothing shows an address."""

import re

import pytest

from protocol_lab import addresses
from protocol_lab.traces.links import is_link
from tests import ROOT, update_links
from tests.update_links import linked_files


def test_every_address_is_as_it_would_be_written():
    wrong = [path.name for path, text in linked_files() if text != path.read_text(encoding="utf-8")]
    assert wrong == [], "run `python -m tests.update_links`"


@pytest.fixture
def published(monkeypatch):
    """As whoever publishes the project fills it in."""
    monkeypatch.setattr(addresses, "REPOSITORY", "somebody/lab")
    monkeypatch.setattr(addresses, "SITE", "https://somebody.github.io/lab")
    monkeypatch.setattr(addresses, "CODESPACES", "https://codespaces.new/somebody/lab")


def test_the_readme_and_each_notebook_name_a_site_that_there_is(published):
    assert [path.name for path, text in linked_files() if f"]({addresses.SITE}/" not in text] == []
    readme = update_links.links_of_readme()
    assert addresses.CODESPACES in readme
    assert "mybinder.org/v2/gh/somebody/lab/main" in readme
    assert "codespaces.new/somebody" in addresses.link_to_notebook("notebooks/a.ipynb")


def test_where_nothing_is_published_no_file_shows_an_address():
    if addresses.REPOSITORY:
        pytest.skip("it is published")
    folders = [ROOT / "docs", ROOT / "notebooks", ROOT / "protocol_lab", ROOT / "labs"]
    files = [ROOT / "README.md", *(each for folder in folders for each in folder.rglob("*.*"))]
    texts = [each for each in files if each.suffix in (".md", ".ipynb", ".html", ".js", ".svg")]
    own = re.compile(r"https://(replication-protocol-lab|codespaces|mybinder)")
    assert [each.name for each in texts if own.search(each.read_text(encoding="utf-8"))] == []
    assert addresses.link_to_notebook("a.ipynb").endswith("`python3 lab.py` on your machine.")


def test_an_address_of_the_site_is_no_link_by_itself(published):
    assert not is_link(f"{addresses.SITE}/")
