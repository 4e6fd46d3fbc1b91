"""What can my cluster lose? Settings and faults, each pair answered by a search of all states.

cluster_settings    what is configured, from options and from the files that Kafka's users have
promise_table       the rows, the search of a cell, why a record is lost and what would keep it
promise_report      the table in words, as `lab.py promise` prints it
promise_of_logs     what each next fault would cost, from the state in which logs end
promise_page        the table in a page
"""
