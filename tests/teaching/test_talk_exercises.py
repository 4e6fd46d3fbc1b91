"""The exercises of kafka/03, kafka/04 and spark: the worked answers pass, plausible wrong ones
don't."""

import pytest

from kafka_spec.exercises import async_isr, on_spark, the_talk
from kafka_spec.unclean_leader_election import is_isr_dead, lead_alone, leo
from protocol_lab import HOLDS, NONE, TAKEN, smallest
from protocol_lab.explore import explore
from protocol_lab.spark.distances import steps_to
from protocol_lab.spark.session import local_session

# --- Lose a message --------------------------------------------------------------------------


def test_lose_a_message_in_par():
    feedback = the_talk.lose_a_message.check(the_talk.lose_a_message.answer)
    assert feedback.passed
    assert "7 steps, which is par" in feedback.text


def test_a_longer_loss_is_told_par():
    answer = """
        swap_preferred_leader(replica=3)
        produce_message(replica=1, producer=1)
        replicate(replica=3, entries=1)
        become_out_of_sync(replica=2)
        produce_message(replica=1, producer=2)
        become_out_of_sync(replica=3)
        unstable_replica_dies_when_leader()
        unclean_leader_election_choose_first_alive(replica=2)
    """
    feedback = the_talk.lose_a_message.check(answer)
    assert "8 steps; par is 7" in feedback.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        # Nobody but the leader ever had the message: it was not committed.
        (
            """
            produce_message(replica=1, producer=1)
            unstable_replica_dies_when_leader()
            elect_new_leader(replica=2)
            """,
            "nothing that was committed is lost",
        ),
        # A follower that lacks nothing can't fall out of the ISR.
        (
            """
            produce_message(replica=1, producer=1)
            replicate(replica=2, entries=1)
            replicate(replica=3, entries=1)
            become_out_of_sync(replica=2)
            """,
            "Step 4: become_out_of_sync(replica=2) can't happen here",
        ),
    ],
)
def test_lose_a_message_and_fail(answer, said):
    feedback = the_talk.lose_a_message.check(answer)
    assert not feedback.passed
    assert said in feedback.text


# --- Slide 32 ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_somebody_has_it():
    feedback = the_talk.somebody_has_it.check(the_talk.somebody_has_it.answer)
    assert feedback.passed
    assert "under latest_offset it holds" in feedback.text
    assert "under first_alive it fails after 8 steps" in feedback.text


def the_isr_is_large_enough(s, c):
    return HOLDS if len(s.zk_state.isrs) >= c.min_isr else "the ISR is too small"


def somebody_has_as_many(s, c):
    longest = max(leo(s, replica) for replica in range(1, c.replicas + 1))
    return HOLDS if longest >= len(s.committed_messages) else "all logs are too short"


@pytest.mark.slow
@pytest.mark.parametrize("answer", [the_isr_is_large_enough, somebody_has_as_many])
def test_somebody_has_it_and_fail(answer):
    feedback = the_talk.somebody_has_it.check(answer)
    assert not feedback.passed
    assert feedback.steps


# --- Save offset 1 -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        the_talk.save_offset_1.answer,
        "become_follower(replica=2)\nreplicate(replica=2, entries=1)  # and it has offset 1 too",
    ],
)
def test_save_offset_1(answer):
    feedback = the_talk.save_offset_1.check(answer)
    assert feedback.passed, feedback.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("become_follower(replica=3)", "lost all the same"),
        ("swap_preferred_leader(replica=3)", "lost all the same"),
        ("replicate(replica=2, entries=1)", "has not become a follower"),
        ("# nothing", "no step"),
    ],
)
def test_save_offset_1_and_fail(answer, said):
    feedback = the_talk.save_offset_1.check(answer)
    assert not feedback.passed
    assert said in feedback.text


# --- min.insync.replicas -------------------------------------------------------------------------


def test_safe_min_isr():
    feedback = the_talk.safe_min_isr.check(the_talk.safe_min_isr.answer)
    assert feedback.passed
    assert "min_isr=1: a loss in 5 steps" in feedback.text
    assert "min_isr=2: a loss in 15 steps" in feedback.text


@pytest.mark.parametrize(
    ("answer", "steps", "said"),
    [({2, 3}, 15, "these 15 steps"), ({1, 3}, 5, "these 5 steps"), (set(), 0, "3 is one")],
)
def test_safe_min_isr_and_fail(answer, steps, said):
    feedback = the_talk.safe_min_isr.check(answer)
    assert not feedback.passed
    assert len(feedback.steps) == steps
    assert said in feedback.text


# --- An election rule --------------------------------------------------------------------------


@pytest.mark.slow
def test_elect_safely():
    feedback = the_talk.elect_safely.check(the_talk.elect_safely.answer)
    assert feedback.passed
    assert "nothing was lost in any of 169,404 states" in feedback.text
    assert "at slide 55 nobody is elected" in feedback.text


def elect_the_first(s, c, replica):
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if replica != smallest(s.zk_state.alive_replicas):
        return "another one comes first"
    lead_alone(s, c, replica)
    return TAKEN


def elect_the_longest_log(s, c, replica):
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if any(leo(s, other) > leo(s, replica) for other in s.zk_state.alive_replicas):
        return "another one has a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def elect_an_eligible_one(s, c, replica):
    """The rule of KIP-966, which the notebook has shown: here there is no list."""
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if replica not in s.zk_state.eligible:
        return "the replica is not eligible"
    lead_alone(s, c, replica)
    return TAKEN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (elect_the_first, "these 7 steps"),
        (elect_the_longest_log, "these 14 steps"),
        (elect_an_eligible_one, "never elects anybody"),
    ],
)
def test_elect_safely_and_fail(answer, said):
    feedback = the_talk.elect_safely.check(answer)
    assert not feedback.passed
    assert said in feedback.text


# --- AsyncIsr: the high watermark --------------------------------------------------------------


def own_isr_only(s):
    return min(s.leader_state.offsets[replica] for replica in s.leader_state.isr)


def all_replicas(s):
    return min(s.leader_state.offsets[replica] for replica in range(1, 4))


def what_was_asked_for(s):
    return min(s.leader_state.offsets[replica] for replica in s.leader_state.pending_isr)


def test_write_the_high_watermark():
    exercise = async_isr.write_the_high_watermark
    feedback = exercise.check(exercise.answer)
    assert feedback.passed
    assert "22,456 states" in feedback.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (own_isr_only, "these 6 steps"),
        (all_replicas, "one slow replica stops everybody"),
        (what_was_asked_for, "min() of nothing"),
    ],
)
def test_write_the_high_watermark_and_fail(answer, said):
    feedback = async_isr.write_the_high_watermark.check(answer)
    assert not feedback.passed
    assert said in feedback.text


# --- AsyncIsr: the version ---------------------------------------------------------------------


def test_abuse_an_old_request():
    exercise = async_isr.abuse_an_old_request
    feedback = exercise.check(exercise.answer)
    assert feedback.passed
    assert "6 steps, which is par" in feedback.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        # Both still count replica 3: the leader because it has asked.
        (
            """
            controller_shrink_isr(replica=3)
            leader_handle_update(update=Message(isr={1, 2}))
            leader_request_expand_isr(replica=3)
            controller_handle_request(message=Message(isr={1, 2, 3}))
            leader_write()
            follower_replicate(replica=2)
            """,
            "still valid",
        ),
        # Nobody has asked for this ISR.
        (
            """
            controller_shrink_isr(replica=2)
            controller_handle_request(message=Message(isr={1, 3}))
            """,
            "Step 2",
        ),
    ],
)
def test_abuse_an_old_request_and_fail(answer, said):
    feedback = async_isr.abuse_an_old_request.check(answer)
    assert not feedback.passed
    assert said in feedback.text


# --- Spark: questions to the states ------------------------------------------------------------


@pytest.fixture(scope="module")
def asked():
    """What a query over the states of the notebook's search answers."""
    model = on_spark.spec.bind(**on_spark.CONSTANTS)
    found = explore(model, engine="spark", invariants=[], progress=False)
    session = local_session()
    found.search.states(session).cache().createOrReplaceTempView("states")
    return lambda query: session.sql(query).first()[0]


@pytest.mark.rarely
@pytest.mark.spark
@pytest.mark.parametrize(
    "exercise", [on_spark.count_zombies, on_spark.count_lonely_promises], ids=lambda each: each.name
)
def test_the_worked_query_counts_what_the_native_explorer_counts(asked, exercise):
    feedback = exercise.check(asked(exercise.answer))
    assert feedback.passed, feedback.text


@pytest.mark.rarely
@pytest.mark.spark
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
    ],
)
def test_another_query_does_not(asked, exercise, query, said):
    feedback = exercise.check(asked(query))
    assert not feedback.passed
    assert said in feedback.text


@pytest.fixture(scope="module")
def asked_backwards(tmp_path_factory):
    """What a query answers over the tables of spark/03's search, and how far a violation is."""
    folder = tmp_path_factory.mktemp("tables")
    model = on_spark.truncate_to_high_watermark.spec.bind(**on_spark.TWO_REPLICAS)
    session = local_session()
    found = explore(model, engine="spark", to_the_end=True, session=session, progress=False)
    found.search.save(folder, session)
    steps_to(session, folder).createOrReplaceTempView("distances")
    session.read.parquet(str(folder / "edges")).createOrReplaceTempView("edges")
    return lambda query: session.sql(query).first()[0]


@pytest.mark.rarely
@pytest.mark.spark
def test_the_steps_that_end_the_danger(asked_backwards):
    feedback = on_spark.count_last_chances.check(
        asked_backwards(on_spark.count_last_chances.answer)
    )
    assert feedback.passed, feedback.text
    from_safety = """SELECT count(*) FROM edges
                     WHERE target NOT IN (SELECT fingerprint FROM distances)"""
    feedback = on_spark.count_last_chances.check(asked_backwards(from_safety))
    assert not feedback.passed
    assert "too many" in feedback.text


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


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (on_spark.keep_what_is_new, with_doubles, "State 2 comes 2 times: parents 10, 11."),
        (on_spark.keep_what_is_new, whichever_comes, "State 2 has the parents 10 and 11"),
        (on_spark.keep_what_is_new, lambda candidates, seen: candidates, "State 1 was seen"),
        (on_spark.average_a_hot_key, mean_of_means, "their mean is 2.0, not 4.0"),
        (on_spark.average_a_hot_key, all_at_once, "all rows of the hot key went to one task"),
        (on_spark.average_a_hot_key, lambda rows: 4, "Return a DataFrame"),
    ],
)
def test_wrong_tables_are_told_what_is_wrong(exercise, answer, said):
    feedback = exercise.check(answer)
    assert not feedback.passed
    assert said in feedback.text


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "exercise", [on_spark.keep_what_is_new, on_spark.average_a_hot_key], ids=lambda each: each.name
)
def test_the_worked_tables_are_right(exercise):
    feedback = exercise.check(exercise.answer)
    assert feedback.passed, feedback.text
