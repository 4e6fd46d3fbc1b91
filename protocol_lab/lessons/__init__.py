"""Lessons: walks with beats and questions, which the stepper's lesson player shows.

lesson_files   the text format: parts, steps, questions, notes
gates          the questions' choices and answers, computed from the states of the walk
played_lesson  a lesson played: its walks, its beats, and all of it as plain values
"""
