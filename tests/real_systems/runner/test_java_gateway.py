"""Calls of Java from Python, and what they fail with."""

import pytest

from real_systems.runner.java_gateway import JavaGateway, cause_of
from real_systems.runner.processes import Processes


def test_a_session_of_spark_does_not_change_what_a_call_fails_with():
    captured = pytest.importorskip("pyspark.errors.exceptions.captured")
    import py4j.java_gateway

    with pytest.MonkeyPatch.context() as patch, Processes() as processes:
        patch.setattr(py4j.java_gateway, "get_return_value", py4j.java_gateway.get_return_value)
        captured.install_exception_handler()  # as each session does
        gateway = JavaGateway(processes, [])
        with pytest.raises(Exception) as caught:  # noqa: PT011 - py4j's own
            gateway.jvm.java.lang.Integer.parseInt("x")
        assert cause_of(caught.value) == ("NumberFormatException", 'For input string: "x"')
        gateway.close()
