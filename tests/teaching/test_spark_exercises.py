"""The exercises of spark: the worked answers pass, plausible wrong ones don't."""

import pytest

from kafka_spec.exercises import on_spark
from protocol_lab.explore import explore
from protocol_lab.spark.dataframes import steps_to
from protocol_lab.spark.session import local_session

pytestmark = [pytest.mark.rarely, pytest.mark.spark]

# --- Spark: questions to the states ------------------------------------------------------------


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What a query answers over the tables of the notebook's search."""
    folder, session = tmp_path_factory.mktemp("tables"), local_session()
    model = on_spark.spec.bind(**on_spark.CONSTANTS)
    found = explore(model, engine="spark", to_the_end=True, session=session, progress=False)
    found.search.save(folder, session)
    for name in ("states", "edges"):
        session.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    steps_to(session, folder).createOrReplaceTempView("distances")
    return lambda query: session.sql(query).first()[0]


@pytest.mark.parametrize(
    "exercise",
    [on_spark.count_zombies, on_spark.count_lonely_promises, on_spark.count_last_chances],
    ids=lambda each: each.name,
)
def test_the_worked_query_counts_what_the_native_explorer_counts(asked, exercise):
    feedback = exercise.check(asked(exercise.answer))
    assert feedback.passed, feedback.text


@pytest.mark.parametrize(
    ("exercise", "query", "said"),
    [
        (
            on_spark.count_zombies,
            """SELECT count(*) FROM states WHERE int(replica_state[1].leader = 1)
               + int(replica_state[2].leader = 2) + int(replica_state[3].leader = 3) >= 1""",
            "too many",
        ),
        (
            on_spark.count_zombies,
            """SELECT count(*) FROM states
               WHERE replica_state[1].leader = 1 AND replica_state[2].leader = 2""",
            "too few",
        ),
        (
            on_spark.count_lonely_promises,
            "SELECT count(*) FROM states WHERE size(quorum_state.isr) = 1",
            "too many",
        ),
        (
            on_spark.count_lonely_promises,
            """SELECT count(*) FROM states WHERE replica_state[1].leader = 1
               AND replica_state[1].hw > 0 AND size(replica_state[1].isr) = 1""",
            "too few",
        ),
        (
            on_spark.count_last_chances,
            """SELECT count(*) FROM edges
               LEFT ANTI JOIN distances ON distances.fingerprint = edges.target""",
            "too many",
        ),
    ],
)
def test_another_query_does_not(asked, exercise, query, said):
    feedback = exercise.check(asked(query))
    assert not feedback.passed
    assert said in feedback.text


# --- Spark: work on tables ---------------------------------------------------------------------


def with_doubles(candidates, seen):
    return candidates.join(seen, "fingerprint", "left_anti")


def whichever_comes(candidates, seen):
    largest_first = candidates.orderBy(candidates.parent.desc()).coalesce(1)
    return with_doubles(largest_first, seen).dropDuplicates(["fingerprint"])


def mean_of_means(rows):
    parts = rows.groupBy("key", "salt").avg("value")
    return parts.groupBy("key").avg("avg(value)").withColumnRenamed("avg(avg(value))", "mean")


def all_at_once(rows):
    return rows.groupBy("key").avg("value").withColumnRenamed("avg(value)", "mean")


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (on_spark.keep_what_is_new, with_doubles, "State 2 comes 2 times: parents 10, 11."),
        (on_spark.keep_what_is_new, whichever_comes, "State 2 has the parents 10 and 11"),
        (on_spark.keep_what_is_new, lambda candidates, seen: candidates, "State 1 was seen"),
        (on_spark.average_a_hot_key, mean_of_means, "their mean is 2.0, not 4.0"),
        (on_spark.average_a_hot_key, all_at_once, "made in one step: group by key and salt first"),
        (on_spark.average_a_hot_key, lambda rows: 4, "Return a DataFrame"),
    ],
)
def test_wrong_tables_are_told_what_is_wrong(exercise, answer, said):
    feedback = exercise.check(answer)
    assert not feedback.passed
    assert said in feedback.text


@pytest.mark.parametrize(
    "exercise", [on_spark.keep_what_is_new, on_spark.average_a_hot_key], ids=lambda each: each.name
)
def test_the_worked_tables_are_right(exercise):
    feedback = exercise.check(exercise.answer)
    assert feedback.passed, feedback.text
