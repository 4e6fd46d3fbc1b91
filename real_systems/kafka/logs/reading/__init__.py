"""Reads what a Kafka cluster leaves behind, file by file, and decides nothing.

In reading order:

unread            what was not understood, and lines that may be of several brokers
archives          folders and archives, unpacked as long as they are read
sources           the files of a folder, whatever they are called
lines             the lines of logs, in any layout
entries           the entries of a log, with their times, and dates for those that lack them
metadata_log      the controller's decisions, record by record, and snapshots of what they come to
broker_lines      the facts in the brokers' and controllers' lines
metadata_records  records of the metadata log, from their bytes
segments          logs as they are on disk: their batches, and the metadata log's records
tool_output       what kafka-topics, kafka-metadata-quorum and replicas' logs say
readings          what all files say, read in this process or elsewhere, and whose lines they are
"""
