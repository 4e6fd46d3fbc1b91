"""KRaft's liveness as TLC judged it: verdicts, states, and lassos that are no longer than TLC's.

The runs are TLC's on the original or on copies of it with one thing changed, which here is a
constant. "r3" and "r2" are the exercise of the original's README: a follower is removed from three
voters, or from two, and the leader ignores, accepts or rejects the fetches of who was removed.
"""

from dataclasses import dataclass

import pytest

from protocol_lab import LabError
from protocol_lab.liveness.check import check_property
from tests.spec_checks import bind
from tests.work_units import one_of

pytestmark = pytest.mark.slow

ONE_REMOVED_OF_THREE = "s.config[1].members == 14 or s.config[1].members == 6"
ONE_REMOVED_OF_TWO = "s.config[1].members == 6 or s.config[1].members == 2"


@dataclass
class Run:
    """TLC's verdict: distinct states if it saw all of them, or the length of its trace if it found
    a lasso, which then stutters or not."""

    name: str
    claim: str
    constants: dict
    distinct: int | None = None
    trace: int | None = None
    stutters: bool = False
    constraint: str | None = None


def servers(count: int, epoch: int | None = None, **more) -> dict:
    """The liveness mode with so many servers and values off, up to an epoch."""
    sizes = ("init_cluster_size", "max_cluster_size", "max_spawned_servers", "hosts")
    bounds = {"max_values_per_epoch": 0, "min_cluster_size": count, "max_current_epoch": epoch}
    return {"test_liveness": 1, **dict.fromkeys(sizes, count), **bounds} | more


def removal(count: int, epoch: int, **more) -> dict:
    """The same with one removal."""
    return servers(count, epoch, min_cluster_size=count - 1, max_remove_reconfigs=1) | more


def relaxed(**more) -> dict:
    """A follower is removed from two voters, and the leader can be elected alone."""
    return removal(2, 3, removal_guard_relaxed=1, single_voter_election_fixed=1) | more


RUNS = [
    Run(
        "alone_acked", "values_eventually_acked", servers(1, max_values_per_epoch=1), None, 2, True
    ),
    Run("alone_leader", "eventually_leader_elected", servers(1, 3, max_restarts=1), None, 3, True),
    Run(
        "alone_leader_fixed",
        "eventually_leader_elected",
        servers(1, 3, max_restarts=1, single_voter_election_fixed=1),
        4,
    ),
    *(
        Run(f"two_{claim}", claim, servers(2, 2, max_values_per_epoch=1), 26)
        for claim in ("values_eventually_acked", "eventually_leader_elected")
    ),
    *(
        Run(
            f"two_restart_{claim}",
            claim,
            servers(2, 2, max_values_per_epoch=1, max_restarts=1),
            3470,
        )
        for claim in ("values_eventually_acked", "eventually_leader_elected")
    ),
    *(
        Run(f"r3_{claim}", claim, removal(3, 1), 156, constraint=ONE_REMOVED_OF_THREE)
        for claim in (
            "values_eventually_acked",
            "reconfiguration_not_stuck",
            "eventually_leader_elected",
        )
    ),
    Run(
        "r3_ignored_learn",
        "removed_server_learns",
        removal(3, 1),
        None,
        13,
        constraint=ONE_REMOVED_OF_THREE,
    ),
    Run(
        "r3_accepted_learn",
        "removed_server_learns",
        removal(3, 1, fetch_outside_configuration="accepted"),
        676,
        constraint=ONE_REMOVED_OF_THREE,
    ),
    Run(
        "r2_rejected_reconfiguration",
        "reconfiguration_not_stuck",
        relaxed(fetch_outside_configuration="rejected"),
        2672,
    ),
    Run("r2_ignored", "removal_not_stuck", relaxed(), None, 3, True, constraint=ONE_REMOVED_OF_TWO),
    Run(
        "r2_ignored_leader",
        "eventually_leader_elected",
        removal(2, 3, removal_guard_relaxed=1),
        None,
        15,
        True,
    ),
    Run(
        "r2_rejected",
        "removal_not_stuck",
        relaxed(fetch_outside_configuration="rejected"),
        264,
        constraint=ONE_REMOVED_OF_TWO,
    ),
    Run(
        "r2_rejected_as_shipped",
        "removal_not_stuck",
        relaxed(fetch_outside_configuration="rejected", single_voter_election_fixed=0),
        120,
        constraint=ONE_REMOVED_OF_TWO,
    ),
]


VACUOUS = {
    "two_eventually_leader_elected",  # there is a leader all the time
    "r3_values_eventually_acked",  # nobody sends a value
    "r3_eventually_leader_elected",
}
"""The runs whose claim holds because its premise is never true."""


def as_parameter(run: Run):
    return pytest.param(
        run, id=run.name, marks=[pytest.mark.vacuous] if run.name in VACUOUS else []
    )


@pytest.mark.parametrize("run", one_of(map(as_parameter, RUNS)))
def test_as_tlc(run):
    model = bind("kraft.kip_853", **run.constants)
    result = check_property(model, run.claim, constraint=run.constraint, progress=False)
    if run.distinct:
        assert (result.verdict, result.distinct) == ("holds", run.distinct)
    else:
        assert (result.verdict, result.stutters) == ("violated", run.stutters)
        states = len(result.trace_rows) - (not run.stutters)
        assert states <= run.trace


def test_the_exercise():
    """Accepting the removed server's fetches lets the removal come to an end; refusing them, with
    a server that just tries again, keeps both busy for ever."""

    def of(**more):
        model = bind("kraft.kip_853", **relaxed(**more))
        return check_property(
            model, "removal_not_stuck", constraint=ONE_REMOVED_OF_TWO, progress=False
        )

    assert of(fetch_outside_configuration="accepted").verdict == "holds"
    busy = of(fetch_outside_configuration="rejected", unknown_member_delays_only=1)
    assert (busy.verdict, busy.stutters) == ("violated", False)
    assert len(busy.trace_rows) - 1 == 7  # states, as in TLC's lasso
    assert {step.action for step in busy.trace[busy.loop_from - 1 :]} == {
        "send_fetch_request",
        "reject_fetch_request",
        "handle_fetch_response",
    }


def test_a_claim_about_no_configuration_is_refused():
    """The shipped liveness model has no reconfigurations; TLC calls the claim a tautology."""
    with pytest.raises(LabError, match="reconfiguration_not_stuck claims nothing"):
        check_property(bind("kraft.kip_853", **servers(3, 2)), "reconfiguration_not_stuck")
