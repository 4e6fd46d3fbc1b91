"""The system that the kit runs on: processes, memory, folders, other programs.

operating_system  what Linux, macOS and Windows do differently; locks of files
process           a run of the command line: interrupts, streams, exit codes
notebook_shell    the notebook that the kit runs in, if there is one
helper_processes  copies of this process that do a share of its work
memory            how much memory a search may use
folders           the user's cache, and temporary folders that go with their owner
programs          finds Java, for Spark, and Graphviz's dot
notebook_server   starts JupyterLab on the notebooks, with the kit's settings
"""
