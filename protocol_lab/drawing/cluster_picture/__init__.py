"""The picture of a cluster: places everything in a `Cluster`, and draws it as SVG.

placement      the whole picture, from the top to the bottom
grid           where lanes and columns are, and the sizes of their parts
grid_layout    finds the grid of a picture
lanes          a node's name and beliefs, log, flags and notes
lane_heads     what a lane says, in rows above its log
record_boxes   the records of a log
flights        messages on their way, between the parts
client_cards   the clients
message_lists  the groups of messages
joined_lines   the dense arrangement: lines that share a line
picture_text   text and what it was before; parts that can be followed
"""
