"""Lessons: walks with beats and questions, which the stepper's lesson player shows.

gates          a question: its lines in the file, its choices, and the answer from the walk's states
lesson_files   the text format: parts, steps, notes, and where questions stand
played_lesson  a lesson played: its walks, its beats, and all of it as plain values
"""
