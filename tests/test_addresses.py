"""The README and the notebooks point to the site that `protocol_lab.addresses` names."""

from protocol_lab.addresses import CODESPACES, SITE
from protocol_lab.traces.links import is_link
from tests import ROOT
from tests.update_links import linked_files


def test_every_address_is_as_it_would_be_written():
    wrong = [path.name for path, text in linked_files() if text != path.read_text(encoding="utf-8")]
    assert wrong == [], "run `python -m tests.update_links`"


def test_the_readme_and_each_notebook_name_the_site():
    assert [path.name for path, text in linked_files() if f"]({SITE}/" not in text] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert CODESPACES in readme
    assert "mybinder.org" in readme


def test_an_address_of_the_site_is_no_link_by_itself():
    assert not is_link(f"{SITE}/")
