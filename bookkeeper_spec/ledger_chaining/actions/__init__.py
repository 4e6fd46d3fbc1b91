"""The actions of a chain of ledgers, in reading order.

takeover  a client becomes the leader, and closes the last ledger
writing   it creates a ledger, appends it to the list, and writes
"""
