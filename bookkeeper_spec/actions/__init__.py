"""The actions of today's protocol, in the order of an entry's life.

adding          the creator creates the ledger, adds entries, and closes the ledger
bookies         bookies store entries, are fenced, and answer
replacing       bookies fail, and clients go on with others
recovery        another client fences the ledger, writes back what it reads, and closes the ledger
recovery_reads  what a recovery reads, and how it decides whether an entry exists
metadata        compare-and-set of the ledger's metadata, which the others use
"""
