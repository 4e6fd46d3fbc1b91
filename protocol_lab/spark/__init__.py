"""The same search on Spark: levels as Parquet, decoded tables."""
