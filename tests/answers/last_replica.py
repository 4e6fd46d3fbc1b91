"""Answers to the exercise of notebooks/kafka/06_the_last_replica that are wrong."""

WRONG = {
    "commit_without_the_eligible": [
        ("write_record_to_leader(broker=1, value=1)", "has all that consumers have read"),
        (
            """
            write_record_to_leader(broker=1, value=1)
            fence_broker(broker=1, leader=2)
            """,
            "has all that consumers have read",
        ),
    ],
}
