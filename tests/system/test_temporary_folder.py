"""Temporary folders do not outlive their owners."""

import os
import signal

import pytest

from protocol_lab.system.temporary_folder import remove, sweep, temporary_folder


def test_what_a_killed_process_leaves_is_removed_and_nothing_else(place, maker):
    killed, left = maker()
    others, alive = maker()
    (place / "protocol-lab-mine").mkdir()
    (place / "another").mkdir()
    (place / "protocol-lab-spark-empty").mkdir()
    os.utime(place / "protocol-lab-spark-empty", (0, 0))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.exists()
    own = temporary_folder("test")
    kept = {own, alive, place / "protocol-lab-mine", place / "another"}
    assert set(place.iterdir()) == kept
    others.communicate("end")
    assert set(place.iterdir()) == kept - {alive}
    remove(own)


@pytest.mark.rarely
def test_a_folder_goes_with_its_owner(goes_with_its_owner):
    goes_with_its_owner()


def test_a_link_is_not_followed(place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "owner").touch()
    (place / "protocol-lab-link").symlink_to(elsewhere)
    sweep(place)
    assert (elsewhere / "owner").exists()
