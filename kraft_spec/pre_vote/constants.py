"""The constants of `kraft.kip_996`: most are those of `kraft.kip_853`.

Left out are the constants that mend a defect which this original no longer has, and those of links
and crashes, which it counts in another way.
"""

from typing import Annotated, NamedTuple

from kraft_spec import constants
from protocol_lab import *

LEFT_OUT = (
    "max_crashes",
    "max_disconnected_pairs",
    "stale_vote_request_fixed",
    "observer_vote_fixed",
    "single_voter_election_fixed",
    "single_voter_commit_fixed",
    "resigned_writes_fixed",
    "removal_guard_relaxed",
)


@extends(constants.Constants, without=LEFT_OUT)
class Constants(NamedTuple):
    """Those of `kraft.kip_853` that still mean something, and:"""

    init_cluster_size: Annotated[int, Limits(1, "max_cluster_size", "voters at the start")] = 3
    max_spawned_servers: Annotated[
        int, Limits("init_cluster_size", 7, "servers ever started", classes=(3, 5, 7))
    ] = 3
    value: Annotated[
        int, Limits(0, 7, "values that clients write, each at most once", classes=(7,))
    ] = 1
    max_values_per_epoch: Annotated[int, Limits(0, 9, "values that a leader adds in an epoch")] = 0
    max_epoch: Annotated[
        int,
        Limits(
            0,
            99,
            "no candidate from this epoch on; not if test_liveness. A resigned server goes to the"
            " next epoch even so",
            may_be_none=True,
        ),
    ] = 2
    max_perm_crashes: Annotated[int, Limits(0, 9, "crashes of voters that lose their disks")] = 1
    max_disruptive_election_triggers: Annotated[
        int, Limits(0, 9, "timeouts and resignations that happen for no reason")
    ] = 0
    max_pre_votes: Annotated[
        int,
        Limits(
            0,
            99,
            "constraint: with test_liveness, look no further after more timeouts",
            may_be_none=True,
        ),
    ] = NO_LIMIT

    # --- Rules that can be broken on purpose ------------------------------------------------------

    # `elections.ask_for_votes`. Scenario: absent_server_deposes_the_leader.
    pre_vote_off: Annotated[
        int, flag("a timeout makes a candidate of the next epoch at once, as before Kafka 4.0")
    ] = 0

    # `elections.would_vote`. Scenario: contented_follower_grants.
    pre_vote_without_fetch_rule: Annotated[
        int, flag("a follower grants a pre-vote even if it has fetched from its leader")
    ] = 0

    # `elections.conclude_pre_vote`. Property: not_stuck_in_prospective.
    prospective_never_gives_up: Annotated[
        int, flag("a prospective concludes only with a majority, and has no way back")
    ] = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "three voters, one of which may lose its disk; no timeout without a reason",
        "493,282 distinct states",
    ),
    Configuration(
        "shipped",
        "failures and reconfigurations, as in kraft_kip_996.cfg, which comes with the original; it"
        " calls itself a safety model, and sets TestLiveness",
        "not explored to the end",
        {
            "test_liveness": True,
            "init_cluster_size": 3,
            "min_cluster_size": 3,
            "max_cluster_size": 5,
            "hosts": 5,
            "value": 3,
            "max_spawned_servers": 5,
            "max_epoch": 3,
            "max_values_per_epoch": 1,
            "max_restarts": 1,
            "max_perm_crashes": 1,
            "max_add_reconfigs": 2,
            "max_remove_reconfigs": 2,
            "max_connectivity_changes": 2,
            "max_disruptive_election_triggers": 2,
        },
    ),
)
