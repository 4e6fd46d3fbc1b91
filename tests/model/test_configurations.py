"""Named configurations: what they bind, how they are listed, their sizes and kept results."""

import json
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.catalog import load, spec_names
from protocol_lab.cli import describe, main
from protocol_lab.explore import explore
from protocol_lab.model.constants import DEFAULT, Configuration, bind, capacities, show
from protocol_lab.model.evaluation import keeping_results, kept
from protocol_lab.model.transitions import evaluate, initial
from tests.work_units import one_in

CHAINING = "bookkeeper.ledger_chaining"

MOST = 1_000_000
"""Larger state spaces are not explored here."""

NAMES = spec_names()  # now: other tests put packages of their own on the path
EVERY = [(name, each) for name in NAMES for each in load(name).configurations]


def counted() -> list:
    """The configurations of a known size that is not too large, as test parameters."""
    found = []
    for name, each in EVERY:
        if each.expects.distinct is not None and each.expects.distinct <= MOST:
            marks = () if name.startswith("kafka.") else pytest.mark.slow
            found.append(pytest.param(name, each, id=f"{name}-{each.name}", marks=marks))
    return found


class Sizes(NamedTuple):
    nodes: Annotated[int, Limits(1, 9, "nodes")] = 2
    records: Annotated[int, Limits(0, "nodes", "records of a log")] = 1
    counted: Annotated[int, Limits(0, 40, "items")] = 0
    plain: int = 2
    slots: Annotated[int, storage(1, 9, "messages")] = 2
    rounds: Annotated[int, Limits(0, 9, "no size names it")] = 1


class Sized(Struct):
    logs: Per(Node("nodes"), Seq(Int32, "records"))
    items: Array(Int32, "counted")
    others: Seq(Int8, "plain + 1")
    sent: Bag(Int8, "slots")
    large: Array(Int32, 20)


@pytest.mark.parametrize(
    ("given", "room"),
    [
        ({}, {}),
        ({"nodes": 1}, {"records": 1}),
        ({"nodes": 4}, {"nodes": 5, "records": 3}),
        ({"nodes": 8}, {"nodes": 9, "records": 3}),
        ({"counted": 4}, {"counted": 5}),
        ({"counted": 8}, {"counted": 8}),
        ({"plain": 1}, {"plain": 1}),
        ({"slots": 1, "rounds": 0}, {"slots": 1, "rounds": 0}),
    ],
)
def test_the_kit_makes_room_where_it_costs_little(given, room):
    constants = bind(Sizes, given, "toy")
    usual = {"nodes": 2, "records": 2, "counted": 0, "plain": 2, "slots": 2, "rounds": 1}
    assert capacities(Sized, constants) == usual | room


def test_a_configuration_gives_constants_that_can_be_changed_one_by_one():
    spec = load(CHAINING)
    assert spec.bind("shipped").constants == spec.bind(clients=3).constants
    changed = spec.bind("shipped", ledger_limit=2).constants
    assert changed == spec.bind(clients=3, ledger_limit=2).constants
    assert spec.bind(DEFAULT).constants == spec.bind().constants


def test_a_name_that_is_not_there_gets_one_sentence_with_those_that_are():
    with pytest.raises(LabError, match="'huge'; it has: default, shipped"):
        load(CHAINING).bind("huge")


@pytest.mark.rarely
def test_the_command_line_takes_it_and_lists_it(capsys):
    words = ["check", CHAINING, "--config", "shipped", "--set", "ledger_limit=1", "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)["constants"]
    assert (said["clients"], said["ledger_limit"]) == (3, 1)
    assert main(["specs", CHAINING]) == 0
    assert "config shipped clients=3  (three clients," in capsys.readouterr().out
    assert main(["specs", CHAINING, "--json"]) == 0
    [said] = json.loads(capsys.readouterr().out)["specs"]
    shipped = said["configurations"]["shipped"]
    assert (shipped["size"], shipped["constants"]) == ("375,963 distinct states", {"clients": 3})


def test_every_spec_says_how_large_its_defaults_are():
    assert {name for name, each in EVERY if each.name == DEFAULT} == set(NAMES)
    for name in NAMES:
        first, *others = load(name).configurations
        assert (first.name, dict(first.constants)) == (DEFAULT, {})
        assert first.expects.distinct, "the first check must come to a verdict"
        assert len({each.name for each in [first, *others]}) == 1 + len(others)


@pytest.mark.parametrize(("name", "configuration"), EVERY)
def test_every_configuration_can_be_bound(name, configuration):
    load(name).bind(configuration.name)
    assert configuration.expects.distinct != 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "configuration"), one_in(3, counted()))
def test_its_size_is_what_a_search_finds(name, configuration):
    found = explore(load(name).bind(configuration.name), progress=False)
    path = len(found.trace_rows) if found.violated else None
    assert (found.distinct, path) == configuration.expects


def test_a_size_of_another_form_is_told():
    with pytest.raises(LabError, match=r"'about 5'.*write `1,234 distinct states`"):
        _ = Configuration("default", "some", "about 5").expects


# --- A default that is a name --------------------------------------------------------------------


class Ordered(NamedTuple):
    order: Annotated[int, choice("oldest", "newest", meaning="what is served first")] = "newest"


class Misspelled(NamedTuple):
    order: Annotated[int, choice("oldest", "newest", meaning="what is served first")] = "latest"


class Counter(Struct):
    count: Int8


def test_a_default_may_be_a_name():
    assert bind(Ordered, {}, "served").order == 1
    assert bind(Ordered, {"order": "oldest"}, "served").order == 0
    assert show(bind(Ordered, {}, "served")) == {"order": "newest"}
    assert describe(Spec("served", Counter, Ordered))["constants"]["order"]["default"] == "newest"


def test_a_constant_has_32_bits():
    """Compiled sums of constants are not checked for an overflow: see `compiler.rewriting`."""

    class Large(NamedTuple):
        size: Annotated[int, Limits(0, 2**62, "a size")]

    with pytest.raises(LabError, match="size=2147483648 has more than 32 bits"):
        bind(Large, {"size": 2**31}, "large")


def test_a_default_that_is_no_name_is_named():
    with pytest.raises(LabError, match="order=latest is not one of oldest, newest"):
        bind(Misspelled, {}, "served")


def test_within_the_context_nothing_is_computed_twice():
    calls = []

    def ask(key: str) -> int:
        return kept(key, lambda: calls.append(key) or len(calls))

    assert [ask("one"), ask("one")] == [1, 2]
    with keeping_results():
        assert [ask("one"), ask("one"), ask("other")] == [3, 3, 4]
        with keeping_results():
            assert ask("one") == 5
        assert ask("one") == 3
    assert ask("one") == 6


def test_invariants_are_kept_by_their_constants():
    """A bound of another value may give another answer for the same bytes."""
    calls = []

    def counted(s, c):
        calls.append(c.max_id)
        return ""

    spec = load("kafka.id_sequence")
    models = [spec.bind(max_id=bound) for bound in (2, 3)]
    [start] = initial(models[0])
    with keeping_results():
        for model in [*models, *models]:
            assert evaluate(model, start.row, counted) == ""
    assert calls == [2, 3]
