"""The lines of logs: found in files, and taken apart.

In reading order:

file_lines   the lines of a file, compressed or not, block by block
documents    exports that are one JSON document or a CSV, as lines
times        times as logs write them
layouts      a line taken apart, whatever has written and wrapped it
"""
