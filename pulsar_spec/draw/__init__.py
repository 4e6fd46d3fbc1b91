"""Pictures of the compaction specs: the topic, the compacted ledgers below it, and who reads what.

A message keeps its column: it stands below its id in the topic and in every ledger that has it. A
solid border and a ✓ say that a consumer which connects now is served the message from there; where
two of them stand in one column, the message is served twice.
"""
