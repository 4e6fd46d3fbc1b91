"""What is looked for in a cluster's logs, what is found, and what can't be told.

In reading order:

findings    what a lesson would say of it
facts       what has to be known before the silence of the logs means anything
rules       what is looked for, each with the facts that it needs, what is said of partitions, and
            the answer: found; nothing found, and that was enough to tell; or can't tell
"""
