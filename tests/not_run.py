"""Ends a test for which something is missing."""

import os
from typing import NoReturn

import pytest


def not_run(why: str) -> NoReturn:
    """A skip by hand, and a failure in CI, which has to install what tests need."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
