"""Entries, configurations and messages in a few words, for pictures and sequence diagrams."""

from typing import Any

from kraft_spec.model import Error
from protocol_lab import NONE
from protocol_lab.drawing import letter, set_text

ERROR_NAMES = ["".join(word.capitalize() for word in name.split("_")) for name in Error.names]
"""The errors as Kafka writes them: FencedLeaderEpoch."""


def entry_text(entry: Any) -> str:
    """What an entry of the log is: a value, a configuration, a change of it, or a leader's first.

    The first entry of a log is the configuration that the cluster begins with.
    """
    if entry.command == "append_command":
        return letter(entry.value)
    if entry.command == "init_cluster_command":
        count = len(entry.members)  # the cluster begins with the servers from 1 on
        return set_text(entry.members).replace(" ", "") if count < 5 else f"{{1…{count}}}"
    if entry.command == "add_voter_command":
        return f"+{entry.server}"
    if entry.command == "remove_voter_command":
        return f"−{entry.server}"
    return "leader"


def entry_with_epoch(entry: Any) -> str:
    """The same with the epoch of its leader: A e2."""
    return f"{entry_text(entry)} e{entry.epoch}"


# --- Messages ----------------------------------------------------------------------------------


def vote_text(message: Any) -> str:
    """What is asked for or given: a vote, or, in kip_996 only, a pre-vote."""
    return "pre-vote" if getattr(message, "pre_vote", False) else "vote"


def vote_request_label(message: Any) -> str:
    """A candidate asks for a vote."""
    return f"{vote_text(message)}? e{message.epoch}"


def vote_response_label(message: Any) -> str:
    """A vote, or a refusal."""
    return f"{vote_text(message)} {'yes' if message.vote_granted else 'no'} e{message.epoch}"


def begin_quorum_label(message: Any) -> str:
    """A leader announces itself."""
    return f"I lead e{message.epoch}"


def fetch_request_label(message: Any) -> str:
    """The offset from which to fetch, and the epoch of the entry before it."""
    after = f" after e{message.last_fetched_epoch}" if message.last_fetched_epoch else ""
    return f"fetch {max(0, message.fetch_offset - 1)}{after}"


def fetch_response_label(message: Any) -> str:
    """An entry, or the high watermark alone, where to truncate, or the error."""
    if message.result == "diverging":
        return f"cut to {cut_text(message)}"
    if message.result == "ok":
        has_entry = bool(message.entry.command)
        return entry_with_epoch(message.entry) if has_entry else f"no entry, hw {message.hwm}"
    return ERROR_NAMES[message.error]


def cut_text(message: Any) -> str:
    """Where a diverging answer says that the epoch of the follower's last entry ends."""
    return f"{message.diverging_end_offset - 1} e{message.diverging_epoch}"


def vote_request_detail(message: Any) -> str:
    """How far the candidate's log goes."""
    return f"epoch {message.epoch} · its log ends with {_last(message)}"


def _last(message: Any) -> str:
    if message.last_log_offset == 0:
        return "nothing"
    return f"offset {message.last_log_offset - 1} e{message.last_log_epoch}"


def vote_response_detail(message: Any) -> str:
    """The voter's epoch, the leader that it knows, and an error."""
    return _details(f"epoch {message.epoch}", leader_text(message), error_text(message))


def begin_quorum_detail(message: Any) -> str:
    """The epoch."""
    return f"epoch {message.epoch}"


def fetch_request_detail(message: Any) -> str:
    """The epoch, and whether the sender is an observer."""
    return _details(f"epoch {message.epoch}", "observer" if message.observer else "voter")


def fetch_response_detail(message: Any) -> str:
    """The epoch, the leader, an error, and the high watermark."""
    return _details(
        f"epoch {message.epoch}", leader_text(message), error_text(message), f"hw {message.hwm}"
    )


def leader_text(message: Any) -> str:
    """The leader that an answer names."""
    return "knows no leader" if message.leader == NONE else f"leader {message.leader}"


def error_text(message: Any) -> str:
    """The error that an answer carries, if it does."""
    return "" if message.error == "nil" else ERROR_NAMES[message.error]


def end_quorum_label(message: Any) -> str:
    """A leader announces that it has resigned."""
    return f"I have resigned e{message.epoch}"


def join_request_label(message: Any) -> str:
    """What a joining server asks for."""
    return "let me join"


def join_response_label(message: Any) -> str:
    """The answer to it."""
    return "join: " + (error_text(message) or "accepted")


def remove_request_label(message: Any) -> str:
    """What an administrator asks for."""
    return f"remove {message.remove_server}"


def remove_response_label(message: Any) -> str:
    """The answer to the administrator."""
    return f"remove {message.remove_server}: " + (error_text(message) or "accepted")


def answer_detail(message: Any) -> str:
    """The leader that an answer to a request names."""
    return leader_text(message)


ADMINISTRATOR = "administrator"


def _details(*parts: str) -> str:
    return " · ".join(filter(None, parts))
