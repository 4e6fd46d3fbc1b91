"""Exercises on unclean leader election: which rule is safe?"""

from functools import cache

from kafka_spec import unclean_leader_election as talk
from kafka_spec.unclean_leader_election import (
    Constants,
    Replica,
    State,
    common_prefix,
    is_isr_dead,
    lead_alone,
    leo,
    log_of,
    spec,
)
from protocol_lab import *
from protocol_lab import NONE, TAKEN
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore
from protocol_lab.teaching.exercises import *
from protocol_lab.teaching.exercises import with_action
from protocol_lab.traces.scenarios import scenario
from protocol_lab.traces.walk import Walk

# --- Slide 32: somebody has it -----------------------------------------------------------------


def enough_replicas_hold_it(s: State, c: Constants):
    holding = 0
    for replica in range(1, c.replicas + 1):
        if common_prefix(s.committed_messages, log_of(s, replica)) == len(s.committed_messages):
            holding += 1
    if holding < c.min_isr:
        return "fewer than min_isr replicas hold all that is committed"
    return HOLDS


@exercise(
    hints=[
        "`common_prefix(log, other)` says how many messages two logs share from the start on.",
        "A replica holds all that is committed if `common_prefix(s.committed_messages,"
        " log_of(s, replica))` is `len(s.committed_messages)`. Count these replicas in a loop.",
    ],
    answer=enough_replicas_hold_it,
    why="The claim holds with latest_offset, even in the states after the loss of slide 56: the"
    " message is still in the log of broker 3. It is lost because another replica was elected, and"
    " broker 3 will truncate it. So slide 32 is right, and what fails is the way to recognise the"
    " replica. With first_alive the claim itself fails: one step after the loss, once broker 3 has"
    " truncated too.",
)
def somebody_has_it(answer) -> Feedback:
    """Say slide 32 as an invariant: enough replicas hold all that is committed.

    Write `somebody_has_it(s, c)`: at least `c.min_isr` replicas, dead or alive, hold every
    committed message. The check compares it with the worked answer in every reachable state, under
    the rule `latest_offset` and under `first_alive`.
    """
    rules = ("latest_offset", "first_alive")
    for rule in rules:
        feedback = same_invariant(spec, answer, enough_replicas_hold_it, election_rule=rule)
        if not feedback.passed:
            return feedback
    outcomes = []
    for rule in rules:
        found = run(with_invariant(spec, answer).bind(election_rule=rule))
        outcome = f"fails after {len(found.trace)} steps" if found.violated else "holds"
        outcomes.append(f"under {rule} it {outcome} ({found.distinct:,} states seen)")
    return right(f"It says what the worked answer says; {', '.join(outcomes)}.")


# --- Slides 46-56: the found scenario ----------------------------------------------------------

SCENARIO = "talk_46_56_found_scenario"
ELECTION = "unclean_leader_election_choose_latest_offset"


def take_slides(walk: Walk, first: int, last: int) -> Walk:
    """Take the steps that the talk's scenario has for these slides."""
    for line in scenario(SCENARIO).lines:
        if line.kind == "step" and first <= int(line.slide) <= last:
            walk.take(line.text, line.caption)
    return walk


# --- Slide 57: more appropriate criteria -------------------------------------------------------


@exercise(
    hints=[
        "Run it: one search for each value, with the default bounds.",
        "What has to be true of a message before it is committed with min_isr=3? And what happens"
        " to the producers when a single replica lags?",
    ],
    answer={3},
    why="With 3 every replica of the partition must have a message before it is committed, so any"
    " of them may be elected. The price: a single replica that lags or dies stops all producers."
    " With 1, which is the broker's default, the leader alone commits, and its death is enough.",
)
def safe_min_isr(answer) -> Feedback:
    """Which values of `min.insync.replicas` are safe with `latest_offset`?

    There are three replicas. Give the set of all values of `min_isr` with which no committed
    message is lost within the default bounds, as in `{1, 2}`. The check explores each.
    """
    safe = set(answer)
    if not safe <= {1, 2, 3}:
        return wrong("With three replicas min_isr is 1, 2 or 3.")
    lines = []
    for min_isr in (1, 2, 3):
        found = run(spec.bind(min_isr=min_isr))
        if found.violated and min_isr in safe:
            return wrong(f"With min_isr={min_isr} these {len(found.trace)} steps lose one:", found)
        if not found.violated and min_isr not in safe:
            return wrong(f"There is a safe value that is not in your set: {min_isr} is one.")
        outcome = f"a loss in {len(found.trace)} steps" if found.violated else "no loss"
        lines.append(f"min_isr={min_isr}: {outcome}, {found.distinct:,} states seen")
    return right("; ".join(lines) + ".")


def elect_where_logs_agree(s: State, c: Constants, replica: Replica):
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not s.replica_states[c.unstable_replica].is_shutdown:
        return "the unstable replica has not died: it may be back soon"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    for other in s.zk_state.alive_replicas:
        if common_prefix(log_of(s, other), log_of(s, replica)) < leo(s, other):
            return "another alive replica has a message that this one has not"
    lead_alone(s, c, replica)
    return TAKEN


@exercise(
    hints=[
        "With min_isr=2 somebody who is alive has all that was promised (slide 32). When can you"
        " be sure that it is this replica, whoever of them it was?",
        "At slide 55 two logs hold different messages at one offset, and nothing in them tells"
        " which of both was promised. What should a rule do that must not guess?",
        "`common_prefix(log, other)` says how many messages two logs share from the start on;"
        " `leo(s, replica)` how long a log is.",
    ],
    answer=elect_where_logs_agree,
    why="If one log holds all that every other one holds, it holds what was promised, whoever has"
    " it. If two logs differ at an offset, the logs can't tell, and the rule waits. So this rule"
    " needs no memory of the ISR, as KIP-966 does, and pays for that with availability, just in"
    " the case in which the latest offset guesses. It also rests on slide 32: so many replicas"
    " must be alive that one of them has all that was promised.",
)
def elect_safely(answer) -> Feedback:
    """Write a safe rule that looks at nothing but logs.

    This controller keeps no list of eligible replicas: `s.zk_state.eligible` stays empty. Write
    `elect(s, c, replica)`: the guards below and yours, then `lead_alone(s, c, replica)` and
    `return TAKEN`. It may look at the logs of the replicas that are alive. The check explores all
    states with min_isr=2: nothing that was committed may be lost, and somebody must be elected now
    and then. It also says what your rule costs.
    """
    model = with_action(spec, ELECTION, answer).bind()
    found = run(model)
    if found.violated:
        return wrong(f"After these {len(found.trace)} steps a committed message is lost:", found)
    elected = found.per_action[answer.__name__]
    if not elected:
        return wrong("It loses nothing, and never elects anybody: the partition stays offline.")
    walk = take_slides(Walk.begin(model), 46, 55)
    leads = any(each.taken and each.action.name == answer.__name__ for each in walk.attempts())
    price = "" if leads else " The price: at slide 55 nobody is elected; the partition waits."
    return right(
        f"It elected a replica in {elected:,} transitions and nothing was lost in any of"
        f" {found.distinct:,} states.{price}"
    )


@cache
def the_loss() -> Result:
    """A shortest loss under the rule of the latest offset, in logs and epochs without a bound."""
    return explore(talk.spec.bind(max_leader_epoch=None, max_log_length=None))


def moves_before_the_loss() -> int:
    """How often the leadership moves from one replica to another before the rule elects."""
    walk = Walk.along(the_loss())
    leaders: list[int] = []
    for moment in walk.path[1:]:
        walk.go_to(moment.depth)
        leader = walk.state.zk_state.leader
        if leader not in (NONE, *leaders[-1:]):
            leaders.append(leader)
    return len(leaders) - 2  # the first leads from the start, the last is the rule's


def what_looked_later() -> str:
    """Why the elected replica looked later: "later epoch" or "longer log"."""
    return {"newer": "later epoch"}.get(_in_the_way(the_loss()), "longer log")


def in_the_way_by_length() -> str:
    """What stands in the place of the committed message if only lengths are compared: an "older"
    message or a "newer" one; "safe" if nothing is lost."""
    rule = "unclean_leader_election_choose_latest_offset"
    return _in_the_way(explore(with_action(talk.spec, rule, _elect_longest_log).bind()))


def costs_with() -> str:
    """The values of min_isr with which the rule of eligible replicas elects nobody where that of
    the latest offset would elect somebody."""
    costly = []
    for min_isr in (1, 2, 3):
        model = talk.spec.bind(election_rule="eligible_leader_replicas", min_isr=min_isr)
        found = explore(model, invariants=["elects_where_latest_offset_would"])
        costly += [str(min_isr)] if found.violated else []
    return " and ".join(costly) or "none"


def _elect_longest_log(s, c, replica: talk.Replica):
    """Elect the alive replica with the longest log, whatever the epochs are."""
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not s.replica_states[c.unstable_replica].is_shutdown:
        return "the unstable replica has not died: it may be back soon"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if any(leo(s, other) > leo(s, replica) for other in s.zk_state.alive_replicas):
        return "another alive replica has a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def _in_the_way(found: Result) -> str:
    if not found.violated:
        return "safe"
    walk = Walk.along(found)
    walk.last()
    theirs, promised = log_of(walk.state, walk.state.zk_state.leader), walk.state.committed_messages
    place = common_prefix(theirs, promised)
    older = theirs[place].leader_epoch < promised[place].leader_epoch
    return "older" if older else "newer"
