"""Rules of the protocol that can be broken on purpose, for teaching, each by a constant.

Below each constant: the function that has the rule, and the scenario that shows what it is for.
"""

from typing import Annotated

from protocol_lab import choice, flag

ReconfigureBeforeOwnCommit = Annotated[
    int, flag("a leader reconfigures with no committed entry of its epoch: the thesis' bug")
]
"""`reconfiguration.reconfiguration_error`; reconfigure_before_own_commit."""

VoteWithoutLogCheck = Annotated[
    int, flag("a vote is also granted to a candidate whose log is behind the voter's")
]
"""`elections.is_log_good_enough`; vote_without_log_check."""

HighWatermarkOverEarlierEpoch = Annotated[
    int, flag("entries of earlier epochs are committed by counting replicas")
]
"""`high_watermark.new_high_watermark`; hwm_over_earlier_epoch."""

RemovedLeaderCountsItself = Annotated[
    int, flag("a leader outside of its configuration counts itself in the quorum")
]
"""`high_watermark.is_held_by_quorum`; removed_leader_counts_itself."""

IGNORED, ACCEPTED, REJECTED = 0, 1, 2

FetchOutsideConfiguration = Annotated[
    int,
    choice(
        "ignored",
        "accepted",
        "rejected",
        meaning="what a leader does with the fetch of a voter that is not in its configuration",
    ),
]
"""`replication.fetch_error` and `accept_fetch_request_from_voter`. The original's actions ignore
such a fetch, its prose accepts it, and proposes to try what comes of rejecting it. Scenarios:
removed_voter_is_ignored, removed_voter_is_accepted, removed_voter_is_rejected."""

UnknownMemberDelaysOnly = Annotated[
    int, flag("with rejected: the rejected voter fetches again, and does not hold an election")
]
"""`failures.has_failed_fetch`; removed_voter_asks_for_ever."""

IdentityIgnored = Annotated[
    int, flag("a server that comes back with an empty disk is taken for the one that it was")
]
"""`empty_disks.restart_without_state`; empty_server_votes."""
