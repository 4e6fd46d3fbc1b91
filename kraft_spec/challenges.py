"""The challenges of KRaft, the easiest first: what an adversary can do to it."""

from kraft_spec.constants import Constants
from kraft_spec.model import State, is_member
from kraft_spec.situations import a_removed_voter_does_not_know, logs_diverge
from protocol_lab.teaching.challenges import Challenge

TWO_SERVERS = {
    "init_cluster_size": 2,
    "min_cluster_size": 1,
    "max_cluster_size": 2,
    "hosts": 2,
    "max_spawned_servers": 2,
}

THREE_SERVERS = {
    "init_cluster_size": 3,
    "min_cluster_size": 2,
    "max_cluster_size": 3,
    "hosts": 3,
    "max_spawned_servers": 3,
}

GROWING = {
    "init_cluster_size": 1,
    "min_cluster_size": 1,
    "max_cluster_size": 2,
    "hosts": 2,
    "max_spawned_servers": 2,
    "max_epoch": 1,
    "max_values_per_epoch": 0,
    "max_add_reconfigs": 1,
}


def is_acknowledged(s: State, c: Constants) -> bool:
    """A client was told that its value is committed."""
    return s.inv_pos_acked != 0


def the_third_is_followed(s: State, c: Constants) -> bool:
    """Server 3 leads, and another server follows it."""
    return s.state[3] == "leader" and any(
        s.state[server] == "follower" and s.leader[server] == 3 for server in (1, 2)
    )


def the_second_has_joined(s: State, c: Constants) -> bool:
    """Server 2 knows that it is a voter, and its leader knows that this is committed."""
    return s.role[2] == "voter" and s.config[1].id == 2 and bool(s.config[1].committed)


def two_leaders_write(s: State, c: Constants) -> bool:
    """Two servers lead, in different epochs, and each has written a value since it leads."""
    return any(
        s.state[server] == "leader"
        and s.state[other] == "leader"
        and s.pending_ack[server] != 0
        and s.pending_ack[other] != 0
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def the_leader_has_retired(s: State, c: Constants) -> bool:
    """Server 1 leads no more, and a voter knows that its removal is committed."""
    return s.state[1] != "leader" and any(
        s.state[server] == "follower"
        and s.config[server].committed
        and is_member(s, server, server)
        and not is_member(s, 1, server)
        for server in range(2, c.max_spawned_servers + 1)
    )


def another_server_leads(s: State, c: Constants) -> bool:
    """Server 2 or 3 leads."""
    return s.state[2] == "leader" or s.state[3] == "leader"


CHALLENGES = [
    Challenge(
        "acknowledge_a_value",
        "Acknowledge a value",
        "Two servers; server 1 leads. Have a client told that its value is committed.",
        spec="kraft.kip_853",
        constants=TWO_SERVERS | {"max_epoch": 1},
        reach=is_acknowledged,
        hints=[
            "A leader sends nothing on its own. A follower has to ask it.",
            "A fetch says where the follower's log ends. So the second fetch tells the leader that"
            " the first answer has arrived.",
        ],
    ),
    Challenge(
        "elect_the_third",
        "Elect server 3",
        "Three servers; server 1 leads in epoch 1. Have server 3 lead, and another server follow"
        " it.",
        spec="kraft.kip_853",
        constants=THREE_SERVERS | {"max_epoch": 2},
        reach=the_third_is_followed,
        hints=[
            "A voter need not ask before it holds an election, and one vote besides its own"
            " is enough.",
            "A follower follows from the moment when it learns who leads, and not when it has"
            " voted.",
        ],
    ),
    Challenge(
        "make_logs_part",
        "Make two logs part",
        "Three servers, and nothing is broken. Have two servers hold different entries at one"
        " offset.",
        spec="kraft.kip_853",
        constants=THREE_SERVERS | {"max_epoch": 2},
        reach=logs_diverge,
        hints=[
            "Two leaders have to write at the same offset. So the second one must be elected"
            " without having the first one's entry.",
            "A new leader writes an entry of its own at once, without any client.",
        ],
    ),
    Challenge(
        "join_the_cluster",
        "Join the cluster",
        "Server 1 is alone. Make server 2 a voter, and let server 1 know that the new configuration"
        " is committed.",
        spec="kraft.kip_853",
        constants=GROWING,
        reach=the_second_has_joined,
        hints=[
            "The leader may append the command at any time. The new configuration has two voters,"
            " so both have to hold the command.",
            "The leader may tell the new server that it leads. As an observer the server then"
            " fetches the first entry and the command; the next fetch is that of a voter.",
        ],
    ),
    Challenge(
        "kraft_count_yourself",
        "Lose a value to a leader that counts itself",
        "Here a leader that is no longer a voter still counts itself, which is wrong. Two"
        " servers, one value: have the value acknowledged although no voter holds it.",
        spec="kraft.kip_853",
        constants={
            **TWO_SERVERS,
            "max_epoch": 1,
            "max_remove_reconfigs": 1,
            "removed_leader_counts_itself": True,
        },
        breaks="acked_value_not_lost",
        hints=[
            "Which configuration makes the leader alone a majority, if it counts itself without"
            " being a voter?",
            "The high watermark moves only while the leader accepts a voter's fetch. It need not be"
            " a fetch that has anything.",
        ],
    ),
    Challenge(
        "kraft_two_leaders_write",
        "Let two leaders write",
        "Three servers, and nothing is broken. Have two of them lead, each with a value of its own"
        " that a client waits for.",
        spec="kraft.kip_853",
        constants={**THREE_SERVERS, "value": 2, "max_epoch": 2},
        reach=two_leaders_write,
        hints=[
            "A voter may hold an election whenever it thinks that the leader is gone. Does the"
            " leader have to know?",
            "Two of three votes are enough, and a candidate has one: its own. Let the messages"
            " to the old leader wait.",
        ],
    ),
    Challenge(
        "kraft_wait_in_vain",
        "Leave a server behind that waits in vain",
        "The leader removes a voter that is not itself. Bring the removal to be committed while the"
        " removed server still believes that it is a voter, and follows.",
        spec="kraft.kip_853",
        constants={
            **THREE_SERVERS,
            "max_epoch": 1,
            "max_values_per_epoch": 0,
            "max_remove_reconfigs": 1,
        },
        reach=a_removed_voter_does_not_know,
        hints=[
            "A server knows a configuration from the moment when it stands in its own log.",
            "The new configuration has two voters, and both have to hold the command. The removed"
            " server is none of them: it need not do anything.",
            "The leader learns that a follower has an entry from that follower's *next* fetch.",
        ],
    ),
    Challenge(
        "kraft_epoch_goes_back",
        "Turn an epoch back",
        "A server's epoch should never fall; no message of a past epoch should change a server. The"
        " original specification has a slip here. Two servers, three epochs.",
        spec="kraft.kip_853",
        constants={**TWO_SERVERS, "max_epoch": 3, "max_values_per_epoch": 0},
        breaks="epoch_monotone",
        hints=[
            "A vote request may be in flight for a long time. What does a server do with one"
            " that is of an earlier epoch than its own?",
            "Read `handle_vote_request`. It refuses, and yet it applies the new state. In which"
            " state must the voter be for that to change anything?",
            "A server becomes unattached when it learns of a later epoch from one that does not"
            " lead in it: an answer to its own request for votes will do.",
        ],
    ),
    Challenge(
        "kraft_outvote_the_log",
        "Elect a leader with too short a log",
        "This broken variant grants votes without a look at the candidate's log. Have a value"
        " acknowledged, and elect a leader that does not have it.",
        spec="kraft.kip_853",
        constants={**THREE_SERVERS, "max_epoch": 2, "vote_without_log_check": True},
        breaks="leader_has_all_acked_values",
        hints=[
            "An acknowledged value is in a majority's logs. The new leader must not be in that"
            " majority, and needs a vote out of it.",
            "The old leader must still be able to acknowledge the value. A fetch that was sent"
            " before the election counts, even if its sender has voted since.",
        ],
    ),
    Challenge(
        "kraft_retire_the_leader",
        "Retire the leader",
        "The leader removes itself from the configuration, has the two others commit that, and then"
        " stops to lead. Bring one of the others to know that it is done.",
        spec="kraft.kip_853",
        constants={
            **THREE_SERVERS,
            "max_epoch": 1,
            "max_values_per_epoch": 0,
            "max_remove_reconfigs": 1,
        },
        reach=the_leader_has_retired,
        hints=[
            "The leader goes on leading: it has to commit a configuration that it is not in. It"
            " does not count itself.",
            "So both of the others must hold the command, and the leader must hear that they do.",
            "When it learns that, it stops leading. The server whose fetch told it learns the new"
            " high watermark with the answer.",
        ],
    ),
    Challenge(
        "kraft_vote_twice",
        "Vote twice in one epoch",
        "Server 3 is new. Servers 1 and 2 have it in their configuration, and it does not know yet:"
        " it calls itself an observer. Bring two servers to lead in the same epoch.",
        spec="kraft.kip_853",
        constants={
            "init_cluster_size": 2,
            "min_cluster_size": 2,
            "max_cluster_size": 3,
            "hosts": 2,
            "max_spawned_servers": 3,
            "max_epoch": 2,
            "max_values_per_epoch": 0,
            "max_add_reconfigs": 1,
        },
        breaks="never_two_leaders_in_same_epoch",
        given="""
            start_new_server(host=1, any_leader=1)  # server 3 is started, as an observer
            accept_add_voter_request(server=1, add_server=3)  # the leader makes it a voter
            send_fetch_request(server=2, peer=1)  # server 2 fetches that command
            accept_fetch_request_from_voter(message=FetchRequest(source=2))  # and is answered
            handle_fetch_response(message=FetchResponse(source=1))  # now it knows server 3
        """,
        hints=[
            "Two of the three are a majority. Servers 1 and 2 vote for themselves; so both need"
            " server 3.",
            "Observers vote. What else may an observer do that a voter may not, and what does it"
            " forget by that?",
            "A leader that has resigned can be elected again.",
        ],
    ),
    Challenge(
        "kraft_use_the_window",
        "Depose a leader that everybody could ask",
        "Pre-vote is on, and nothing is broken. Server 3 can't reach the leader, and server 2 has"
        " just restarted; it can reach both. Depose server 1, which has a majority.",
        spec="kraft.kip_996",
        constants={"max_restarts": 1, "max_connectivity_changes": 1, "max_perm_crashes": 0},
        breaks="leader_stays_unless_restarted",
        given="""
            change_network_connectivity(down={2})  # servers 1 and 3 can't reach each other
            restart_with_state(server=2)  # server 2 restarts: it follows, and has not fetched yet
        """,
        hints=[
            "Who says yes to a pre-vote? Server 2 will refuse from its first answered fetch on.",
            "Server 3 becomes a candidate of epoch 2, but can't tell server 1. Who can?",
        ],
    ),
    Challenge(
        "kraft_replace_the_leader",
        "Replace a leader that is gone",
        "The leader has lost its disk. Have another server lead, although nobody spends an epoch"
        " without having asked first.",
        spec="kraft.kip_996",
        constants={},
        reach=another_server_leads,
        given="""
            crash_lose_state(server=1)  # the leader loses its disk
        """,
        hints=[
            "A timeout needs a cause: a fetch that is lost.",
            "A follower that has fetched refuses, as long as it has not noticed anything itself.",
        ],
    ),
]
