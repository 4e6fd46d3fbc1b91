"""Multiplicities of both proposals' actions: how often TLC counts one step as generated."""

from bookkeeper_spec.tlc.multiplicity import change_count, of_add


def of_stamped_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return of_add(s, c, bookie, client, entry, lac, lost)


def of_ensemble_change(s, c, client, failed, ensemble) -> int:
    """As `change_count`, for the bookies that this step replaces."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)
