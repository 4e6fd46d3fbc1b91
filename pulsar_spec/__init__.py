"""Topic compaction in Pulsar: one spec a module.

    compaction                  compaction as its specification has it, with two bugs
    compaction_duplicate_fixed  a fix for the duplicate message
    compaction_leak_fixed       a fix for the leaked ledger

What they share: `model` has the constants and the state, `actions` the actions in the order in
which a message lives, `properties` and `liveness` what is claimed, `situations` what is worth
finding, `declarations` what every variant declares. `in_real_pulsar.md` maps each name to Pulsar's
code.
"""
