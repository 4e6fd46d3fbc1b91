"""Fixtures for more than one test file."""

import pytest

import lab


@pytest.fixture(scope="session")
def chromium():
    """The Chromium for the browser tests; without one `lab.py test` does not select them."""
    found = lab.find_chromium()
    if found is None:
        pytest.fail(
            "There is no Chromium: run `sudo apt-get install chromium`, set CHROMIUM to one, "
            "or leave the browser tests out with `-m 'not browser'`."
        )
    return found
