"""The actions that differ from those of `bookkeeper.guaranteed_write_quorum`.

writing   a client writes the ledger in its term, and may close it
new_term  another client takes over: it recovers the ledger and opens it again
old_term  bookies reject requests of an older term, and its client withdraws
"""
