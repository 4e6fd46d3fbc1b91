"""Situations worth finding in `bookkeeper.ledger_chaining`."""

from bookkeeper_spec.ledger_chaining.model import (
    HAS_OPEN_LEDGER,
    NO_ENTRY,
    Constants,
    State,
    is_listed,
)


def a_deposed_leader_goes_on(s: State, c: Constants) -> bool:
    """A client with a ledger of its own believes that it leads, and another one was chosen."""
    return any(
        s.c_state[client].leader
        and s.c_state[client].status == HAS_OPEN_LEDGER
        and s.md_leader != client
        for client in range(1, c.clients + 1)
    )


def two_clients_have_a_ledger(s: State, c: Constants) -> bool:
    """Two clients believe that they lead, each with a ledger of its own in the list."""
    return (
        sum(
            1
            for client in range(1, c.clients + 1)
            if s.c_state[client].leader and s.c_state[client].status == HAS_OPEN_LEDGER
        )
        > 1
    )


def a_ledger_is_left_over(s: State, c: Constants) -> bool:
    """A ledger was created that no client will ever append."""
    return any(
        not is_listed(s, ledger_id)
        and not any(
            s.c_state[client].ledger.id == ledger_id
            and s.c_state[client].leader
            and s.c_state[client].llist_version == s.md_llist_version
            for client in range(1, c.clients + 1)
        )
        for ledger_id in range(1, s.md_next_lid)
    )


def an_empty_ledger_is_in_the_list(s: State, c: Constants) -> bool:
    """A ledger of the list was fenced before anything was written to it."""
    return any(s.b_ledgers.items[k].entry == NO_ENTRY for k in range(s.b_ledgers.size))
