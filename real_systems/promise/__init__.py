"""What do my settings promise? Settings and faults, each pair answered by a search of all states.

promise_table     what is asked about a system, the search of a cell, why something is lost, and
                  what would keep it; the table in words, as `lab.py promise` prints it
promise_page      the table in a page

What a system can be asked is a class of settings of its own: `kafka.promise.cluster_settings`,
`bookkeeper.ledger_settings`.
"""
