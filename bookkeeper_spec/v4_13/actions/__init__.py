"""The actions of 4.13, in the order in which an entry lives.

writer         w1 creates the ledger, adds entries, and closes the ledger
bookies        bookies store entries, are fenced, and answer
replacing      a bookie fails, and w1 or w2 goes on with another
reading_first  how a recovery reads that writes back afterwards
recovery       w2 fences the ledger, reads, writes back, and closes the ledger
"""
