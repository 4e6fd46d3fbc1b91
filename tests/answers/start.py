"""Plausible wrong answers to the exercises of notebooks/00_start_here, and what they are told."""

from protocol_lab import HOLDS

# --- count_the_states ------------------------------------------------------------------------


def full_logs_only(replicas, log_records, log_size):
    return log_records ** (log_size * replicas)


def logs_added_up(replicas, log_records, log_size):
    return replicas * sum(log_records**length for length in range(log_size + 1))


# --- logs_agree_where_both_have_records ------------------------------------------------------


def same_length_too(s, c):
    for replica in range(1, c.replicas + 1):
        if s.logs[replica].end_offset != s.logs[1].end_offset:
            return "the logs have different lengths"
        for offset in range(s.logs[1].end_offset):
            if s.logs[replica].records[offset] != s.logs[1].records[offset]:
                return "the logs differ"
    return HOLDS


def first_record_only(s, c):
    for replica in range(1, c.replicas + 1):
        for other in range(1, replica):
            one, two = s.logs[replica], s.logs[other]
            if one.end_offset > 0 and two.end_offset > 0 and one.records[0] != two.records[0]:
                return "the first records differ"
    return HOLDS


WRONG = {
    "count_the_states": [
        (full_logs_only, "the search finds 2 states; your formula says 1"),
        (logs_added_up, "the search finds 49 states; your formula says 14"),
    ],
    "logs_agree_where_both_have_records": [
        (same_length_too, 'It should hold after these steps, but says "the logs have different'),
        (first_record_only, "It holds after these steps, but should say: two logs hold different"),
    ],
    "cross_the_logs": [
        (
            "append(replica=1, record=1)\nreplicate_to(source=1, target=2)",
            "the logs are: replica 1: 1; replica 2: 1.",
        ),
        (
            "append(replica=1, record=1)\ntruncate_to(replica=2, end_offset=1)",
            "Step 2: truncate_to(replica=2, end_offset=1) can't happen here: the log is shorter",
        ),
    ],
}
