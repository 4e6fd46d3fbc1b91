"""The exercises of notebooks/spark: questions to the states of a spec, and work on tables."""

from contextlib import redirect_stdout
from io import StringIO

from kafka_spec import kip_320_first_try
from kafka_spec.model import Constants, State, presumes_leadership
from protocol_lab import *
from protocol_lab.model.spec import Model
from protocol_lab.spark.session import local_session
from protocol_lab.teaching.exercises import *

spec = kip_320_first_try.spec
CONSTANTS = {"replicas": 3, "log_size": 1, "max_records": 1, "max_leader_epoch": 2}


def count(invariant) -> int:
    """In how many reachable states an invariant fails, by the native engine."""
    found = run(with_invariant(spec, invariant).bind(**CONSTANTS), to_the_end=True)
    return found.violating[invariant.__name__]


def compared(answer, expected: int) -> Feedback:
    """The learner's number beside the count."""
    number = int(answer)
    if number == expected:
        return right(f"The native explorer counts {expected:,} as well.")
    much = "too many" if number > expected else "too few"
    return wrong(f"{number:,} are {much}: the native explorer counts another number.")


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


def nobody_commits_alone(s: State, c: Constants):
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
    return compared(answer, count(nobody_commits_alone))


def count_steps_to_safety(model: Model) -> int:
    """How many steps leave the states from which a violation can be reached: native."""
    from protocol_lab.distance.nearest_violation import Nearness  # it needs Numba

    nearest = Nearness(model)
    nearest.prepare()
    distances = nearest.map
    assert distances is not None  # so few states fit into memory
    can_go_wrong = distances.steps >= 0
    sources, targets = distances.graph.steps()
    return int((can_go_wrong[sources] & ~can_go_wrong[targets]).sum())


@exercise(
    hints=[
        "`distances` has exactly the states from which a violation can be reached.",
        "An edge whose `source` is among them and whose `target` is not: a semi-join of `edges`"
        " with `distances` on the one, and an anti-join on the other. Give `distances` a name in"
        " each: `distances a`, `distances b`.",
    ],
    answer="""
        SELECT count(*) FROM edges
        LEFT SEMI JOIN distances a ON a.fingerprint = edges.source
        LEFT ANTI JOIN distances b ON b.fingerprint = edges.target
    """,
    why="`NOT IN` gives the same number here, but one null in its subquery, and nothing is left."
    " Group the steps by `edges.action`, and you see what saves a cluster: whatever uses up the"
    " last chance of an election or of a truncation at the wrong moment.",
)
def count_last_chances(answer) -> Feedback:
    """Count the steps that end the danger.

    How many edges lead from a state from which a violation can still be reached to one from which
    none can? Give the number; the check counts with the native explorer.
    """
    return compared(answer, count_steps_to_safety(spec.bind(**CONSTANTS)))


# --- A level as DataFrame operations -----------------------------------------------------------


def new_states(candidates, seen):
    from pyspark.sql import functions as F

    once = candidates.groupBy("fingerprint").agg(F.min("parent").alias("parent"))
    return once.join(seen, "fingerprint", "left_anti")


CANDIDATES = [(1, 10), (2, 11), (2, 10), (3, 12), (4, 9), (4, 11), (4, 9)]
SEEN = {1, 3}


@exercise(
    hints=[
        "What was seen has to go: that is an anti-join, and the first attempt has it. But a state"
        " may be reached from several states of the level before.",
        "`dropDuplicates` keeps *some* row of each fingerprint, whichever comes first in that run."
        " A search that is repeated must come to the same states with the same parents.",
        '`groupBy("fingerprint").agg(F.min("parent").alias("parent"))`, with'
        " `import pyspark.sql.functions as F`. A window with `row_number()` does as well.",
    ],
    answer=new_states,
    why="Two shuffles at most: one for the `groupBy` and one for the join, if the seen states are"
    " too many to be broadcast. The search gets along with one: *owner-computes* is this join"
    " without a shuffle of `seen`, since its owner reads it from the folder.",
)
def keep_what_is_new(answer) -> Feedback:
    """Keep what is new.

    Write `new_states(candidates, seen)` with DataFrame operations. `candidates` has the columns
    fingerprint and parent: what a level has generated. `seen` has the column fingerprint. Return
    each state that was not seen once, with its smallest parent: the same in every run.
    """
    expect_parameters(answer, "candidates", "seen")
    session = local_session()
    candidates = session.createDataFrame(CANDIDATES, "fingerprint long, parent long")
    seen = session.createDataFrame([(each,) for each in SEEN], "fingerprint long")
    found = sorted(_collected(answer(candidates, seen), "fingerprint", "parent"))
    states = [state for state, _ in found]
    for state, parent in found:
        if state in SEEN:
            return wrong(f"State {state} was seen before: it is not new.")
        if states.count(state) > 1:
            parents = ", ".join(str(each) for other, each in found if other == state)
            return wrong(f"State {state} comes {states.count(state)} times: parents {parents}.")
        least = min(each for other, each in CANDIDATES if other == state)
        if parent != least:
            return wrong(f"State {state} has the parents {least} and {parent}: keep {least}.")
    missing = {state for state, _ in CANDIDATES} - SEEN - set(states)
    if missing:
        return wrong(f"State {min(missing)} is new, and it is missing.")
    return right(f"{len(CANDIDATES)} candidates, of which {len(found)} states are new.")


def _collected(table, *columns: str) -> list[tuple]:
    """The rows of a DataFrame of Spark's. Raises LabError for anything else."""
    if not hasattr(table, "collect"):
        raise LabError("Return a DataFrame: what groupBy, agg, join and select give.")
    lacking = [each for each in columns if each not in table.columns]
    if lacking:
        raise LabError(f"The DataFrame has no column {lacking[0]}; it has {table.columns}.")
    return [tuple(row) for row in table.select(*columns).collect()]


def mean_by_key(rows):
    from pyspark.sql import functions as F

    parts = rows.groupBy("key", "salt").agg(F.sum("value").alias("sum"), F.count("*").alias("rows"))
    return parts.groupBy("key").agg((F.sum("sum") / F.sum("rows")).alias("mean"))


VALUES = [("hot", 0, 0), ("hot", 0, 0), ("hot", 0, 0), ("hot", 1, 8), ("cold", 0, 5)]


@exercise(
    hints=[
        "The mean of two means is not the mean of all rows, unless both parts are equally large.",
        "Which two numbers of each part are enough to compute the mean of the whole?",
        'First `rows.groupBy("key", "salt").agg(F.sum("value").alias("sum"),'
        ' F.count("*").alias("rows"))`, then the same by key.',
    ],
    answer=mean_by_key,
    why="Sums and counts can be put together in any order, and means can't. Spark does the same"
    " within each task before it shuffles (`partial_avg` in the plan is a sum and a count); a salt"
    " is needed where the *rows* have to be together, as in a join or in `applyInPandas`.",
)
def average_a_hot_key(answer) -> Feedback:
    """Average a hot key.

    Write `mean_by_key(rows)`: `rows` has the columns key, salt and value, and one key has most of
    the rows. Return a DataFrame with the columns key and mean, in two steps: first by key *and*
    salt, then by key. (Spark's own `mean` does that within its tasks. Write it out.)
    """
    expect_parameters(answer, "rows")
    rows = local_session().createDataFrame(VALUES, "key string, salt long, value long")
    table = answer(rows)
    for key, mean in sorted(_collected(table, "key", "mean")):
        values = [value for other, _, value in VALUES if other == key]
        expected = sum(values) / len(values)
        if abs(mean - expected) > 1e-9:
            return wrong(
                f"The values of {key!r} are {values}: their mean is {expected}, not {mean}."
            )
    if table.count() != 2:
        return wrong(f"There are two keys, and your table has {table.count()} rows.")
    with redirect_stdout(StringIO()) as plan:
        table.explain()
    grouped = [line for line in plan.getvalue().splitlines() if "Aggregate(" in line]
    if not any("salt" in line for line in grouped):
        return wrong("The means are right, but made in one step: group by key and salt first.")
    return right("The mean of each key, from a sum and a count of each part.")
