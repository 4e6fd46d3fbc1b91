"""Real systems: their processes, the stories that they act out, and what each run leaves.

The room names no system; clusters and stories are in the folder of each, beside this one.
docs/real_stories.md explains on one page how to write a story.

processes     the processes of a run by name, its folder, and waiting with a bound
keeper        the process that owns them, and leaves nothing behind
relay         a port that can hold back what is sent to a node
jars          brings the jars of a release, and starts their programs, small
java_gateway  calls the classes of these jars from Python
recordings    what a run leaves: acts, answers, and what came of it
stage         what the stages of all systems share
stories       how a story is declared, found and run
story_views   a recording as text, as a table, and drawn
command       the command `real`
"""
