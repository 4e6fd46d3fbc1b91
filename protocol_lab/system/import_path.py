"""Where Python looks for modules: what is installed comes before what lies in the current folder.

`python -m` and notebooks put the current folder first. A file such as numba.py would then be
imported in place of the package of that name, and a folder with files from somebody else would
decide what the kit runs.
"""

import os
import sys

KIT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of the kit's packages. It stays on the path, also where it is the current folder."""

_added: set[str] = set()
"""The folders of files that were loaded by their paths."""


def put_current_folder_last() -> None:
    """Look into the current folder, if it is on the path, after all other folders."""
    for each in current_folders():
        sys.path.remove(each)
        sys.path.append(each)


def use_current_folder(wanted: bool) -> None:
    """Put the current folder at the end of the path, or take it from the path."""
    found = current_folders()
    if wanted and not found:
        sys.path.append(os.getcwd())
    for each in () if wanted else found:
        sys.path.remove(each)


def add_folder(folder: str) -> None:
    """Put the folder of a file that is loaded by its path on the path: after what is installed,
    before the current folder and the folders that were added earlier."""
    installed = installed_folders()
    if folder not in installed:
        _added.add(folder)
        later = [each for each in sys.path if each not in installed and each != folder]
        sys.path[:] = [*installed, folder, *later]


def installed_folders() -> list[str]:
    """The path without the current folder, and without the folders of files loaded by path."""
    own = {*_added, *current_folders()}
    return [each for each in sys.path if each not in own]


def current_folders() -> list[str]:
    """The entries of the path that stand for the current folder, unless that is the kit's own."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        return []
    return [] if here == KIT else [each for each in sys.path if os.path.realpath(each) == here]
