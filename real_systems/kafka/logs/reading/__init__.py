"""Reads what a Kafka cluster leaves behind, file by file, and decides nothing.

In reading order:

unread        what was not understood, and lines that may be of several brokers
archives      folders and archives, unpacked as long as they are read
sources       the files of a folder, whatever they are called
lines         the lines of logs, in any layout, and whose they are
entries       the entries of a log, with their times
dates         dates for times that lack them
metadata_log  the controller's decisions, record by record, and snapshots of what they come to
broker_lines  the facts in the brokers' and controllers' lines
tool_output   what kafka-topics, kafka-metadata-quorum and replicas' logs say
segments      logs as they are on disk, decoded by a Kafka's own tool
readings      the pieces of all files, read in this process or elsewhere
"""
