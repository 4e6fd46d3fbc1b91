"""The instructor's solution: the functions that a learner writes, and helpers of ours.

The grader puts them into the skeleton, which defines all other names that they use.
"""

from protocol_lab import TAKEN, append, with_node, without_node


def follows(s, follower, leader) -> bool:
    """Does the follower follow this leader, in the epoch in which it leads?"""
    mine, theirs = s.belief[follower], s.belief[leader]
    return theirs.leader == leader and mine.leader == leader and mine.epoch == theirs.epoch


def is_true_leader(s, replica) -> bool:
    """Is the replica the leader that the controller knows, in the same epoch?"""
    mine = s.belief[replica]
    return s.quorum.leader == replica == mine.leader and s.quorum.epoch == mine.epoch


def fetch(s, c, follower, leader):
    """A follower copies the leader's next record, and learns its high watermark."""
    mine, theirs = s.log[follower], s.log[leader]
    if follower == leader or not follows(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if len(mine) >= len(theirs):
        return "the follower has caught up"
    append(mine, theirs[len(mine)])
    s.belief[follower].hw = min(s.belief[leader].hw, len(mine))
    return TAKEN


def advance_hw(s, c, leader):
    """A leader commits its next record: its high watermark grows by one."""
    hw = s.belief[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not lead"
    if hw >= len(s.log[leader]):
        return "everything is committed"
    for member in s.belief[leader].isr:
        if not follows(s, member, leader) or len(s.log[member]) <= hw:
            return "a member of the ISR may lack the record"
    s.belief[leader].hw += 1
    return TAKEN


def may_follow(s, c, replica):
    """TAKEN if a replica may begin to follow the leader that the controller has elected."""
    if s.belief[s.quorum.leader].epoch != s.quorum.epoch:
        return "the leader does not lead yet: its log may still change"
    return TAKEN


def truncation_point(s, c, replica):
    """How many records of its log a replica keeps that begins to follow the elected leader."""
    offset = 0
    while has_same(s.log[replica], s.log[s.quorum.leader], offset):
        offset += 1
    return offset


def shrink_isr(s, c, leader, follower):
    """A leader drops a follower from the ISR: its own, and the controller's."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if follower == leader or follower not in s.belief[leader].isr:
        return "the replica is no follower in the ISR"
    if follows(s, follower, leader) and len(s.log[follower]) >= len(s.log[leader]):
        return "the follower has caught up"
    s.belief[leader].isr = without_node(s.belief[leader].isr, follower)
    s.quorum.isr = s.belief[leader].isr
    return TAKEN


def expand_isr(s, c, leader, follower):
    """A leader adds a follower to the ISR: its own, and the controller's."""
    mine, log = s.belief[leader], s.log[leader]
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if follower in mine.isr or not follows(s, follower, leader):
        return "the replica is in the ISR, or does not follow in this epoch"
    if len(s.log[follower]) < mine.hw:
        return "the follower has not reached the high watermark"
    if mine.hw < len(log) and log[mine.hw].epoch != mine.epoch:
        return "a record of an earlier epoch is not committed"
    s.belief[leader].isr = with_node(mine.isr, follower)
    s.quorum.isr = s.belief[leader].isr
    return TAKEN
