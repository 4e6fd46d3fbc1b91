"""The actions that differ from those of `bookkeeper.protocol`.

crashes    a bookie crashes and loses what it stores
bookies    what a bookie in limbo answers
reading    a recovery reads everything first, and may be answered "unknown"
clients    what else clients do differently
replacing  clients replace one bookie at a time
"""
