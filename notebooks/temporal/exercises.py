"""The exercises of temporal/01_safety_is_not_enough: a lasso by hand, a claim about whole runs."""

from protocol_lab import always_eventually
from protocol_lab.catalog import load
from protocol_lab.liveness.check import check_property
from protocol_lab.liveness.lasso_check import why_not_broken
from protocol_lab.model.temporal_formulas import Formula
from protocol_lab.teaching.exercises import Feedback, exercise, right, wrong
from protocol_lab.traces.scenario_format import parse_scenario
from protocol_lab.traces.scenarios import play

SETTLED = "records_are_committed_or_truncated"
KAFKA = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}


@exercise(
    hints=[
        "The controller elects, the leader learns of it and writes. Which step, that nothing makes"
        " fair, would the record need next?",
        "A run that just stops is a loop, too: `!loops_to` with the number of the last state. But"
        " no fair action may be possible there. Let the follower pick its request first.",
    ],
    answer="""
        controller_elect_leader(new_leader=1)
        become_leader(request=LeaderAndIsrRequest(leader_epoch=0))
        leader_write(replica=1)
        fenced_become_follower_and_truncate(follower=2, request=LeaderAndIsrRequest(leader_epoch=0))
        !loops_to 5
    """,
    why="The original makes writing, committing and admitting to the ISR fair, and becoming leader"
    " or follower. It says nothing about fetching: a follower that never asks is allowed to, and"
    " the high watermark waits for it. Fairness is an assumption about the world, and what was"
    " forgotten in it is a failure that the model allows.",
)
def wait_for_ever(answer) -> Feedback:
    """A record that waits for ever.

    Give a run of KIP-320 with two replicas in which a record is written, and neither committed nor
    truncated, ever. Write its steps, one a line; the initial state is state 1. The last line,
    `!loops_to K`, says that the run goes on from state K as it did before. If K is the last state,
    the run stays there. No fair action may be put off forever.
    """
    if not isinstance(answer, str):
        return wrong("Write the steps as a text in triple quotes, one step a line.")
    constants = " ".join(f"{name}={value}" for name, value in KAFKA.items())
    walk = play(parse_scenario(f"# spec: kafka.kip_320 {constants}\n{answer}", "your run"))
    rows = [each.row for each in walk.moment.path()]
    told = why_not_broken(walk.model, rows, walk.moment.loops_to, SETTLED, "declared")
    if told:
        return wrong(f"This is not it yet: {told}", walk)
    shortest = check_property(walk.model, SETTLED)
    return right(
        f"A fair run, and the record waits for ever: your loop begins in state {walk.loop_from},"
        f" the nearest possible one in state {shortest.loop_from}."
    )


def two_voters(**how):
    """Two voters, of which the leader, server 1, may remove the other one.

    The guard that forbids this with two voters is relaxed, and the only member of a configuration
    can be elected. how: further constants, as for what a fetch of the removed server is met with.
    """
    sizes = ("init_cluster_size", "max_cluster_size", "max_spawned_servers", "hosts")
    return load("kraft.kip_853").bind(
        test_liveness=1,
        **dict.fromkeys(sizes, 2),
        min_cluster_size=1,
        max_values_per_epoch=0,
        max_remove_reconfigs=1,
        max_current_epoch=3,
        removal_guard_relaxed=1,
        single_voter_election_fixed=1,
        **how,
    )


def removal(fetches: str, removals: int = 1):
    """Three voters, of which server 3 may be removed, and what its later fetches are met with."""
    sizes = ("init_cluster_size", "max_cluster_size", "max_spawned_servers", "hosts")
    return load("kraft.kip_853").bind(
        test_liveness=1,
        **dict.fromkeys(sizes, 3),
        min_cluster_size=2,
        max_values_per_epoch=0,
        max_current_epoch=1,
        max_remove_reconfigs=removals,
        fetch_outside_configuration=fetches,
    )


ONLY_SERVER_3 = "s.config[1].members == 14 or s.config[1].members == 6"
"""The leader is server 1, and its members are {1, 2, 3} or {1, 2}: bit k stands for server k."""


@exercise(
    hints=[
        "Who is removed is a voter at first, `s.role[3] == 'voter'`, and an observer in the end.",
        "`leads_to(p, q)`: whenever p holds, q holds then or later. Let p say that the leader has"
        " committed a configuration without server 3: `s.config[1].committed and 3"
        " not in s.config[1].members`.",
    ],
    answer=always_eventually(
        "s.role[3] != 'voter' or not s.config[1].committed or 3 in s.config[1].members"
    ),
    why="Both ways of saying it do: the removal leads to an observer; or, again and again, server"
    " 3 is no voter unless the leader still counts it. An invariant can't say it: in every state"
    " server 3 may just be about to learn. No finite run refutes the claim, only a whole one.",
)
def the_removed_server_learns(answer) -> Feedback:
    """Say that a removed server learns of its removal.

    Give a formula, such as `leads_to(p, q)`, with p and q as texts. They may ask for `s.role[3]`
    ('voter' at first, 'observer' once server 3 knows) and for what the leader knows: whether
    `s.config[1].committed`, and whether `3 in s.config[1].members`. The claim has to fail where the
    leader ignores who was removed, and to hold where it accepts those fetches, as well as where
    nobody is removed.
    """
    if not isinstance(answer, Formula):
        return wrong("""Give a formula, as in always_eventually("s.role[3] != 'voter'").""")
    for fetches, removals, expected, when in (
        ("ignored", 0, "holds", "nobody is removed"),
        ("accepted", 1, "holds", "the fetches of who was removed are accepted"),
        ("ignored", 1, "violated", "the fetches of who was removed are ignored"),
    ):
        found = check_property(removal(fetches, removals), answer, constraint=ONLY_SERVER_3)
        if found.verdict != expected:
            verb = "fail" if expected == "violated" else "hold"
            shown = found if found.trace else None
            return wrong(f"It should {verb} where {when}, and does not.", shown)
    return right(
        f"It tells them apart: the run that breaks it goes round from state {found.loop_from}."
    )
