"""What compaction must eventually do."""

from protocol_lab import eventually
from pulsar_spec.model import has_ended


def termination():
    """Eventually all messages are sent, all ledgers written and all readings done.

    The original assumes no fairness, so a run may stop anywhere and this fails at once. If a run
    stops only where no step is left (weak fairness of the next step), it holds, crashes included:
    they are bounded. It can't hold with the original's consumer and a limit on readings, since that
    consumer counts none.
    """
    return eventually(has_ended)
