"""What only a comparison of `pulsar.compaction` with TLC needs."""

PRINTED = {"consumer": None}
"""The original has no consumer that reads: this variable is ours."""
