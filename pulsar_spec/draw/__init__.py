"""Pictures of the compaction specs: the topic, the compacted ledgers below it, and who reads what.

A message keeps its column: it stands at its position in the topic and in every ledger that has it.
A solid border says that a consumer which connects now is served the message, and a ✓ from where;
where two of them stand in one column, the message is served twice.
"""
