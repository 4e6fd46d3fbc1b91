"""The originals of the notebooks: restored from git, or from the copies that set-up has made."""

import shutil
import subprocess
from pathlib import Path

import pytest

from protocol_lab import originals
from protocol_lab.cli import main

NOTEBOOK = "notebooks/00_start_here.ipynb"


@pytest.fixture
def kit(tmp_path, monkeypatch) -> Path:
    """A folder with two notebooks, which the functions then work in."""
    folder = tmp_path / "a learner's kit, 100 % für alle"
    for name in (NOTEBOOK, "notebooks/kafka/01_loss.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name} as it came", encoding="utf-8")
    monkeypatch.setattr(originals, "KIT", folder)
    monkeypatch.setattr(originals, "PRISTINE", folder / ".venv" / "pristine-notebooks")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))  # a folder above may be in git
    return folder


@pytest.fixture(params=["git", "a zip file"])
def delivered(request, kit):
    """A kit that came by git, or as an archive and was set up once."""
    if request.param == "git":
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        git += ["-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it came"]):
            subprocess.check_call([*git, *words], cwd=kit)
    originals.keep()
    assert originals.PRISTINE.exists() == (request.param != "git")
    return kit


@pytest.mark.parametrize("name", ["00_start_here", "00_start_here.ipynb", NOTEBOOK])
def test_reset_brings_a_notebook_back_and_keeps_the_learners_copy(delivered, name, capsys):
    (delivered / NOTEBOOK).write_text("an hour's work", encoding="utf-8")
    assert main(["reset", name]) == 0
    assert (delivered / NOTEBOOK).read_text(encoding="utf-8") == f"{NOTEBOOK} as it came"
    (copy,) = delivered.glob("notebooks/00_start_here.my-copy-*.ipynb")
    assert copy.read_text(encoding="utf-8") == "an hour's work"
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert copy.name in said


def test_reset_brings_a_deleted_notebook_back(delivered):
    shutil.rmtree(delivered / "notebooks" / "kafka")
    assert main(["reset", "kafka/01_loss"]) == 0
    assert (delivered / "notebooks/kafka/01_loss.ipynb").is_file()


def test_reset_leaves_the_record_alone_unless_it_is_named(delivered, capsys):
    record = delivered / "notebooks" / "progress.jsonl"
    assert main(["reset", "progress"]) == 0
    assert "There is no record" in capsys.readouterr().out
    record.write_text("what was done", encoding="utf-8")
    assert main(["reset", "00_start_here"]) == 0
    assert record.read_text(encoding="utf-8") == "what was done"
    assert main(["reset", "progress"]) == 0
    assert not record.exists()
    (copy,) = delivered.glob("notebooks/progress.my-copy-*.jsonl")
    assert copy.read_text(encoding="utf-8") == "what was done"
    assert copy.name in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nonsense"], [], ["00_start_here", "01_loss"]])
def test_reset_of_a_wrong_name_lists_the_notebooks(delivered, words, capsys):
    assert main(["reset", *words]) == 3
    said = capsys.readouterr().err
    assert f"there are {NOTEBOOK}, notebooks/kafka/01_loss.ipynb." in said
    assert said.count("\n") == 1


def test_the_copies_outlive_later_edits(kit):
    originals.keep()
    (kit / NOTEBOOK).write_text("edited", encoding="utf-8")
    originals.keep()
    assert main(["reset", "00_start_here"]) == 0
    assert (kit / NOTEBOOK).read_text(encoding="utf-8") == f"{NOTEBOOK} as it came"


def test_a_folder_that_can_not_be_written_gets_one_sentence(kit, monkeypatch, capsys):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    originals.keep()
    (kit / NOTEBOOK).write_text("edited", encoding="utf-8")
    monkeypatch.setattr(Path, "rename", refused)
    assert main(["reset", "00_start_here"]) == 3
    assert "(Permission denied): free some space" in capsys.readouterr().err
