"""The sentences that stand on a stepper's buttons, for all actions of the KRaft specs.

A parameter stands in braces, a field of a message after a dot; `{value:A}` is a value's name.
"""

from itertools import combinations

from kraft_spec.model import pair


def _links(down: list[int]) -> str:
    """The links that will be down, named as in the sequence diagram: "Links down: 1–2, 1–3"."""
    ends = {pair(one, other): f"{one}–{other}" for one, other in combinations(range(1, 9), 2)}
    return f"Links down: {', '.join(ends[link] for link in down)}" if down else "All links work"


CHOICES = {
    "start_new_server": "A new server starts on host {host}",
    "change_network_connectivity": _links,
    "restart_with_state": "Server {server} restarts from its disk",
    "restart_without_state": "Server {server} restarts with an empty disk",
    "crash_lose_state": "Server {server} loses its disk",
    # Elections
    "send_request_vote": "Server {server} stands for election",
    "voter_fetch_timeout": "Server {server} hears nothing from its leader",
    "voter_election_timeout": "Server {server}'s election times out",
    "resigned_election_timeout": "Server {server}, resigned, goes on",
    "conclude_pre_vote": "Server {server} counts its pre-votes",
    "handle_vote_request": (
        "Server {message.dest} gets server {message.source}'s vote request, epoch {message.epoch}"
    ),
    "handle_vote_response": (
        "Server {message.dest} gets server {message.source}'s vote, epoch {message.epoch}"
    ),
    "become_leader": "Server {server} becomes the leader",
    "accept_begin_quorum_request": (
        "Server {message.dest} learns that server {message.source} leads, epoch {message.epoch}"
    ),
    "resend_begin_quorum_epoch_request": "Server {server} announces itself to {peer} again",
    "accept_end_quorum_epoch_request": (
        "Server {message.dest} learns that server {message.source} has resigned"
    ),
    "check_quorum_resign": "Server {server} resigns",
    "observer_fetch_timeout": "Server {server} looks for another leader",
    # Replication
    "client_request": "A client sends {value:A} to server {server}",
    "handle_client_request": "A client sends {value:A} to server {server}",
    "send_fetch_request": "Server {server} fetches from server {peer}",
    "accept_fetch_request": "Server {message.dest} answers server {message.source}'s fetch",
    "accept_fetch_request_from_voter": (
        "Server {message.dest} answers server {message.source}'s fetch"
    ),
    "accept_fetch_request_from_observer": (
        "Server {message.dest} answers observer {message.source}'s fetch"
    ),
    "diverging_fetch_request": "Server {message.dest} tells server {message.source} to truncate",
    "reject_fetch_request": "Server {message.dest} rejects server {message.source}'s fetch",
    "handle_fetch_response": "Server {message.dest} gets server {message.source}'s answer",
    # Membership
    "accept_add_voter_request": "Server {server} adds voter {add_server}",
    "accept_remove_voter_request": "Server {server} removes voter {remove_server}",
    "send_join_request": "Server {server} asks {peer} to join",
    "accept_join_request": "Server {message.dest} lets {message.source} join",
    "reject_join_request": "Server {message.dest} rejects {message.source}'s wish to join",
    "handle_join_response": "Server {message.dest} gets the answer to its wish to join",
    "send_remove_request": "Ask server {peer} to remove {remove_server}",
    "accept_remove_request": "Server {message.dest} removes voter {message.remove_server}",
    "reject_remove_request": "Server {message.dest} refuses to remove {message.remove_server}",
    "handle_remove_response": "The administrator gets server {message.source}'s answer",
}
