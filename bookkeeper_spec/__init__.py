"""BookKeeper: how ledgers are written, fenced, recovered and chained. One spec a module.

    protocol                        today's protocol: one ledger, any number of clients
    v4_13                           the release 4.13, with its two defects: one writer, one recovery
    with_limbo                      a proposal: bookies without a journal, which may lose entries
    guaranteed_write_quorum         a proposal: entries are kept until a write quorum has them
    unbounded_ledgers               a proposal on top of that: one writer after the other
    ledger_chaining                 ledgers chained to one log
    quorum_coverage_fencing         when has a recovery fenced enough bookies?
    quorum_coverage_recovery_reads  when does an entry not exist?

The parts of `protocol`, which the others use as well: `model` has the constants and the state,
`actions` the actions in the order of an entry's life, `properties` and `liveness` what is claimed,
`situations` what is worth finding, `declarations` what all variants declare. A variant that is a
folder has its own parts under the same names. `quorum_coverage` defines quorum coverage in four
ways. `tlc` translates for comparisons with TLC; `in_real_bookkeeper.md` maps each name to
BookKeeper's code.

Throughout, `s` is the state, `c` the constants, and `mine` the record of the client that acts.
"""

TITLE = "BookKeeper"
