"""The instructor's solution: the functions that a learner writes, and helpers of ours.

The grader puts them into the skeleton, which defines all other names that they use.
"""

from protocol_lab import TAKEN, add, append, take, truncate, with_node


def is_at(log, offset, value) -> bool:
    """Does the log have this value at this offset?"""
    return offset < len(log) and log[offset] == value


def first_difference(log, other) -> int:
    """The first offset at which the other log lacks what this one has."""
    offset = 0
    while offset < len(log) and is_at(other, offset, log[offset]):
        offset += 1
    return offset


def receive(s, c, update):
    """A backup takes in what it was sent."""
    if update.dest not in s.alive:
        return "the server is down"
    if update.epoch < s.epoch:
        return "an earlier primary has sent it"
    if update.offset > len(s.log[update.dest]):
        return "the server lacks what comes before"
    if not is_at(s.log[update.dest], update.offset, update.value):
        truncate(s.log[update.dest], update.offset)
        append(s.log[update.dest], update.value)
    take(s.updates, update)
    return TAKEN


def send_again(s, c, backup):
    """The primary sends a backup the first value that it lacks."""
    if s.primary not in s.alive:
        return "the primary is down"
    if backup not in backups(s, c):
        return "the server is no backup that is alive"
    offset = first_difference(s.log[s.primary], s.log[backup])
    if offset == len(s.log[s.primary]):
        return "the backup has all that the primary has"
    value = s.log[s.primary][offset]
    update = Update(dest=backup, epoch=s.epoch, offset=offset, value=value)
    if update in s.updates:
        return "the update is on its way"
    add(s.updates, update)
    return TAKEN


def acknowledge(s, c, offset):
    """The primary tells the client that the value at an offset is safe."""
    if s.primary not in s.alive:
        return "the primary is down"
    if offset >= len(s.log[s.primary]):
        return "the primary has nothing at that offset"
    value = s.log[s.primary][offset]
    if value in s.acknowledged:
        return "the client knows already"
    if not all(has(s.log[backup], value) for backup in backups(s, c)):
        return "a backup that is alive lacks it"
    add(s.acknowledged, value)
    return TAKEN


def restart(s, c, server):
    """A server that was down is alive again."""
    if server in s.alive:
        return "the server is alive"
    if server != s.primary and s.primary not in s.alive:
        return "there is no primary to copy from"
    s.log[server] = s.log[s.primary]
    s.alive = with_node(s.alive, server)
    return TAKEN
