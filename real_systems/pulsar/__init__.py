"""Real Pulsar as local processes: its cluster, clients, stories and their recordings.

cluster   ZooKeeper, a bookie and a broker as local processes
acts      what a story can do, by which clients, and what it can wait for
stories   the stories, in the lessons' words, what came of them, and their pictures
"""
