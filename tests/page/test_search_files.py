"""The compiled searches that pages get, and what is kept of them."""

import subprocess

import pytest

from protocol_lab.catalog import load
from protocol_lab.page import search_files
from protocol_lab.page.search_files import Searches

MODULE = '{"module": "AGFzbQ=="}'


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Searches of one model, with a compiler that ends so; how often it was called."""
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    searches = Searches()
    searches.add("kafka.id_sequence", load("kafka.id_sequence").bind())

    def ending(returncode, stdout):
        calls = []

        def run(command, **_):
            calls.append(command)
            return subprocess.CompletedProcess(command, returncode, stdout, "")

        monkeypatch.setattr(search_files.subprocess, "run", run)
        return list(searches.scripts()), calls

    return ending


def test_a_search_is_compiled_once_and_then_kept(compiled):
    ((name, script),), calls = compiled(0, MODULE)
    assert len(calls) == 1
    assert script == f'labSearch("{name}", {MODULE});\n'
    assert compiled(0, "another") == ([(name, script)], [])


def test_a_search_that_can_not_be_compiled_is_left_out_and_tried_again(compiled):
    assert compiled(1, MODULE)[0] == []
    assert len(compiled(0, MODULE)[0]) == 1
