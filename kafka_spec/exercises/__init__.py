"""The exercises of the Kafka notebooks, one module a subject; steps to be found are
`kafka_spec.challenges`.

Every task, its hints and its worked answer stand here and nowhere else; the notebooks show them
with one line. A check explores the learner's answer; its figures come from that run.

`the_talk` has the answers to questions of the lesson of this name, too.
"""
