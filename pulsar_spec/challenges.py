"""The challenges of Pulsar's compaction, the easiest first: what an adversary can do to it."""

from protocol_lab.teaching.challenges import Challenge
from pulsar_spec.properties import one_message_stands_for_all, the_consumers_ledger_was_deleted

ONE_MESSAGE = {"message_sent_limit": 1, "key_space": 1, "value_space": 1}
A_READER = {
    "model_consumer": True,
    "consume_times_limit": 1,
    "consumer_reads": "ledger_then_topic",
    "key_space": 1,
    "value_space": 1,
}

CHALLENGES = [
    Challenge(
        "one_message_for_three",
        "Let one message stand for three",
        "Bring the topic to where consumers are served a compacted ledger with a single message,"
        " and the horizon is 2: this message stands for A, B and C.",
        spec="pulsar.compaction",
        reach=one_message_stands_for_all,
        hints=[
            "All three messages have to be sent before the compactor reads the topic: it compacts"
            " up to where phase one has read.",
            "The context says which ledger is read, and the horizon what it stands for. Nothing has"
            " to be on disk for that.",
        ],
    ),
    Challenge(
        "receive_it_twice",
        "Receive it twice",
        "There is one message, A, without a key, and no broker crashes. Let the consumer receive it"
        " twice: nothing tells it that this is the same message. Compaction keeps such messages"
        " here.",
        spec="pulsar.compaction",
        constants={
            **A_READER,
            "message_sent_limit": 1,
            "compaction_times_limit": 1,
            "retain_null_key": True,
            "max_crash_times": 0,
        },
        breaks="null_key_message_received_once",
        hints=[
            "This consumer reads a compacted ledger to its end, and then the topic from the message"
            " after the horizon on. When do these two overlap?",
            "It takes the ledger and the horizon in the moment in which it connects. The compactor"
            " makes them known one after the other.",
        ],
    ),
    Challenge(
        "bring_a_key_back",
        "Bring a deleted key back",
        "Message A gives a key a value, and message B, which has no value, deletes the key. Let the"
        " consumer see B first, and A after it.",
        spec="pulsar.compaction",
        constants={
            **A_READER,
            "message_sent_limit": 2,
            "compaction_times_limit": 1,
            "max_crash_times": 0,
        },
        breaks="deleted_keys_stay_deleted",
        hints=[
            "In the topic A comes first. Where is there B without A?",
            "In a compacted ledger. As long as the horizon does not say what it stands for, the"
            " topic is read from the start afterwards.",
        ],
    ),
    Challenge(
        "never_finish",
        "Three ledgers, and no compaction",
        "Fill the disk with three compacted ledgers of one topic, without the cursor ever being"
        " written. The broker may crash twice.",
        spec="pulsar.compaction",
        constants={**ONE_MESSAGE, "max_crash_times": 2},
        breaks="compacted_ledger_leak",
        forbidden=["compactor_phase_two_persist_cusror"],
        hints=[
            "What does a broker know of compacted ledgers after a crash? What the cursor says.",
            "A ledger that the cursor does not name is on disk as soon as it is written.",
        ],
    ),
    Challenge(
        "leave_a_ledger_behind",
        "Leave a ledger behind",
        "One crash is enough. Let three compacted ledgers exist at once: one of them will never be"
        " deleted, however many compactions follow.",
        spec="pulsar.compaction",
        constants=ONE_MESSAGE,
        breaks="compacted_ledger_leak",
        hints=[
            "At its end each compaction deletes the last ledger but one. Which one is that after a"
            " compaction that was cut off?",
            "Let one compaction end well. Then let the broker crash when the next ledger is written"
            " and the one before is not deleted.",
            "The third compaction writes another one, and will take the second for the old one.",
        ],
    ),
    Challenge(
        "pull_the_rug",
        "Pull the rug from under a reader",
        "This variant updates context and horizon together, so that nobody receives anything twice."
        " All the same: let the ledger be deleted which the consumer is reading.",
        spec="pulsar.compaction_duplicate_fixed",
        constants={**A_READER, "message_sent_limit": 1, "max_crash_times": 0},
        reach=the_consumers_ledger_was_deleted,
        hints=[
            "A ledger is deleted at the end of the compaction after its own. Nobody asks who reads"
            " it.",
            "So the consumer connects after the first compaction, and is slow. One message with a"
            " key is enough for both compactions.",
        ],
    ),
    Challenge(
        "delete_what_the_cursor_names",
        "Delete what the cursor names",
        "The rules are those of Pulsar 4.2.4, and nobody crashes. Once, the compactor may learn of"
        " a failure. Let a key that has a value be lost to a consumer that connects.",
        spec="pulsar.compaction_v4_2",
        constants={
            "model_consumer": True,
            "consume_times_limit": 1,
            "consumer_reads": "by_position",
            "key_space": 1,
            "value_space": 1,
            "message_sent_limit": 1,
            "compaction_times_limit": 1,
            "max_crash_times": 0,
            "deletes_previous_context": True,
            "updates_together": True,
            "max_lost_answers": 1,
        },
        breaks="living_keys_end_with_latest_values",
        hints=[
            "After a failure the compactor deletes the ledger that it has written. When is that"
            " wrong?",
            "When the failure is none: the cursor is written, and only the receipt is lost.",
        ],
    ),
]
