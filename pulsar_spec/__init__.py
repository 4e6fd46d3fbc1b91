"""Topic compaction in Pulsar: four specs, which differ in a few steps.

    compaction                  compaction as its specification has it, with two bugs
    compaction_duplicate_fixed  a fix for the duplicate message
    compaction_leak_fixed       a fix for the leaked ledger
    compaction_v4_2             what Pulsar 4.2 does differently, each rule a constant

To read: `model` (constants, state), `compaction` (all its actions, in the order in which a message
lives), `properties` (what is claimed of every variant). A fix has its own actions in its own module
and takes the others from `compaction`. `in_real_pulsar.md` maps each name to Pulsar's code.

One rule, three versions:

    rule                 compaction              duplicate_fixed         leak_fixed
    what a compaction    nothing                 nothing                 the cursor, which names
    writes first                                                         the ledger to be written
    how the result is    context, then horizon,  both in one step,       as in compaction
    made known           then the cursor         then the cursor
    what a compaction    the last ledger         the last ledger         all that the cursor
    deletes at its end   but one                 but one                 names, but the context's
    what a new broker    nothing                 nothing                 the same
    deletes
    compacted_ledger_    12 steps                11 steps                holds
    leak
    duplicate_null_      4 steps                 holds                   5 steps
    key_message

The steps are those of the shortest counterexamples for two messages, one key and one value, with
`retain_null_key` for the duplicate; the tests search for them.
"""
