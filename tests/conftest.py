"""Modules that hold assertions of several test files, so that pytest explains them as well."""

import pytest

pytest.register_assert_rewrite("tests.spec_checks")
