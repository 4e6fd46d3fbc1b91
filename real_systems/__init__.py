"""What real Kafka, BookKeeper and Pulsar do: lessons' stories acted out, and a cluster's own logs.

runner         starts real systems as local processes, and keeps recordings of what they did
kafka          clusters, stories and recordings of Kafka, and the reading of its logs
bookkeeper     the same of BookKeeper, without logs
pulsar         the same of Pulsar, without logs
promise_table  what settings promise: the search of a cell, why something is lost; in words
promise_page   the same table in a page
logged_runs    is the log of a real system a run of a spec?
notebook       what notebooks import
command_line   the commands `real`, `logs` and `promise`
"""

SYSTEMS = ("bookkeeper", "kafka", "pulsar")
"""The folders that have stories, in the order in which these are listed."""

TESTED_JARS = {
    "bookkeeper-4.18.0": "1f5644f1f74b6bddf74a4bde3b94e829d36574768c5919e1ec75e23e126ac1b7",
    "kafka-3.6.2": "28c44b5824097235282708fbbffd1d02ac37daccb06e560d5c955e6e48b44e04",
    "kafka-3.9.1": "7c815e376ef8b75db71ae2a81b26929e62df29ff1d9fe77c3f5313954108b32c",
    "kafka-4.0.0": "2f956691830a2ffdd565d002c82dbb239f650eaa83e72a2b8b1c0ceb88f9aae4",
    "kafka-4.3.1": "f53b4a0fb95ab8604f14cbd61fa61fecb681da191e1930e35fba69cfdf01a61d",
    "kafka-4.4.0": "77eaed9e5e043bcb1f7d51623a23db33dfaf8492d0439ba82284341685265a54",
    "tools-of-kafka-3.6.2": "3ca65dd98b3620ea6b05c8a8e8b79a7f69c2d9eabca3fa65b9574faad1e5f70e",
    "tools-of-kafka-3.9.1": "f93fdd2eedbefc8f8d8d7e3f6e06f4fdeafdba0f0313f1edc8cd20834aa65796",
}
"""The SHA-256 of the list of digests (SHA256SUMS) of the jars that Maven's central repository gave
under each name, as they were fetched for this kit on 2026-11-28. For a name that is not among
these, what it gives is taken as it comes."""
