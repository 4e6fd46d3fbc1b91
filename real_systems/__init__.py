"""What real Kafka, BookKeeper and Pulsar do: lessons' stories acted out, and a cluster's own logs.

runner        starts real systems as local processes, and keeps recordings of what they did
kafka         clusters, stories and recordings of Kafka, and the reading of its logs
bookkeeper    the same of BookKeeper, without logs
pulsar        the same of Pulsar, without logs
logged_runs   is the log of a real system a run of a spec?
notebook      what notebooks import
command_line  the commands `real` and `logs`
"""

SYSTEMS = ("bookkeeper", "kafka", "pulsar")
"""The folders that have stories, in the order in which these are listed."""
