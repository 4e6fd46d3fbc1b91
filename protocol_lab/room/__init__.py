"""A room of learners: the built pages from the leader's laptop, and a WebSocket that joins them.

site_questions  the questions of a built site; what the room answered, as a CSV file
meeting         the state of a room, and the messages that change it
room_server     serves the pages and the WebSocket, and keeps the messages in a file
"""
