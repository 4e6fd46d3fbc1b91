"""The actions of KRaft, and the rules that they share. In reading order:

- server_states: what a server becomes when it learns something
- replication: the life of an entry: written, fetched, committed, or truncated
- elections: who gives up leading, who asks for votes, who gets them, what a new leader does
- cluster: servers that start, are added, removed, restarted or lost; links that go down
"""
