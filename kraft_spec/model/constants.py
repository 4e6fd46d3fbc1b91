"""The constants: the size of the cluster, how far to look, and how much storage a state has.

The original's constants come first, under its names; a set (Hosts, Value) is given as its size.
"""

from typing import Annotated, NamedTuple

from kraft_spec.extensions import additions, broken_rules, fixes
from protocol_lab import NO_LIMIT, Configuration, Limits, flag, storage


class Constants(NamedTuple):
    """Sizes, bounds, extensions and storage."""

    # --- The cluster ---------------------------------------------------------------------------
    init_cluster_size: Annotated[int, Limits(1, "max_cluster_size", "voters at the start")] = 2
    min_cluster_size: Annotated[
        int, Limits(0, "init_cluster_size", "a removal needs more voters than these")
    ] = 1
    max_cluster_size: Annotated[int, Limits(1, 7, "an addition needs fewer voters than these")] = 4
    hosts: Annotated[
        int,
        Limits("init_cluster_size", 9, "hosts that a new server may be started on", classes=(9,)),
    ] = 3
    value: Annotated[
        int, Limits(0, 7, "values that clients write, each at most once", classes=(7,))
    ] = 1
    max_spawned_servers: Annotated[
        int, Limits("init_cluster_size", 7, "servers ever started", classes=(3, 5, 7))
    ] = 2

    # --- How far to look -----------------------------------------------------------------------
    max_epoch: Annotated[
        int, Limits(0, 99, "no election from this epoch on; not if test_liveness", may_be_none=True)
    ] = 2
    max_values_per_epoch: Annotated[int, Limits(0, 9, "values that a leader adds in an epoch")] = 1
    max_restarts: Annotated[int, Limits(0, 9, "restarts of servers that keep their disks")] = 0
    max_crashes: Annotated[int, Limits(0, 9, "crashes of voters that lose their disks")] = 0
    max_add_reconfigs: Annotated[int, Limits(0, 9, "voters added")] = 0
    max_remove_reconfigs: Annotated[int, Limits(0, 9, "voters removed")] = 0
    max_connectivity_changes: Annotated[
        int, Limits(0, 9, "times that links go down or come back")
    ] = 0
    max_disconnected_pairs: Annotated[
        int, Limits(0, 21, "links that may be down at a time; a crash takes down all of a server's")
    ] = 0
    test_liveness: Annotated[
        int, flag("for liveness: timeouts need a cause, and max_epoch is no limit")
    ] = 0
    max_messages_in_flight: Annotated[
        int, Limits(0, 99, "constraint: look no further with more messages", may_be_none=True)
    ] = NO_LIMIT
    max_current_epoch: Annotated[
        int, Limits(0, 99, "constraint: look no further in later epochs", may_be_none=True)
    ] = NO_LIMIT

    # --- Extensions, all off: 0 is the protocol as published (see kraft_spec.extensions) ---------
    membership_requests: additions.MembershipRequests = 0
    end_quorum_epoch: additions.EndQuorumEpoch = 0
    max_empty_restarts: additions.EmptyRestarts = 0
    stale_vote_request_fixed: fixes.StaleVoteRequest = 0
    observer_vote_fixed: fixes.ObserverVote = 0
    single_voter_election_fixed: fixes.SingleVoterElection = 0
    single_voter_commit_fixed: fixes.SingleVoterCommit = 0
    first_fetch_fixed: fixes.FirstFetch = 0
    resigned_writes_fixed: fixes.ResignedWrites = 0
    follower_hwm_fixed: fixes.FollowerHighWatermark = 0
    old_removal_fixed: fixes.OldRemoval = 0
    removal_guard_relaxed: fixes.RemovalGuard = 0
    reconfigure_before_own_commit: broken_rules.ReconfigureBeforeOwnCommit = 0
    vote_without_log_check: broken_rules.VoteWithoutLogCheck = 0
    hwm_over_earlier_epoch: broken_rules.HighWatermarkOverEarlierEpoch = 0
    removed_leader_counts_itself: broken_rules.RemovedLeaderCountsItself = 0
    fetch_outside_configuration: broken_rules.FetchOutsideConfiguration = broken_rules.IGNORED
    unknown_member_delays_only: broken_rules.UnknownMemberDelaysOnly = 0
    identity_ignored: broken_rules.IdentityIgnored = 0

    # --- Storage ---------------------------------------------------------------------------------
    log_slots: Annotated[
        int, storage(1, 24, "entries that fit into a log", classes=(6, 12, 24))
    ] = 6
    vote_slots: Annotated[
        int,
        storage(1, 60, "vote requests, votes, announcements each", classes=(8, 20, 60)),
    ] = 8
    fetch_slots: Annotated[
        int, storage(1, 60, "fetch requests, and responses", classes=(10, 24, 60))
    ] = 10
    request_slots: Annotated[
        int, storage(1, 20, "requests to join or to remove, and answers", classes=(6, 20))
    ] = 6


CONFIGURATIONS = (
    Configuration("default", "two voters, one election and one value", "11,852 distinct states"),
    Configuration(
        "three_servers",
        "three voters, one election and one value",
        "more than 1,900,000 distinct states",
        {"init_cluster_size": 3, "max_spawned_servers": 3},
    ),
    Configuration(
        "shipped",
        "failures and reconfigurations, as in kraft_kip_853.cfg, which comes with the original",
        "not explored to the end",
        {
            "init_cluster_size": 3,
            "min_cluster_size": 3,
            "max_cluster_size": 4,
            "hosts": 4,
            "max_spawned_servers": 4,
            "max_restarts": 1,
            "max_crashes": 1,
            "max_add_reconfigs": 1,
            "max_remove_reconfigs": 1,
        },
    ),
    Configuration(
        "shipped_liveness",
        "five voters and bad links, as in model_liveness.cfg, which comes with the original",
        "not explored to the end",
        {
            "test_liveness": True,
            "value": 3,
            "init_cluster_size": 5,
            "min_cluster_size": 5,
            "max_cluster_size": 5,
            "hosts": 5,
            "max_spawned_servers": 5,
            "max_restarts": 1,
            "max_crashes": 2,
            "max_connectivity_changes": 1,
            "max_disconnected_pairs": 6,
        },
    ),
)
