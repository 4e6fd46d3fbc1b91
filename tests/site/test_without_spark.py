"""A kit that was set up without Spark says how to add it."""

import sys

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.spark.session import local_session


@pytest.fixture(autouse=True)
def without_spark(monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)


def test_a_search_on_spark_and_a_session_say_so():
    model = load("kafka.finite_replicated_log").bind()
    for ask in (lambda: explore(model, engine="spark"), local_session):
        with pytest.raises(LabError, match=r"python3 lab\.py --with-spark"):
            ask()
