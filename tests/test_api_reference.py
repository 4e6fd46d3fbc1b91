"""The API reference is made from the docstrings."""

import pytest

from protocol_lab import LabError
from protocol_lab.api_reference import write_reference


@pytest.mark.slow
def test_the_reference_has_what_a_spec_is_written_with(tmp_path):
    first = write_reference(tmp_path / "api")
    assert first.is_file()
    containers = tmp_path / "api" / "protocol_lab" / "model" / "containers.html"
    assert "Add an item at the end of a sequence" in containers.read_text(encoding="utf-8")
    assert (tmp_path / "api" / "protocol_lab" / "model" / "spec.html").is_file()


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(LabError, match="choose another folder"):
        write_reference(tmp_path / "file")
