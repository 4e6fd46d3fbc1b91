"""Real BookKeeper as local processes: its cluster, clients, stories and their recordings.

cluster          ZooKeeper and bookies as local processes, and their disks
acts             what a story can do, by which clients, and what it can wait for
stories          the stories, in the lessons' words, what came of them, and their pictures
ledger_settings  what a ledger promises, by quorums, journal and data integrity
ledger_page      the same in a page
"""
