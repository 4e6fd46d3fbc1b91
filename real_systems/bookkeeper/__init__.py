"""Real BookKeeper as local processes: its cluster, clients, stories and their recordings.

cluster          ZooKeeper and bookies as local processes, and their disks
clients          writers and readers, each in a process of its own
acts             what a story can do, and what it can wait for
picture          one moment of a recorded run, drawn as the lessons draw theirs
stories          the stories, in the lessons' words, with what came of them
ledger_settings  what a ledger promises, by quorums, journal and data integrity
ledger_page      the same in a page
"""
