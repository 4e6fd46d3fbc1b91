"""The constants and the state of KRaft. In reading order:

- constants: the sizes of a model, and how far to look
- names: roles, server states, commands, results and errors; kinds of nodes
- messages: configurations, log entries, and the messages with which they travel
- state: the variables, the initial state, and small reads of it
- links: the links between servers, and which of them work
"""
