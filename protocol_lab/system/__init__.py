"""The system that the kit runs on: processes, memory, folders, other programs.

operating_system  what Linux, macOS and Windows do differently
file_lock         locks of open files, which end with their process
import_path       which folders Python imports from, and in which order
process           a run of the command line: signals, streams, exit codes
interrupts        Ctrl-C as a request that a search answers when it is ready
helper_processes  copies of this process that do a share of its work
memory            how much memory a search may use
cache_folder      the folder of the user's caches
temporary_folder  temporary folders that go with their owner
programs          finds Java, for Spark, and Graphviz's dot
notebook_shell    the notebook that this process runs in, if there is one
notebook_server   starts JupyterLab on the notebooks, with the kit's settings
"""
