"""Real Pulsar as local processes: its cluster, clients, stories and their recordings.

cluster   ZooKeeper, a bookie and a broker as local processes
clients   producers, readers, and what lies in the ledgers of compaction
acts      what a story can do, and what it can wait for
picture   one moment of a recorded run, drawn as the lessons draw theirs
stories   the stories, in the lessons' words, with what came of them
"""
