"""What runs in Spark's Python workers.

stages         the stages of a level, between Arrow batches
tasks          what a task does, on numpy arrays: expand states, or deduplicate candidates
candidates     the successors that a task found, each once, grouped by owner
deduplication  keeps the candidates that are not in the owner's visited set
visited_runs   the owner's visited set: sorted runs of fingerprints on disk
level_files    the Parquet files of a level
task_reports   what a task reports to the driver: counts, violations, timings
"""
