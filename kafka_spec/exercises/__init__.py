"""The exercises of the Kafka notebooks, one module a notebook.

Every task, its hints and its worked answer stand here and nowhere else; the notebooks show them
with one line. A check explores the learner's answer; its figures come from that run.

`narration` has no exercises: it is what the notebooks look up in walks, searches and pages.
`search_answers` answers questions of the lesson `the_talk`.
"""
