"""What can my cluster lose? What the table of promises asks about Kafka.

cluster_settings    the settings, from options and from the files that Kafka's users have; the rows
cluster_page        the table in a page
promise_of_logs     what each next fault would cost, from the state in which logs end
"""
