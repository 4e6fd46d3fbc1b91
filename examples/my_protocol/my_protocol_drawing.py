"""The picture of a state of my_protocol: a lane for each of the two, and what is under way.

What a step has changed is found by the kit, which compares two pictures.
"""

from protocol_lab.drawing import Cluster, Entry, Lane, Message, Messages, Text


def describe(s, c):
    """The picture of one state, as plain values."""
    asked = [Entry(k, f"request {k}") for k in range(1, s.asked + 1)]
    done = [Entry(k, f"execution {k}", committed=k <= s.asked) for k in range(1, s.executed + 1)]
    state = "waits" if s.waiting else "has its replies"
    return Cluster(
        lanes=[
            Lane([[Text("Client", bold=True)], [Text(state)]], asked, empty="asked for nothing"),
            Lane([[Text("Server", bold=True)]], done, empty="executed nothing"),
        ],
        messages=[under_way("Requests", s.requests), under_way("Replies", s.replies)],
        columns=c.requests + c.retries,
        first=1,
        axis="",
        ticked="asked for",
    )


def under_way(name, bag):
    """A group of messages that were sent and not received."""
    return Messages(name, [Message(f"number {each.number}") for each in bag])
