"""How often TLC generates the same step of both proposals."""

from bookkeeper_spec.tlc.multiplicity import change_count, of_add


def of_stamped_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """Twice where both hold of the original's "not fenced, or of a recovery"."""
    return of_add(s, c, bookie, client, entry, lac, lost)


def of_ensemble_change(s, c, client, failed, ensemble) -> int:
    """Time-outs of each failed bookie, times possible ensembles."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)
