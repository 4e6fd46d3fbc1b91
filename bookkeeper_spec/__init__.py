"""BookKeeper: how ledgers are written, fenced, recovered and chained. One spec a module.

    protocol                        today's protocol: one ledger, any number of clients
    v4_13                           the release 4.13, with its two defects: one writer, one recovery
    with_limbo                      a proposal: bookies without a journal, which may lose entries
    guaranteed_write_quorum         a proposal: entries are kept until a write quorum has them
    unbounded_ledgers               a proposal on top of that: one writer after the other
    ledger_chaining                 ledgers chained to one log
    quorum_coverage_fencing         when has a recovery fenced enough bookies?
    quorum_coverage_recovery_reads  when does an entry not exist?

To read the first five: `model` (constants, state, messages), `writing` (how entries get onto
bookies), `recovery`, `properties`, and then the variant's own module. `ledger_chaining` stands
alone; the last two share `quorum_coverage`, with its four definitions. `in_real_bookkeeper.md` maps
each name to BookKeeper's code; `real` acts the stories out on real bookies.

Throughout, `s` is the state, `c` the constants, and `mine` the record of the client that acts.

One rule, five versions:

what fences a bookie
    v4_13                    a fence request; reads, too, only with `recovery_reads_fence`
    protocol, and GWQ        a fence request, and every recovery read
    with_limbo               the same, and a restart after a crash
    unbounded_ledgers        every request of a newer term than the bookie knows of
where a recovery begins: never before the last fragment (in v4_13 with `lac_from_fragment`), and
    GWQ, unbounded_ledgers   after the highest LAFR that a bookie tells
    the others               after the highest LAC that a bookie tells
how it reads and writes back
    v4_13, with_limbo        it reads all first; an entry is recovered if an ack quorum has it
    the others               both overlap; an entry is recovered if one bookie has it
which bookies are replaced
    v4_13, with_limbo        one that failed
    protocol                 all that failed
    GWQ, unbounded_ledgers   any that failed, if none of them is pinned
where the new fragment begins
    GWQ, unbounded_ledgers   after the LAFR
    the others               after the LAC
when a recovery writes its fragments to the metadata
    v4_13                    at once
    unbounded_ledgers        when it opens the ledger again
    the others               when it closes the ledger
when a pending add is dropped
    GWQ, unbounded_ledgers   when a write quorum has confirmed it, and all before it
    the others               when an ack quorum has

GWQ is guaranteed_write_quorum.
"""

TITLE = "BookKeeper"
