"""Symmetry reduction: one state of all that differ by a renaming, and nothing else is lost.

The compiled canonical forms are compared with the plain ones, which try every renaming.
"""

import json
from dataclasses import replace
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_spec.async_isr import Replica
from protocol_lab import *
from protocol_lab.catalog import load, spec_names
from protocol_lab.cli import main
from protocol_lab.compiler.kernels import Kernels
from protocol_lab.explore import explore
from protocol_lab.model.state_view import encode_plain
from protocol_lab.model.step_text import find_step
from protocol_lab.symmetry.state_identity import Identity
from protocol_lab.symmetry.symmetry_check import all_renamings, check_alike, renamed, smallest_name
from tests.request_reply import spec as request_reply
from tests.spec_checks import agree, cases_of
from tests.work_units import one_in, one_of

# --- Canonical forms ---------------------------------------------------------------------------

Server, Client = Node("servers"), Node("clients")


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 3, "servers")] = 3
    clients: Annotated[int, Limits(1, 2, "clients")] = 2


class Item(Struct):
    owner: Server
    readers: NodeSet(Server)
    sender: Client
    number: Int16


class ServerState(Struct):
    follows: Server
    serves: NodeSet(Client)
    votes: Per(Server, Int8)
    inbox: Bag(Item, 2)


class State(Struct):
    leader: Server
    server: Per(Server, ServerState)
    client: Per(Client, Server)
    log: Seq(Item, 2)
    bag: Bag(Item, 2)
    table: Array(Server, 2)


everywhere = Spec("toy.everywhere", State, Constants, "Nodes wherever a state can have them.")
everywhere.symmetric(Server)
everywhere.symmetric(Client)


@everywhere.init
def init(s: State, c: Constants):
    return TAKEN


MODEL = everywhere.bind()
RENAMINGS = list(all_renamings(MODEL))

servers, clients = st.integers(0, 3), st.integers(0, 2)
server_sets, client_sets = st.sets(st.integers(1, 3)), st.sets(st.integers(1, 2))
items = st.fixed_dictionaries(
    {"owner": servers, "readers": server_sets, "sender": clients, "number": st.integers(0, 1)}
)
some_items = st.lists(items, max_size=2)
states = st.fixed_dictionaries(
    {
        "leader": servers,
        "server": st.fixed_dictionaries(
            {
                k: st.fixed_dictionaries(
                    {
                        "follows": servers,
                        "serves": client_sets,
                        "votes": st.fixed_dictionaries({j: st.integers(0, 1) for j in (1, 2, 3)}),
                        "inbox": some_items,
                    }
                )
                for k in (1, 2, 3)
            }
        ),
        "client": st.fixed_dictionaries(dict.fromkeys((1, 2), servers)),
        "log": some_items,
        "bag": some_items,
        "table": st.tuples(servers, servers).map(list),
    }
)


def encoded(state: dict) -> bytes:
    """The row of a state, its bags sorted."""
    return renamed(MODEL.layout, encode_plain(MODEL.layout, state), RENAMINGS[0])


def known_by(rows: list[bytes]) -> list[int]:
    """What the compiled code knows these states by."""
    words = np.frombuffer(b"".join(rows), np.uint64).reshape(len(rows), -1).copy()
    identity = Identity(Kernels(MODEL), symmetry=True, view=False)
    return identity.prints(words, len(rows), np.ones(len(rows), np.uint8))[0].tolist()


@pytest.mark.rarely
@settings(max_examples=50, deadline=None)
@given(states, states, st.sampled_from(RENAMINGS))
def test_states_are_known_by_the_same_exactly_if_a_renaming_makes_one_of_the_other(
    one, other, names
):
    mixed = {**one, "server": other["server"]}
    rows = [encoded(each) for each in (one, other, mixed)]
    rows.append(renamed(MODEL.layout, rows[0], names))
    prints = known_by([renamed(MODEL.layout, row, names) for row in rows for names in RENAMINGS])
    of_row = [set(prints[at : at + 12]) for at in range(0, len(prints), 12)]
    assert [len(each) for each in of_row] == [1, 1, 1, 1]
    smallest = [smallest_name(MODEL, row) for row in rows]
    assert all(
        (of_row[j] == of_row[k]) == (smallest[j] == smallest[k])
        for j, k in product(range(4), repeat=2)
    )


# --- Searches ----------------------------------------------------------------------------------

REDUCED = [
    pytest.param(request_reply.bind(clients=2, requests=2, remembers="on_disk"), id="clients"),
    pytest.param(load("kafka.kip_320").bind(replicas=2), id="replicas"),
    pytest.param(
        load("kafka.async_isr").bind(leader=2, max_leader_offset=1, max_version=2),
        id="all-but-the-leader",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", one_in(3, REDUCED))
def test_one_state_of_each_orbit_on_both_engines(model):
    reduced = agree(model, invariants=[], symmetry=True, progress=False)
    whole = explore(model, invariants=[], progress=False)
    orbits = {smallest_name(model, row.tobytes()) for row in whole.states}
    assert (reduced.verdict, reduced.distinct) == ("holds", len(orbits))
    assert {smallest_name(model, row.tobytes()) for row in reduced.states} == orbits
    assert (reduced.depth, reduced.never_reached) == (whole.depth, whole.never_reached)


def test_a_trace_is_a_path_of_the_protocol_and_as_short_as_without_symmetry():
    model = request_reply.bind(clients=2)
    whole, reduced = (
        explore(model, symmetry=symmetry, progress=False) for symmetry in (False, True)
    )
    assert reduced.violated == whole.violated == "executed_at_most_once"
    assert len(reduced.trace) == len(whole.trace)
    row = reduced.trace_rows[0]
    for step, expected in zip(reduced.trace, reduced.trace_rows[1:], strict=True):
        row = find_step(model, row, step.text).row
        assert row == expected


@pytest.mark.slow
def test_it_is_said_what_was_counted(capsys):
    assert main(["check", "kafka.kip_320", "--set", "replicas=2", "--symmetry"]) == 0
    assert "2,987 distinct states up to renaming replicas" in capsys.readouterr().out
    main(["check", "kafka.kip_320", "--set", "replicas=2", "--symmetry", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (said["symmetry"], said["view"], said["distinct"]) == (True, False, 2987)


# --- Declarations ------------------------------------------------------------------------------

DECLARED = [name for name in spec_names() if load(name).symmetries]


ALIKE = [
    pytest.param(case, id=str(case), marks=pytest.mark.rarely if case[1] else ())
    for name in DECLARED
    for case in cases_of(name)
]
"""A spec with its defaults, and, seldom, with the constants of its scenarios."""


@pytest.mark.slow
@pytest.mark.parametrize("which", ALIKE)
def test_what_is_declared_alike_is_alike(which):
    name, constants = which
    model = load(name).bind(**dict(constants))
    check_alike(model, [*model.spec.invariants, *model.spec.step_invariants])


KRAFT = load("kraft.kip_853")
ONE_EPOCH = {"max_epoch": 1, "min_cluster_size": 1, "max_cluster_size": 2, "max_spawned_servers": 2}


@pytest.mark.rarely
@pytest.mark.parametrize(
    ("constants", "whole", "reduced"),
    [
        ({"init_cluster_size": 2, "hosts": 2, "value": 2, "max_values_per_epoch": 2}, 452, 236),
        (
            {
                "init_cluster_size": 1,
                "max_values_per_epoch": 0,
                "max_add_reconfigs": 1,
                "max_messages_in_flight": 2,
            },
            3890,
            2594,
        ),
    ],
    ids=["values", "hosts"],
)
def test_values_and_free_hosts_of_kraft_are_alike(constants, whole, reduced):
    """The figures are TLC's, from the original with its SYMMETRY and without its VIEW."""
    model = KRAFT.bind(**ONE_EPOCH, **constants)
    check_alike(model, [*model.spec.invariants, *model.spec.step_invariants])
    found = [
        explore(model, symmetry=symmetry, progress=False).distinct for symmetry in (False, True)
    ]
    assert found == [whole, reduced]


def declared_alike(name: str) -> Spec:
    """The spec with all its replicas declared symmetric."""
    spec = replace(load(name), symmetries=[])
    spec.symmetric(Replica)
    return spec


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("kafka.unclean_leader_election", "the initial states differ"),
        ("kafka.async_isr", "controller_shrink_isr leads to other states"),
    ],
)
def test_a_wrong_declaration_is_refused(name, told):
    with pytest.raises(LabError, match=f"tells 1 and 2 apart: .*{told}"):
        explore(declared_alike(name).bind(), symmetry=True, progress=False)


def test_a_property_or_constraint_that_tells_nodes_apart_is_refused():
    spec = replace(load("kafka.kip_320"), invariants=[])

    @spec.invariant
    def replica_2_never_leads(s, c):
        return "it does" if s.quorum_state.leader == 2 else ""

    with pytest.raises(LabError, match="replica_2_never_leads changes its answer"):
        explore(spec.bind(), symmetry=True, progress=False)
    with pytest.raises(LabError, match=r"the condition .* changes its value"):
        explore(
            load("kafka.kip_320").bind(),
            invariants=[],
            constraint="s.quorum_state.leader != 1",
            symmetry=True,
            progress=False,
        )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["kafka.id_sequence", "--symmetry"], "declares no interchangeable nodes"),
        (["kafka.id_sequence", "--view"], "declares no view"),
        (["kafka.kip_320", "--symmetry", "--engine", "spark"], "leave it out with"),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(words, told, capsys):
    assert main(["check", *words]) == 3
    assert told in capsys.readouterr().err


# --- Views -------------------------------------------------------------------------------------


def forgetting(*names: str) -> Spec:
    """Requests and replies, with a view without these parts of the state."""
    spec = replace(request_reply)
    source = "".join(f"    s.{name} = 0\n" for name in names)
    scope: dict = {"__name__": __name__}
    text = f"def without_{len(names)}(s, c):\n{source}"
    exec(text, scope)
    function = scope[f"without_{len(names)}"]
    function.lab_source = text
    spec.view(function)
    return spec


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", one_of([False, True]))
def test_a_view_counts_states_once_that_differ_in_what_it_erases(symmetry):
    model = forgetting("crashes").bind(clients=2, remembers="on_disk")
    seen = agree(model, view=True, symmetry=symmetry, progress=False)
    whole = explore(model, symmetry=symmetry, progress=False)
    assert seen.distinct < whole.distinct
    assert (seen.verdict, seen.exhaustive) == ("undecided", False)
    assert "states with equal views were merged" in seen.undecided_reason


@pytest.mark.rarely
@pytest.mark.parametrize(
    ("constants", "symmetry", "expected"),
    [
        ({"max_epoch": 2, "max_values_per_epoch": 0}, False, (516, 806, 21)),
        ({"max_epoch": 2}, False, (2660, 4184, 28)),
        ({"max_epoch": 2, "max_values_per_epoch": 0, "max_restarts": 1}, False, (5261, 9552, 27)),
        ({"max_epoch": 1, "value": 2, "max_values_per_epoch": 2}, True, (123, 192, 18)),
    ],
)
def test_the_view_of_kraft_counts_as_tlc_does(constants, symmetry, expected):
    """Distinct and generated states and depth are TLC's, from the original with its VIEW."""
    two = {"init_cluster_size": 2, "min_cluster_size": 2, "hosts": 2}
    model = KRAFT.bind(**ONE_EPOCH | two | constants)
    seen = explore(model, view=True, symmetry=symmetry, progress=False)
    assert (seen.distinct, sum(seen.per_action.values()), seen.depth) == expected
    assert (seen.verdict, seen.exhaustive) == ("undecided", False)


def test_a_view_can_hide_a_violation():
    """Where the crash and what it makes forgotten are erased, it seems that nothing happened."""
    model = forgetting("crashes", "server.last").bind(remembers="in_memory")
    assert explore(model, progress=False).violated == "executed_at_most_once"
    hidden = agree(model, view=True, progress=False)
    assert (hidden.violated, hidden.verdict) == (None, "undecided")
