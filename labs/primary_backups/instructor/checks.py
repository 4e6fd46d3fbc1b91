"""How the lab primary_backups is graded: its parts, their trials, and hidden properties."""

from protocol_lab import HOLDS
from protocol_lab.grading.labs import Part

CHANGES = {
    "receive": "log[{update.dest}] updates",
    "send_again": "updates",
    "acknowledge": "acknowledged",
    "restart": "log[{server}] alive",
}

SAFE = ("acknowledged_is_kept", "nothing_safe_is_removed", "only_what_was_written")

PARTS = (
    Part(
        name="replicate",
        points=20,
        lines=33,
        minutes=25,
        writes=("receive", "send_again"),
        trials=({"servers": 3, "writes": 1}, {"servers": 3, "writes": 2}),
        invariants=("only_what_was_written",),
        reaches=("everybody_has_everything",),
        stays_possible=("everybody_has_everything",),
    ),
    Part(
        name="answer",
        points=30,
        lines=12,
        minutes=20,
        writes=("acknowledge",),
        trials=(
            {"servers": 2, "writes": 1, "crashes": 1},
            {"servers": 3, "writes": 1, "crashes": 2},
            {"servers": 3, "writes": 2, "crashes": 1},
        ),
        invariants=SAFE,
        reaches=("everything_is_answered", "answered_after_take_over"),
    ),
    Part(
        name="come back",
        points=25,
        lines=8,
        minutes=15,
        writes=("restart",),
        trials=(
            {"servers": 2, "writes": 2, "crashes": 2},
            {"servers": 3, "writes": 1, "crashes": 2},
        ),
        invariants=SAFE,
        reaches=("everything_is_answered", "everybody_is_back"),
        stays_possible=("everybody_is_alive",),
    ),
    Part(
        name="nobody waits for ever",
        points=25,
        lines=0,
        minutes=15,
        writes=(),
        trials=({"servers": 3, "writes": 1, "crashes": 1},),
        properties=("nobody_waits_for_ever",),
    ),
)


def only_what_was_written(s, c):
    """Logs and promises hold values that the client has written, each once."""
    for n in range(1, c.servers + 1):
        for k in range(len(s.log[n])):
            if s.log[n][k] < 1 or s.log[n][k] > s.written:
                return "a log holds a value that the client has not written"
            if any(s.log[n][j] == s.log[n][k] for j in range(k)):
                return "a log holds a value twice"
    if any(value < 1 or value > s.written for value in s.acknowledged):
        return "a value was acknowledged that the client has not written"
    return HOLDS


def everybody_has_everything(s, c):
    """All values are in all logs, in the order in which they were written."""
    return all(
        len(s.log[n]) == c.writes and all(s.log[n][k] == k + 1 for k in range(c.writes))
        for n in range(1, c.servers + 1)
    )


def answered_after_take_over(s, c):
    """The client is told that a value is safe which server 1, the first primary, never had."""
    return any(value not in s.log[1] for value in s.acknowledged)


def everybody_is_alive(s, c):
    """All servers are alive."""
    return len(s.alive) == c.servers


def everybody_is_back(s, c):
    """Somebody has taken over, and everybody is alive."""
    return s.epoch > 0 and len(s.alive) == c.servers
