"""How the lab isr_replication is graded: its parts, their trials, and hidden properties."""

from protocol_lab import HOLDS, NONE, last
from protocol_lab.grading.labs import Part

CHANGES = {
    "fetch": "log[{follower}] belief[{follower}].hw",
    "advance_hw": "belief[{leader}].hw",
    "become_follower": "log[{replica}] belief[{replica}]",
    "shrink_isr": "belief[{leader}].isr quorum.isr",
    "expand_isr": "belief[{leader}].isr quorum.isr",
}

SAFE = ("strong_isr", "high_watermarks_are_in_logs", "the_isr_is_one", "leaders_do_not_fetch")

PARTS = (
    Part(
        name="replicate",
        points=25,
        lines=27,
        minutes=25,
        writes=("fetch", "advance_hw", "may_follow"),
        trials=({"replicas": 2, "records": 2}, {"replicas": 3, "records": 1}),
        invariants=SAFE,
        reaches=("everything_is_committed",),
    ),
    Part(
        name="new leaders",
        points=30,
        lines=5,
        minutes=25,
        writes=("truncation_point",),
        trials=({"replicas": 2, "records": 2, "epochs": 2}, {"replicas": 2, "epochs": 3}),
        invariants=SAFE,
        reaches=("everything_is_committed", "the_last_epoch_commits", "an_old_record_is_kept"),
    ),
    Part(
        name="in sync",
        points=25,
        lines=26,
        minutes=35,
        writes=("shrink_isr", "expand_isr"),
        trials=(
            {"replicas": 2, "records": 1, "epochs": 2},
            {"replicas": 2, "records": 2, "epochs": 2},
            {"replicas": 2, "records": 2, "epochs": 3},
        ),
        invariants=SAFE,
        reaches=("the_last_epoch_commits", "the_isr_has_shrunk"),
        stays_possible=("all_are_in_sync",),
    ),
    Part(
        name="everything is settled",
        points=20,
        lines=0,
        minutes=10,
        writes=(),
        trials=({"replicas": 2, "records": 1, "epochs": 2},),
        properties=("everything_is_settled",),
    ),
)


def high_watermarks_are_in_logs(s, c):
    """No high watermark is beyond the end of its log, and logs have what was written."""
    for n in range(1, c.replicas + 1):
        if s.belief[n].hw < 0 or s.belief[n].hw > len(s.log[n]):
            return "a high watermark is beyond the end of the log"
        for record in s.log[n]:
            if record.value < 1 or record.value > s.written:
                return "a log has a record that nobody has written"
    return HOLDS


def the_isr_is_one(s, c):
    """The elected leader, once it knows, has the controller's ISR, and is in it."""
    leader = s.quorum.leader
    if leader == NONE or s.belief[leader].epoch != s.quorum.epoch:
        return HOLDS
    if s.belief[leader].isr != s.quorum.isr or leader not in s.quorum.isr:
        return "the leader and the controller disagree on the ISR, or the leader is not in it"
    return HOLDS


def leaders_do_not_fetch(before, after, c):
    """A replica that believes that it leads adds only records of its own epoch to its log."""
    for n in range(1, c.replicas + 1):
        is_leader = before.belief[n].leader == n and after.belief[n].epoch == before.belief[n].epoch
        has_more = is_leader and len(after.log[n]) > len(before.log[n])
        if has_more and last(after.log[n]).epoch != after.belief[n].epoch:
            return "a leader has fetched a record of another epoch"
    return HOLDS


def the_last_epoch_commits(s, c):
    """The leader of the last epoch has committed a record of its own."""
    leader = s.quorum.leader
    if leader == NONE or s.quorum.epoch != c.epochs:
        return False
    return any(s.log[leader][offset].epoch == c.epochs for offset in range(s.belief[leader].hw))


def an_old_record_is_kept(s, c):
    """A follower in the last epoch has a record of the first one."""
    return any(
        n != s.quorum.leader
        and s.belief[n].epoch == c.epochs
        and len(s.log[n]) > 0
        and s.log[n][0].epoch == 1
        for n in range(1, c.replicas + 1)
    )


def the_isr_has_shrunk(s, c):
    """A replica was dropped from the ISR."""
    return len(s.quorum.isr) < c.replicas


def all_are_in_sync(s, c):
    """All replicas are in the ISR."""
    return len(s.quorum.isr) == c.replicas
