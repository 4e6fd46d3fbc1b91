"""Coverage: which actions were taken, and which guards stopped those that never were."""

import json

import pytest

from protocol_lab import LabError
from protocol_lab.cli import main
from protocol_lab.explain.coverage import coverage
from protocol_lab.explore import explore
from protocol_lab.model.transitions import attempts
from tests import request_reply
from tests.toy_specs import counter, letters


def explored(**options):
    model = request_reply.spec.bind(crashes=0, lossy=False)
    return explore(model, invariants=[], progress=False, **options)


def test_actions_that_were_never_taken_are_named_with_the_guard_that_stopped_them():
    result = explored()
    found = coverage(result)
    assert [each.name for each in found.never_taken] == ["lose_request", "lose_reply", "crash"]
    assert (found.tried, found.states) == (10, 10)
    text = str(found)
    assert "refusals counted in all 10 states" in text
    assert 'crash: never taken; no attempt got past "the server has crashed often enough"' in text
    assert "      10 times: the server has crashed often enough" in text


@pytest.mark.parametrize("engine", ["native", "python"])
def test_every_search_says_what_was_never_taken_and_reached(engine):
    model = letters.bind(servers=2, values=1, starts=1)
    result = explore(model, engine=engine, invariants=[], progress=False)
    told = str(result)
    assert "  reached: a_letter_arrives\n  never reached: pigs_fly" in told
    assert "never taken" not in told
    nothing = explore(
        letters.bind(values=0, starts=1), engine=engine, invariants=[], progress=False
    )
    assert "  never taken: broadcast, receive, forget" in str(nothing)
    said = nothing.to_json()
    assert said["never_taken"] == ["broadcast", "receive", "forget"]
    assert (said["reached"], said["never_reached"]) == ([], ["a_letter_arrives", "pigs_fly"])


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_search_that_did_not_see_all_does_not_say_never(engine):
    model = letters.bind(servers=2, values=1, starts=1)
    result = explore(model, engine=engine, invariants=[], max_states=1, progress=False)
    told = str(result)
    assert "  not reached so far: a_letter_arrives, pigs_fly\n" in told
    assert "  not taken so far: broadcast, receive, forget" in told
    assert "never" not in told


def test_refusals_are_counted_as_the_attempts_tell_them():
    result = explored()
    found = {each.name: each for each in coverage(result).actions}
    for action in result.model.spec.actions:
        told = [
            each.reason
            for row in result.states
            for each in attempts(result.model, row.tobytes(), [action])
        ]
        each = found[action.name]
        assert each.attempts == len(told)
        assert each.refused == {reason: told.count(reason) for reason in set(told) if reason}
    assert {name: each.taken for name, each in found.items()} == {
        name: count for name, count in result.per_action.items() if name != "init"
    }


def test_a_sample_and_a_part_say_so():
    result = explored(max_states=6)
    assert "counted in 3 of the 6 states, which are not all that there are" in str(
        coverage(result, tried=3)
    )


def test_guards_stand_in_their_order():
    result = explore(counter.bind(limit=0), progress=False)
    [count] = coverage(result).actions
    assert (count.taken, count.refused) == (0, {"the limit is reached": 1})


def test_states_are_needed():
    result = explored(engine="python")
    with pytest.raises(LabError, match="Coverage needs the states"):
        coverage(result)


def test_on_the_command_line(capsys):
    words = ["check", "kafka.id_sequence", "--set", "max_id=0", "--coverage"]
    main(words)
    assert "coverage, with refusals counted in all 2 states" in capsys.readouterr().out
    main([*words, "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["coverage"]["tried"], said["coverage"]["states"]) == (2, 2)
