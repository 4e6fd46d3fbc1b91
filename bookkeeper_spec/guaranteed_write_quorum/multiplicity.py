"""How often TLC generates the same step of the two proposals."""

from bookkeeper_spec.tlc.multiplicity import change_count, of_add


def of_stamped_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """The original says "not fenced, or of a recovery", and both may be true."""
    return of_add(s, c, bookie, client, entry, lac, lost)


def of_ensemble_change(s, c, client, failed, ensemble) -> int:
    """Time-outs of each failed bookie, times possible ensembles."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)
