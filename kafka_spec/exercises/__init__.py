"""The exercises of the Kafka notebooks, one module a subject; steps to be found are
`kafka_spec.challenges`.

Every task, its hints and its worked answer stand here and nowhere else; the notebooks show them
with one line. A check explores the learner's answer; its figures come from that run.

`search_answers` answers questions of the lesson `the_talk`.
"""
