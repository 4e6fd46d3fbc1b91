"""The picture of a cluster: places everything in a `Cluster`, and draws it as SVG.

placement      the whole picture, from the top to the bottom, on a grid that it finds
grid           where lanes and columns are; text, what it was before, and parts that can be followed
lanes          a node's name and beliefs, the records of its log, flags and notes
flights        messages on their way, between the parts
cards          the clients, and the groups of messages
"""
