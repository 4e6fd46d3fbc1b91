"""Pins what is known about my_protocol, so that an accidental change is noticed."""

from pathlib import Path

from protocol_lab.catalog import load
from protocol_lab.explore import explore

SPEC = load(Path(__file__).with_name("my_protocol.py"))


def test_a_request_that_was_sent_twice_is_executed_twice():
    found = explore(SPEC.bind(), progress=False)
    assert (found.verdict, found.violated) == ("violated", "executed_at_most_once")
    execute = "execute(request=Message(number=1))"
    assert [step.text for step in found.trace] == ["send()", "send_again()", execute, execute]


def test_a_server_that_remembers_executes_every_request_once():
    found = explore(SPEC.bind(remembers=True), progress=False)
    assert found.verdict == "holds"
    assert (found.distinct, found.generated, found.depth) == (43, 86, 9)
    assert found.never_reached == []
