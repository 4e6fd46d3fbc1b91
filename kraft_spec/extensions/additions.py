"""The constants of the additions: what the original's prose describes and its actions leave out."""

from typing import Annotated

from protocol_lab import Limits, addition

MembershipRequests = Annotated[
    int, addition("voters are added and removed on request, by messages that are answered")
]
"""See `membership_requests`."""

EndQuorumEpoch = Annotated[
    int, addition("a leader that resigns announces it to the voters, who then hold an election")
]
"""See `resignation`."""

EmptyRestarts = Annotated[
    int, Limits(0, 9, "servers that lost their disk and come back with an empty one", adds=True)
]
"""See `empty_disks`."""
