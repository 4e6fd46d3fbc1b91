"""The constants of KRaft: how large, how far to look, what is mended and what is broken.

The original's constants come first, under its names; a set (Hosts, Value) is given as its size.
All that follows is off by default, so that counts can be compared with the original's.
"""

from typing import Annotated, NamedTuple

from protocol_lab import NO_LIMIT, Limits, addition, choice, flag

IGNORED, ACCEPTED, REJECTED = 0, 1, 2


class Constants(NamedTuple):
    """Sizes, bounds, additions, mended defects, broken variants, and storage."""

    # --- The cluster ---------------------------------------------------------------------------
    init_cluster_size: Annotated[int, Limits(1, "max_cluster_size", "voters at the start")] = 3
    min_cluster_size: Annotated[
        int, Limits(0, "init_cluster_size", "a removal needs more voters than these")
    ] = 1
    max_cluster_size: Annotated[int, Limits(1, 7, "an addition needs fewer voters than these")] = 4
    hosts: Annotated[
        int, Limits("init_cluster_size", 9, "hosts that a new server may be started on")
    ] = 3
    value: Annotated[
        int, Limits(0, 7, "values that clients write, each once at most", classes=(7,))
    ] = 1
    max_spawned_servers: Annotated[
        int, Limits("init_cluster_size", 7, "servers ever started", classes=(3, 5, 7))
    ] = 3

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
        int, flag("timeouts need a cause, and max_epoch is no limit: for what must happen at last")
    ] = 0
    max_messages_in_flight: Annotated[
        int, Limits(0, 99, "constraint: look no further with more messages", may_be_none=True)
    ] = NO_LIMIT
    max_current_epoch: Annotated[
        int, Limits(0, 99, "constraint: look no further in later epochs", may_be_none=True)
    ] = NO_LIMIT

    # --- Additions: in the original's prose, and not among its actions ----------------------------
    membership_requests: Annotated[
        int, addition("voters are added and removed on request, by messages that are answered")
    ] = 0
    end_quorum_epoch: Annotated[
        int, addition("a leader that resigns tells the voters, who then stand at once")
    ] = 0
    max_empty_restarts: Annotated[
        int, Limits(0, 9, "servers that lost their disk and come back with an empty one", adds=True)
    ] = 0

    # --- Defects of the original, mended --------------------------------------------------------
    stale_vote_request_fixed: Annotated[
        int, flag("a refused vote request from an earlier epoch leaves the voter as it is")
    ] = 0
    observer_vote_fixed: Annotated[
        int, flag("whoever becomes unattached in its own epoch remembers its vote in it")
    ] = 0
    single_voter_election_fixed: Annotated[
        int, flag("the only member of a configuration can become its leader")
    ] = 0
    single_voter_commit_fixed: Annotated[
        int, flag("a leader that is the only member commits by itself, and tells the clients")
    ] = 0
    first_fetch_fixed: Annotated[
        int, flag("a new server waits for the answer to its first fetch, and can take it")
    ] = 0
    resigned_writes_fixed: Annotated[
        int, flag("a leader that resigns tells its clients that their writes have failed")
    ] = 0
    follower_hwm_fixed: Annotated[
        int, flag("a follower's high watermark never falls, but with the log when that is cut")
    ] = 0
    removal_guard_relaxed: Annotated[
        int, flag("with test_liveness: half of the voters are enough to permit a removal")
    ] = 0

    # --- Deliberately broken, for teaching -------------------------------------------------------
    reconfigure_before_own_commit: Annotated[
        int, flag("a leader reconfigures with no committed entry of its epoch: the thesis' bug")
    ] = 0
    vote_without_log_check: Annotated[
        int, flag("a vote is granted to candidates whose logs are behind as well")
    ] = 0
    hwm_over_earlier_epoch: Annotated[
        int, flag("entries of earlier epochs are committed by counting replicas")
    ] = 0
    removed_leader_counts_itself: Annotated[
        int, flag("a leader outside of its configuration counts itself in the quorum")
    ] = 0
    fetch_outside_configuration: Annotated[
        int,
        choice(
            "ignored",
            "accepted",
            "rejected",
            meaning="what a leader does with the fetch of a voter that it does not count as one",
        ),
    ] = IGNORED
    unknown_member_delays_only: Annotated[
        int, flag("with rejected: who is told so just fetches again, and holds no election for it")
    ] = 0

    identity_ignored: Annotated[
        int, flag("a server that comes back with an empty disk is taken for the one that it was")
    ] = 0

    # --- Storage ---------------------------------------------------------------------------------
    log_slots: Annotated[
        int, Limits(1, 24, "storage: entries that fit into a log", classes=(6, 12, 24))
    ] = 6
    vote_slots: Annotated[
        int, Limits(1, 60, "storage: vote requests, and responses, and calls", classes=(8, 20, 60))
    ] = 8
    fetch_slots: Annotated[
        int, Limits(1, 60, "storage: fetch requests, and responses", classes=(10, 24, 60))
    ] = 10
    request_slots: Annotated[
        int, Limits(1, 20, "storage: requests to join or to remove, and answers", classes=(6, 20))
    ] = 6
