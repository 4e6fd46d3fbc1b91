"""The logs of a Kafka cluster that people run: what they say happened to a partition, and why.

In reading order:

reading          what lies in the files of a folder
moments          a partition at one moment
told_histories   a partition's moments, as brokers and controllers tell them in their logs
histories        what is known of each partition, moment by moment
broker_events    what happened to brokers between those moments
notes            what to know of the reading, such as clocks that disagree
controller_part  the controller's rules, those of kafka.kip_966, as a spec of their own
controller_log   the metadata log as a run of that spec, or the first record that is none
answers          what is looked for, what is found, and what can't be told
on_spark         reads and judges on Spark
report_page      the parts of a page, and moments in the lessons' pictures
report           all that the logs say, as text, as HTML and as JSON
in_a_page        reads logs that are dropped on a page

Nothing is guessed: what no line and no record says stays open. Releases 0.10.2 to 4.4 were read.
"""
