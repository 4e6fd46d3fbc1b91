"""Defects of the original, and the constants that mend them: one for each, off by default.

Below each constant: what the original does, in which function, and the scenario that shows it.
The first two appear only beyond the bounds that the original was checked with.
"""

from typing import Annotated

from protocol_lab import flag

StaleVoteRequest = Annotated[
    int, flag("a refused vote request from an earlier epoch leaves the voter as it is")
]
"""The original refuses the request and applies the new state all the same: an unattached server
goes back to the request's epoch, and has voted in it (`elections.handle_vote_request`). Scenarios:
stale_vote_request_epoch_goes_back, stale_vote_request_two_leaders; property: epoch_monotone."""

ObserverVote = Annotated[
    int, flag("a server that becomes unattached in its own epoch remembers its vote in it")
]
"""The original forgets the vote, so that an observer may vote again after a fetch timeout
(`server_states.to_unattached`). Scenarios: observer_votes_twice, observer_forgets_its_vote;
property: one_vote_in_an_epoch."""

SingleVoterElection = Annotated[
    int, flag("the only member of a configuration can become its leader")
]
"""The original sets the high watermark to the end of the log and lists it among the variables that
stay as they are: both only if it is there already (`elections.become_leader`). Scenario:
single_voter_has_no_leader."""

SingleVoterCommit = Annotated[
    int, flag("a leader that is the only member commits by itself, and tells the clients")
]
"""The original raises the high watermark and does nothing else that a commit does: no client is
told, no configuration counts as committed, and after a removal that leaves one member not even the
high watermark moves (`high_watermark.commit_if_alone`). Scenario: single_voter_tells_no_client."""

FirstFetch = Annotated[
    int, flag("a new server waits for the response to its first fetch, and can handle it")
]
"""The original does not record the first fetch as pending, so that nobody ever handles the response
(`reconfiguration.start_new_server`); the second fetch finds the leader. Scenario:
first_fetch_is_never_taken."""

ResignedWrites = Annotated[
    int, flag("a leader that resigns tells its clients that their writes have failed")
]
"""The original tells them nothing; if the server is elected again, it may still commit the write
(`server_states.apply_state`). Scenario: resigned_leader_keeps_its_client_waiting."""

FollowerHighWatermark = Annotated[
    int, flag("a follower's high watermark falls only when its log is truncated below it")
]
"""The original takes over whatever the leader says, which may be lower, and leaves the high
watermark as it is when the log is truncated (`replication.learn_high_watermark`). Scenarios:
follower_high_watermark_falls, high_watermark_beyond_log; property: hwm_monotone."""

OldRemoval = Annotated[
    int, flag("a leader that is a member stays, even if it commits its own removal of earlier")
]
"""The original asks whether what a leader commits contains its removal, not whether a later command
has added it again. After a restart a server counts its whole log as uncommitted: so a voter resigns
by a removal that was taken back (`high_watermark.commit_up_to`). Scenario:
voter_resigns_by_an_old_removal."""

RemovalGuard = Annotated[
    int, flag("with test_liveness: half of the voters are enough to permit a removal")
]
"""The original asks for a majority without the removed voter, which two voters never have
(`reconfiguration.keeps_majority_without`)."""
