"""Who has said what: copies that commit a value, and votes that elect a server without it."""

from typing import Any

from kraft_spec import kip_853
from kraft_spec.actions.replication import holds_value
from protocol_lab import NONE
from protocol_lab.model.declarations import NOTHING, Cell, no, no_longer, on_its_way, yes


def _majority(members: Any) -> int:
    return len(members) // 2 + 1


def _acked(s: Any) -> int:
    """The last value that was acknowledged; 0 if none was."""
    return max(s.inv_pos_acked, default=0)


def _servers(c: Any) -> range:
    return range(1, c.max_spawned_servers + 1)


def _without(s: Any, c: Any) -> int:
    """Of the candidates and leaders that lack the value the one of the latest epoch; NONE if there
    is none."""
    value = _acked(s)
    stand = [
        each
        for each in _servers(c)
        if value and s.state[each] in ("candidate", "leader") and not holds_value(s, each, value)
    ]
    return max(stand, key=lambda each: s.current_epoch[each], default=NONE)


def _of_committed(s: Any, c: Any) -> int:
    holders = [k for k in _servers(c) if _acked(s) and holds_value(s, k, _acked(s))]
    return _majority(s.config[holders[0]].members) if holders else c.init_cluster_size // 2 + 1


@kip_853.spec.claim("the last acknowledged value is committed", needs=_of_committed)
def holds_the_value(s: Any, c: Any, server: int) -> Cell:
    """Does the server hold the last value that was acknowledged?"""
    value = _acked(s)
    if not value:
        return NOTHING
    return yes("holds it") if holds_value(s, server, value) else no("lacks it")


def _of_election(s: Any, c: Any) -> int:
    stands = _without(s, c)
    return _majority(s.config[stands].members) if stands else c.init_cluster_size // 2 + 1


@kip_853.spec.claim(
    "a server that lacks it is elected", needs=_of_election, excludes="holds_the_value"
)
def votes_without(s: Any, c: Any, server: int) -> Cell:
    """Does the server vote for one that lacks the value?"""
    stands = _without(s, c)
    return _vote(s, server, stands, s.current_epoch[stands]) if stands else NOTHING


def _vote(s: Any, server: int, candidate: int, epoch: int) -> Cell:
    """What a server has said to a candidate of an epoch."""
    if server == candidate:
        return yes("itself")
    for each in _votes(s):  # a leader has forgotten who voted
        if (each.source, each.dest, each.epoch) == (server, candidate, epoch):
            return yes(f"votes for {candidate}") if each.vote_granted else no("refuses")
    for each in s.net_messages.vote_requests:
        if (each.source, each.dest, each.epoch) == (candidate, server, epoch):
            return on_its_way("asked")
    return no_longer("later epoch") if s.current_epoch[server] > epoch else NOTHING


# --- Two leaders of one epoch --------------------------------------------------------------------


def _rivals(s: Any, c: Any) -> tuple[int, int, int] | None:
    """Two servers that stood for election in one epoch, and the latest such epoch."""
    stood = {
        (s.current_epoch[each], each)
        for each in _servers(c)
        if s.state[each] in ("candidate", "leader")
    }
    stood |= {(each.epoch, each.dest) for each in _votes(s) if each.vote_granted}
    pairs = [
        (epoch, one, other)
        for epoch, one in stood
        for same, other in stood
        if one < other and epoch == same
    ]
    if not pairs:
        return None
    epoch, one, other = max(pairs)
    return one, other, epoch


def _votes(s: Any) -> list[Any]:
    """All answers to candidates that are or were under way."""
    return [*s.net_messages_processed.vote_responses, *s.net_messages.vote_responses]


def _of_rival(number: int) -> Any:
    def needs(s: Any, c: Any) -> int:
        rivals = _rivals(s, c)
        return (
            _majority(s.config[rivals[number]].members) if rivals else c.init_cluster_size // 2 + 1
        )

    return needs


@kip_853.spec.claim("one server is elected in an epoch", needs=_of_rival(0))
def votes_for_one(s: Any, c: Any, server: int) -> Cell:
    """Does the server vote for the first of two that stand in one epoch?"""
    rivals = _rivals(s, c)
    return _vote(s, server, rivals[0], rivals[2]) if rivals else NOTHING


@kip_853.spec.claim(
    "another is elected in it", needs=_of_rival(1), excludes="votes_for_one", meets="votes_for_one"
)
def votes_for_another(s: Any, c: Any, server: int) -> Cell:
    """Does the server vote for the second of them?"""
    rivals = _rivals(s, c)
    return _vote(s, server, rivals[1], rivals[2]) if rivals else NOTHING


# --- Two configurations that share no majority ---------------------------------------------------


def _parted(s: Any, c: Any) -> tuple[int, int, int] | None:
    """Two servers that hold different entries, and an offset that both call committed."""
    for one in _servers(c):
        for other in range(one + 1, c.max_spawned_servers + 1):
            for offset in range(1, min(s.hwm[one], s.hwm[other]) + 1):
                if _entry(s, one, offset) != _entry(s, other, offset):
                    return one, other, offset
    return None


def _entry(s: Any, server: int, offset: int) -> Any:
    log = s.log[server]
    return log[offset - 1] if offset <= len(log) else None


def _of_parted(number: int) -> Any:
    def needs(s: Any, c: Any) -> int:
        parted = _parted(s, c)
        config = s.config[parted[number]].members if parted else range(c.init_cluster_size)
        return _majority(config)

    return needs


def _holds_parted(s: Any, c: Any, server: int, number: int) -> Cell:
    parted = _parted(s, c)
    if parted is None:
        return NOTHING
    same = _entry(s, server, parted[2]) == _entry(s, parted[number], parted[2])
    return yes(f"as server {parted[number]}") if same else no("another entry")


@kip_853.spec.claim("an entry is committed at an offset", needs=_of_parted(0))
def holds_one_entry(s: Any, c: Any, server: int) -> Cell:
    """Does the server hold what one of two servers calls committed?"""
    return _holds_parted(s, c, server, 0)


@kip_853.spec.claim(
    "another one is committed there",
    needs=_of_parted(1),
    excludes="holds_one_entry",
    meets="holds_one_entry",
)
def holds_another_entry(s: Any, c: Any, server: int) -> Cell:
    """Does the server hold what the other calls committed?"""
    return _holds_parted(s, c, server, 1)
