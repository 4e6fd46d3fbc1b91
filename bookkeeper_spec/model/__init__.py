"""The constants and the state of a ledger, and small reads of it, in reading order.

constants  the constants and their bounds
ledger     the metadata, fragments and ensembles, and what bookies store
messages   messages: under way, handled, or lost
clients    what each client knows
state      the whole state of `bookkeeper.protocol`
"""
