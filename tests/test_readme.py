"""What the README claims, derived again; its links."""

import json
import re
import shlex
from importlib import import_module

import pytest

from protocol_lab import addresses
from protocol_lab.catalog import spec_names
from protocol_lab.cli import main
from protocol_lab.traces.scenario_format import is_link
from protocol_lab.traces.scenarios import play, read_scenario
from tests import ROOT, update_links
from tests.update_links import linked_files

# --- Claims ---------------------------------------------------------------------------------------


README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", spec_names())
def test_every_spec_is_named_where_its_package_lists_its_variants(name):
    package, _, variant = name.rpartition(".")
    assert re.search(rf"\b{variant}\b", import_module(f"{package}_spec").__doc__)


def test_the_notebooks_and_files_that_it_names_exist():
    lessons = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\d\S+|\w+/\S+)` \|", lessons, re.MULTILINE)
    assert named
    assert sorted(named) == sorted(
        str(path.relative_to(ROOT / "notebooks").with_suffix(""))
        for path in (ROOT / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    )
    for path in re.findall(r"\]\(((?!https:)[^)]+)\)", README):
        assert (ROOT / path).exists(), path


[COMMAND] = re.findall(r"^python3 lab\.py (check kafka\.kip_966 .*)$", README, re.M)
"""The command of the first example."""
STANDING = ROOT / "kafka_spec/scenarios/kip_966_last_replica_standing.txt"


@pytest.mark.slow
def test_the_first_example_is_what_its_command_finds(tmp_path, capsys):
    assert main([*shlex.split(COMMAND), "--trace", str(tmp_path / "lost.txt")]) == 1
    found = play(read_scenario(tmp_path / "lost.txt"))
    shown = play(read_scenario(STANDING))
    assert found.steps == shown.steps
    assert f"This command finds it in {len(found.steps)} steps" in " ".join(README.split())


@pytest.mark.slow
def test_the_same_search_with_elr_loses_nothing(capsys):
    words = shlex.split(COMMAND.replace("release_4_0", "release_4_1"))
    assert main([*words, "--json"]) == 0
    said = re.search(r"the same search visits ([\d,]+) states", README)[1]
    assert f"{json.loads(capsys.readouterr().out)['distinct']:,}" == said


@pytest.mark.slow
def test_every_scenario_names_a_spec_of_the_catalog():
    for path in ROOT.glob("*_spec/scenarios/*.txt"):
        assert read_scenario(path).spec_name in spec_names()


# --- Addresses, which only a published project has ------------------------------------------------


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
