"""The constants: the size of the cluster, how far to look, what to fix or to break, and storage.

The original's constants come first, under its names; a set (Hosts, Value) is given as its size.
With the fixes and broken rules at their defaults the protocol is the one that was published: where
an action reads one of them, take it for off, and fetch_outside_configuration for "ignored".
"""

from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    """Sizes, bounds, fixes, broken rules and storage."""

    # --- The cluster ---------------------------------------------------------------------------
    init_cluster_size: Annotated[int, Limits(1, "max_cluster_size", "voters at the start")] = 2
    min_cluster_size: Annotated[
        int, Limits(0, "init_cluster_size", "a removal needs more voters than these")
    ] = 1
    max_cluster_size: Annotated[int, Limits(1, 7, "an addition needs fewer voters than these")] = 4
    hosts: Annotated[
        int,
        Limits("init_cluster_size", 9, "hosts that a new server may be started on"),
    ] = 3
    value: Annotated[int, Limits(0, 7, "values that clients write, each at most once")] = 1
    max_spawned_servers: Annotated[int, Limits("init_cluster_size", 7, "servers ever started")] = 2

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

    # --- Defects of the original, and what fixes each ---------------------------------------------
    # docs/kraft_findings.md has each as TLC reports it, and says which the author has fixed since.

    # A vote request of an earlier epoch: the original refuses it and applies the new state all the
    # same, so that an unattached server goes back to the request's epoch and has voted in it
    # (`handle_vote_request`). Scenarios: stale_vote_request_epoch_goes_back,
    # stale_vote_request_two_leaders; property: epoch_monotone.
    stale_vote_request_fixed: Annotated[
        int, flag("a refused vote request from an earlier epoch leaves the voter as it is")
    ] = 0

    # An observer's fetch timeout: the original forgets the observer's vote, so it may vote again
    # in the same epoch (`transition_to_unattached`). This defect appears within the bounds that the
    # original ships with. Scenarios: two_leaders_in_shipped_bounds, observer_votes_twice,
    # observer_forgets_its_vote; property: one_vote_in_an_epoch.
    observer_vote_fixed: Annotated[
        int, flag("a server that becomes unattached in its own epoch remembers its vote in it")
    ] = 0

    # An election in a configuration of one: the original sets the high watermark to the end of the
    # log and lists it among the variables that stay as they are. Both are possible only if it is
    # there already (`become_leader`). Scenario: single_voter_has_no_leader.
    single_voter_election_fixed: Annotated[
        int, flag("the only member of a configuration can become its leader")
    ] = 0

    # A commit in a configuration of one: the original raises the high watermark and does nothing
    # else that a commit does. No client is told, and no configuration counts as committed; after a
    # removal that leaves one member not even the high watermark moves (`commit_if_alone`).
    # Scenario: single_voter_tells_no_client.
    single_voter_commit_fixed: Annotated[
        int, flag("a leader that is the only member commits by itself, and tells the clients")
    ] = 0

    # The first fetch of a new server: the original does not record it as pending, so that nobody
    # ever handles the response (`start_new_server`); the second fetch finds the leader. Scenario:
    # first_fetch_is_never_taken.
    first_fetch_fixed: Annotated[
        int, flag("a new server waits for the response to its first fetch, and can handle it")
    ] = 0

    # Clients whose writes are uncommitted when a leader resigns: the original tells them nothing,
    # nor when it loses its leadership by a vote response or its removal (`server_states.enter`).
    # Scenarios: resigned_leader_keeps_its_client_waiting,
    # vote_response_keeps_a_client_waiting, own_removal_keeps_a_client_waiting.
    resigned_writes_fixed: Annotated[
        int, flag("a leader that resigns tells its clients that their writes have failed")
    ] = 0

    # A follower's high watermark: in the original it becomes whatever the leader says, which may be
    # lower, and stays as it is when the log is truncated (`learn_high_watermark`). Scenarios:
    # follower_high_watermark_falls, high_watermark_beyond_log; property: hwm_monotone.
    follower_hwm_fixed: Annotated[
        int, flag("a follower's high watermark falls only when its log is truncated below it")
    ] = 0

    # A leader that was removed and added again: the original asks whether what it commits contains
    # its removal, not whether a later command takes that back (`is_removed_by`). After a restart a
    # server counts its whole log as uncommitted, so that a voter resigns by an old removal.
    # Scenario: voter_resigns_by_an_old_removal.
    old_removal_fixed: Annotated[
        int, flag("a leader that is a member stays, even if it commits its own removal of earlier")
    ] = 0

    # The guard of a removal with test_liveness: the original asks for a majority of the present
    # voters without the removed one, which two voters never have (`keeps_majority_without`).
    removal_guard_relaxed: Annotated[
        int, flag("with test_liveness: half of the voters are enough to permit a removal")
    ] = 0

    # --- Rules that can be broken on purpose, to see what they are for ----------------------------

    # The rule is in `reconfiguration_error`. Scenarios: reconfigure_before_own_commit breaks it,
    # reconfigure_after_own_commit keeps it.
    reconfigure_before_own_commit: Annotated[
        int, flag("a leader reconfigures with no committed entry of its epoch: the thesis' bug")
    ] = 0

    # The rule is in `is_log_good_enough`. Scenario: vote_without_log_check.
    vote_without_log_check: Annotated[
        int, flag("a vote is also granted to a candidate whose log is behind the voter's")
    ] = 0

    # The rule is in `new_high_watermark`. Scenario: hwm_over_earlier_epoch.
    hwm_over_earlier_epoch: Annotated[
        int, flag("entries of earlier epochs are committed by counting replicas")
    ] = 0

    # The rule is in `is_held_by_quorum`. Scenario: removed_leader_counts_itself.
    removed_leader_counts_itself: Annotated[
        int, flag("a leader outside of its configuration counts itself in the quorum")
    ] = 0

    # The rule is in `fetch_error` and `accept_fetch_request_from_voter`. The original's actions
    # ignore such a fetch; its prose accepts it, and proposes to try rejecting it. Scenarios:
    # removed_voter_is_ignored, removed_voter_is_accepted, removed_voter_is_rejected.
    fetch_outside_configuration: Annotated[
        str,
        choice(
            "ignored",
            "accepted",
            "rejected",
            meaning="what a leader does with the fetch of a voter that is not in its configuration",
        ),
    ] = "ignored"

    # The rule is in `has_failed_fetch`. Scenario: removed_voter_asks_for_ever.
    unknown_member_delays_only: Annotated[
        int, flag("with rejected: the rejected voter fetches again, and does not hold an election")
    ] = 0

    # --- Storage ---------------------------------------------------------------------------------
    log_slots: Annotated[int, storage(1, 24, "entries that fit into a log")] = 6
    vote_slots: Annotated[
        int,
        storage(1, 60, "vote requests, votes, announcements each"),
    ] = 8
    fetch_slots: Annotated[int, storage(1, 60, "fetch requests, and responses")] = 10


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
