"""Temporary folders do not outlive their owners."""

import subprocess
import sys
from pathlib import Path

from tests import ROOT

MAKE_ONE = """
from protocol_lab.system.folders import temporary_folder
folder = temporary_folder("test")
(folder / "file").write_text("left behind", encoding="utf-8")
print(folder)
"""


def test_a_folder_goes_with_its_process():
    words = [sys.executable, "-c", MAKE_ONE]
    made = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert made.strip()
    assert not Path(made.strip()).exists()


def test_a_folder_goes_with_its_owner(goes_with_its_owner):
    goes_with_its_owner()
