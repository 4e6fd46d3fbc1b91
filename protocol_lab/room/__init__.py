"""A room of learners: the built pages from the leader's laptop, and a WebSocket that joins them.

site_questions  what a built site has to vote on, to walk and to win
meeting         the state of a room, and the messages that change it
beliefs         the room's answers as a CSV file, beside workshop.md's table
room_server     serves the pages and the WebSocket, and keeps the messages in a file
"""
