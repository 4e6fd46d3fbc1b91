"""The sentences that stand on a stepper's buttons, for all actions of the Pulsar specs."""


def _message(input_key: int, input_value: int) -> str:
    """What is sent, with the names that the picture has."""
    key = f"key k{input_key}" if input_key else "no key"
    value = f"value v{input_value}" if input_value else "no value (null)"
    return f"The producer sends {key}, {value}"


CHOICES = {
    "producer": _message,
    "compactor_phase_one": "The compactor reads the topic",
    "compactor_phase_two_register_ledger": "The cursor names the next ledger",
    "compactor_phase_two_write": "The compactor writes a compacted ledger",
    "compactor_phase_two_write_registered": "The compactor writes the named ledger",
    "compactor_phase_two_update_context": "Consumers read the new ledger",
    "compactor_phase_two_update_horizon": "The new ledger reaches up to here",
    "compactor_phase_two_update_context_and_horizon": "Consumers read the new ledger",
    "compactor_phase_two_persist_cusror": "The cursor is written to disk",
    "compactor_hears_of_a_failure": "Written, but the answer is lost",
    "compactor_phase_two_delete_ledger": "The old ledger is deleted",
    "compactor_phase_two_delete_unused_ledgers": "All unused ledgers are deleted",
    "broker_crash": "The broker crashes",
    "broker_crash_and_clean_up": "The broker crashes; another cleans up",
    "topic_is_trimmed": "The topic is trimmed",
    "consumer": "The original's consumer does nothing",
    "consumer_connects": "The consumer connects",
    "consumer_asks": "The consumer asks for more",
    "consumer_receives": "The consumer gets the next message",
    "consumer_finishes": "The consumer has read everything",
    "terminating": "Everything stays as it is",
}
