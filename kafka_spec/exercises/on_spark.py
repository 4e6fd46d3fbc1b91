"""The exercises of notebooks/spark: questions to the states of KIP-320's first try, and to those of
the truncation to the high watermark."""

from kafka_spec import kip_320_first_try, truncate_to_high_watermark
from kafka_spec.replication.model import Constants, State, presumes_leadership
from protocol_lab import HOLDS, only
from protocol_lab.semantics.transitions import evaluate, successors
from protocol_lab.spec.spec import Model
from protocol_lab.teaching.exercises import Feedback, exercise, right, run, with_invariant, wrong

spec = kip_320_first_try.spec
TWO_REPLICAS = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
CONSTANTS = {"replicas": 3, "log_size": 1, "max_records": 1, "max_leader_epoch": 2}


def count(invariant) -> int:
    """In how many reachable states an invariant fails, by the native engine."""
    found = run(with_invariant(spec, invariant).bind(**CONSTANTS), to_the_end=True)
    return found.violating[invariant.__name__]


def compared(answer, expected: int) -> Feedback:
    """The learner's number beside the count."""
    said = int(answer)
    if said == expected:
        return right(f"The native explorer counts {expected:,} as well.")
    much = "too many" if said > expected else "too few"
    return wrong(f"{said:,} are {much}: the native explorer counts another number.")


def at_most_one_leads(s: State, c: Constants):
    leading = 0
    for replica in range(1, c.replicas + 1):
        if presumes_leadership(s, replica):
            leading += 1
    return "two replicas believe that they lead" if leading > 1 else HOLDS


@exercise(
    hints=[
        "A replica believes that it leads if it is its own leader: `replica_state[1].leader = 1`.",
        "`int(...)` makes 0 or 1 of a condition, so that you can add three of them.",
    ],
    answer="""
        SELECT count(*) FROM states
        WHERE int(replica_state[1].leader = 1)
            + int(replica_state[2].leader = 2)
            + int(replica_state[3].leader = 3) >= 2
    """,
    why="A deposed leader that has not heard of it goes on as before, which is nothing special:"
    " it is so in a good part of all states. The protocol has to be safe nevertheless. This is what"
    " leader epochs are for.",
)
def count_zombies(answer) -> Feedback:
    """Count the states in which two replicas, or more, believe that they lead.

    Write a query over `states` and give the number. The check counts with the native explorer.
    """
    return compared(answer, count(at_most_one_leads))


def two_hold_what_is_committed(s: State, c: Constants):
    for replica in range(1, c.replicas + 1):
        state = s.replica_state[replica]
        if presumes_leadership(s, replica) and state.hw > 0 and state.isr == only(replica):
            return "a leader that is alone in its ISR has committed something"
    return HOLDS


@exercise(
    hints=[
        "Three things of one replica: it is its own leader, its `hw` is above 0, and the size of"
        " its own `isr` is 1. A leader is always in its ISR.",
        "`map_entries(replica_state)` makes an array of (key, value), and"
        " `exists(array, each -> condition)` asks whether one of them meets a condition.",
    ],
    answer="""
        SELECT count(*) FROM states
        WHERE exists(map_entries(replica_state),
                     r -> r.value.leader = r.key AND r.value.hw > 0 AND size(r.value.isr) = 1)
    """,
    why="The model has no `min.insync.replicas`, so an ISR of one commits by itself. A committed"
    " record needs no other copy for that: how many there are the state alone doesn't say, since a"
    " replica outside the ISR may hold it as well. But none has to.",
)
def count_lonely_promises(answer) -> Feedback:
    """Count the states in which an ISR of one has committed something.

    In how many states is there a replica that believes it leads, has a high watermark above 0, and
    is alone in its own ISR? Give the number; the check counts with the native explorer.
    """
    return compared(answer, count(two_hold_what_is_committed))


def count_steps_to_safety(model: Model) -> int:
    """How many steps leave the states from which a violation can be reached, one by one."""
    rows = [row.tobytes() for row in run(model, invariants=[]).states]
    steps = [(row, each.row) for row in rows for each in successors(model, row)]
    before: dict[bytes, list[bytes]] = {}
    for source, target in steps:
        before.setdefault(target, []).append(source)
    invariants = [each.function for each in model.spec.invariants if each.by_default]
    waiting = [row for row in rows if any(evaluate(model, row, each) for each in invariants)]
    doomed = set(waiting)
    while waiting:
        for source in before.get(waiting.pop(), []):
            if source not in doomed:
                doomed.add(source)
                waiting.append(source)
    return sum(source in doomed and target not in doomed for source, target in steps)


@exercise(
    hints=[
        "`distances` has exactly the states from which a violation can be reached.",
        "An edge whose `source` is among them and whose `target` is not: join `edges` with"
        " `distances` on the one, and keep what is `NOT IN (SELECT fingerprint FROM distances)`"
        " for the other.",
    ],
    answer="""
        SELECT count(*) FROM edges
        JOIN distances ON distances.fingerprint = edges.source
        WHERE edges.target NOT IN (SELECT fingerprint FROM distances)
    """,
    why="Group them by `edges.action`, and you see what saves a cluster: whatever uses up the last"
    " chance of an election or of a truncation at the wrong moment.",
)
def count_last_chances(answer) -> Feedback:
    """Count the steps that end the danger.

    How many edges lead from a state from which a violation can still be reached to one from which
    none can? Give the number; the check counts them one by one.
    """
    model = truncate_to_high_watermark.spec.bind(**TWO_REPLICAS)
    return compared(answer, count_steps_to_safety(model))
