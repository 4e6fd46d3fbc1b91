"""The actions that differ from those of `bookkeeper.protocol`.

adding     the creator sends LAC and LAFR, and drops what is on a write quorum
bookies    bookies keep the highest LAC and LAFR
replacing  a new fragment begins after the LAFR, and some bookies are pinned
recovery   a recovery begins after the highest LAFR
"""
