"""Distributed search on Spark: levels kept as Parquet, the visited set partitioned by fingerprint.

distributed_search  the engine: breadth first, one Spark job a level
level_expansion     makes one level from the previous one, on Spark or in the driver
run_folder          the folder of a run: levels, visited set, manifest; what resuming reads
executor            what runs in Spark's Python workers
jobs                runs a Spark job and cancels it when asked to
session             a local Spark session, sized to the machine; Spark's failures as sentences
packaging           ships the kit and a learner's spec to executors
model_transfer      a model as text that another process can load and verify
dataframes          the result as DataFrames: states with decoded columns, edges, distances; plans
"""
