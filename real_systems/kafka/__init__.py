"""Real Kafka as local processes: releases, clusters, clients, stories and their recordings.

record_batches    the batches of a log as they are on disk, and the records in them
cluster           releases, and nodes as local processes: what KRaft and ZooKeeper clusters share
kraft             a cluster under KRaft; its decisions are read from the metadata log
zookeeper         a cluster of 0.10.2 to 2.x under ZooKeeper
tools             an operator's commands, and what they print
acts              what a story can do to a cluster, and what it can wait for
logs              what a cluster's own logs say happened
on_call           an incident, of which one sees only what an operator sees
cluster_settings  what settings of a cluster promise: from options and from files of Kafka's users
cluster_page      the same in a page
promise_of_logs   what each next fault would cost, from the state in which logs end
picture           one moment of a recorded run, drawn as the lessons draw theirs
offline_runbook   the story behind docs/runbook_offline_partition.md
stories           the stories, in the lessons' words, with what came of them by release
"""
