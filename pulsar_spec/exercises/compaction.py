"""The exercises of the notebooks in notebooks/pulsar."""

from typing import Any

from protocol_lab import *
from protocol_lab.model.spec import Spec
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import initial
from protocol_lab.teaching.exercises import *
from pulsar_spec import compaction, compaction_v4_2
from pulsar_spec.compaction import forget_phase_one, is_kept
from pulsar_spec.exercises.crash_points import crash_points
from pulsar_spec.model import NULL_KEY, Ledger, first_in_ledger, max_compacted_ledger_id

SMALL = {"message_sent_limit": 2, "key_space": 1, "value_space": 1}

# --- 02: what compaction keeps -------------------------------------------------------------------


def compacted(topic, retain_null_key):
    import pandas as pd

    latest = topic[topic.key > 0].groupby("key").tail(1)
    keyed = latest[latest.value > 0]
    kept = pd.concat([keyed, topic[topic.key == 0]]) if retain_null_key else keyed
    return kept.sort_values("id")


@exercise(
    hints=[
        'A DataFrame has `groupby("key")`, and each group has a last row: `.tail(1)`.',
        "Messages without a key (key 0) are no group: with `retain_null_key` all of them stay, and"
        " without it none does. `pd.concat` puts two tables together.",
        "A compacted ledger keeps the order of the topic. A group's last row with the value 0"
        " deletes its key: nothing of that key is kept.",
    ],
    answer=compacted,
    why="Phase one is the groupby: it needs one entry for each key in memory, and nothing else."
    " Phase two is the selection. Two passes are the price for not holding the messages.",
)
def write_compaction(answer) -> Feedback:
    """Compact a topic with pandas.

    Write `compacted(topic, retain_null_key)`: `topic` is a DataFrame with the columns id, key and
    value, and what you return are the rows that Pulsar's compaction keeps, in the order of their
    ids. A key or value of 0 means that there is none. The check compares it with what the compactor
    writes, for every topic of three messages with two keys and one value.
    """
    import pandas as pd  # a page has none, and the other exercises

    for retain in (False, True):
        model = compaction_v4_2.spec.bind(
            value_space=1, model_producer=False, retain_null_key=retain, drops_null_values=True
        )
        for start in initial(model):
            row = start.row
            for step in ("compactor_phase_one()", "compactor_phase_two_write()"):
                row = find_step(model, row, step).row
            state = plain(view(model.layout, row))
            topic = pd.DataFrame(state["messages"])
            mine = _records(answer(topic.copy(), retain))
            written = state["compacted_ledgers"][1]["messages"]
            if mine != written:
                return wrong(
                    f"With retain_null_key={retain} and the messages\n\n{_as_text(topic)}\n\nthe"
                    f" ledger has {[each['id'] for each in written]}, and you return"
                    f" {[each['id'] for each in mine]}."
                )
    return right("The compactor keeps the same in all 2 × 216 cases.")


def _records(table) -> list[dict]:
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        raise LabError("Return a DataFrame with some of the topic's rows.")
    kept: Any = table[["id", "key", "value"]]  # again a DataFrame
    return kept.to_dict("records")


def _as_text(topic: Any) -> str:
    return "\n".join(f"    {line}" for line in topic.to_string(index=False).splitlines())


# --- 11: what is promised for messages without a key ---------------------------------------------


def no_keyless_message_is_lost(s, c):
    for k in range(s.compaction_horizon):
        id, key = s.messages[k].id, s.messages[k].key
        if key == NULL_KEY and first_in_ledger(s, s.compacted_topic_context, id) != id:
            return "a message without a key is not in the context's ledger"
    return HOLDS


def is_superseded(s, message) -> bool:
    """Has phase one read a later message without a key?"""
    return message.key == NULL_KEY and any(
        s.messages[k].key == NULL_KEY for k in range(message.id, s.phase_one_result.read_position)
    )


def compactor_phase_two_write(s, c):
    """The compactor takes "without a key" for a key: for this exercise only."""
    if s.compactor_state != "compactor_in_phase_two_write":
        return "the compactor is not about to write a ledger"
    new = max_compacted_ledger_id(s, c) + 1
    if new > c.compaction_times_limit:
        return "compaction_times_limit ledgers have been written"
    s.compacted_ledgers[new].exists = True
    for k in range(s.phase_one_result.read_position):
        if is_kept(s, c, s.messages[k]) and not is_superseded(s, s.messages[k]):
            append(s.compacted_ledgers[new].messages, s.messages[k])
    s.compactor_state = "compactor_in_phase_two_update_context"
    return TAKEN


forgetful = with_action(compaction.spec, "compactor_phase_two_write", compactor_phase_two_write)


@exercise(
    hints=[
        "Look at the second condition of `compaction_horizon_correctness`: which message does it"
        " accept in the place of a message without a key?",
        "The messages up to the horizon are `s.messages[k]` for k from 0 to"
        " `s.compaction_horizon - 1`. The ledger is"
        " `s.compacted_ledgers[s.compacted_topic_context]`, if the context is not NONE.",
        "Each of those without a key has to be there *itself*, by its id. `first_in_ledger(s,"
        " ledger, id)` gives the first id from this one on that a ledger has, and 0 if there is"
        " none.",
    ],
    answer=no_keyless_message_is_lost,
    why="The original's invariant treats the null key as a key, of which the last message stands"
    " for all. For a message without a key nothing stands. The kit has this one as"
    " `null_key_messages_are_not_lost`. In Pulsar 4.2.4 it is false by default, since"
    " `topicCompactionRetainNullKey` is off there: all of them are dropped.",
)
def say_what_is_not_lost(answer) -> Feedback:
    """Say what must not be lost.

    Write an invariant (s, c): with `retain_null_key`, each message without a key up to the horizon
    is in the context's ledger. The check explores compaction, where it must hold, and a compactor
    that keeps only the last message without a key, where it must not. The original's invariants
    don't notice that compactor.
    """
    expect_parameters(answer, "s", "c")
    size = {**SMALL, "retain_null_key": True, "max_crash_times": 0, "compaction_times_limit": 2}
    found = run(with_invariant(compaction.spec, answer).bind(**size))
    if found.violated:
        return wrong(
            f'After these {len(found.trace)} steps it says "{found.violation_reason}", and nothing'
            " is lost:",
            found,
        )
    broken = run(with_invariant(forgetful, answer).bind(**size))
    if not broken.violated:
        return wrong(
            "It holds where it should, but also where a message without a key is lost because a"
            " later one has none, either."
        )
    return right(
        f"It holds in all {found.distinct:,} states, and catches the forgetful compactor after"
        f" {len(broken.trace)} steps."
    )


# --- 11: the phases, step by step ----------------------------------------------------------------


def delete_before_the_cursor(s, c):
    """The old ledger is deleted while the cursor still names it."""
    if s.compactor_state != "compactor_in_phase_two_persist_cusror":
        return "the compactor has not updated the horizon"
    old = max_compacted_ledger_id(s, c) - 1
    if old > 0:
        s.compacted_ledgers[old] = Ledger()
    s.compactor_state = "compactor_in_phase_two_delete_ledger"
    return TAKEN


def write_the_cursor_last(s, c):
    """Horizon and context are written to disk, and the compactor starts over."""
    if s.compactor_state != "compactor_in_phase_two_delete_ledger":
        return "the compactor has not deleted the old ledger"
    s.cursor.compaction_horizon = s.compaction_horizon
    s.cursor.compacted_topic_context = s.compacted_topic_context
    forget_phase_one(s)
    return TAKEN


def _old_ledger_first() -> Spec:
    """Compaction with its last two steps the other way round."""
    name = "compactor_phase_two_delete_ledger"
    spec = with_action(compaction.spec, name, delete_before_the_cursor)
    return with_action(spec, "compactor_phase_two_persist_cusror", write_the_cursor_last)


old_ledger_first = _old_ledger_first()


# --- 01: when a crash does harm ------------------------------------------------------------------

HARMFUL = [
    "phase_two_update_context",
    "phase_two_persist_cusror",
    "phase_two_delete_ledger",
]


@exercise(
    hints=[
        "A ledger is left behind if two are on disk when the broker crashes: the old one and the"
        " new one. From when to when is that so?",
        "The new one is there as soon as it is written. The old one goes in the last step.",
    ],
    answer=HARMFUL,
    why="From the writing of the new ledger to the deletion of the old one there are two ledgers on"
    " disk, and the cursor names only one. The next broker knows what the cursor names, and nobody"
    " will ever delete the other.",
)
def name_the_crash_points(answer) -> Feedback:
    """Name the moments.

    In which states of the model's compactor may a crash leave a compacted ledger behind forever? A
    state has the name of the step that comes next. (In the model a crash in `phase_two_write` comes
    before there is a ledger.) Give a list of names, such as `["phase_one"]`. The check crashes in
    every reachable state.
    """
    # The original's name has a letter out of place.
    answer = [str(each).replace("persist_cursor", "persist_cusror") for each in answer]
    # The rules of Pulsar 4.2.4.
    rules = {"deletes_previous_context": True, "updates_together": True, "trims_topic": True}
    table = crash_points(compaction_v4_2.spec.bind(**SMALL, **rules, retain_null_key=True))
    unknown = sorted(set(answer) - set(table.index))
    if unknown:
        known = ", ".join(table.index)
        raise LabError(f"There is no state {unknown[0]!r}; there are: {known}.")
    harmful = set(table.index[table["ledger left behind"] > 0])
    too_many, missing = sorted(set(answer) - harmful), sorted(harmful - set(answer))
    if too_many:
        return wrong(f"A crash in {too_many[0]} leaves nothing behind, in any reachable state.")
    if missing:
        return wrong(f"{len(missing)} more: one of them is {missing[0]}.")
    return right(f"In {len(harmful)} of {len(table)} states of the compactor.")


# --- 12: fix it ---------------------------------------------------------------------------------


def compactor_phase_two_update_context(s, c):
    if s.compactor_state != "compactor_in_phase_two_update_context":
        return "the compactor is not about to update the context"
    s.compacted_topic_context = max_compacted_ledger_id(s, c)
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = "compactor_in_phase_two_persist_cusror"
    return TAKEN


@exercise(
    hints=[
        "What does a consumer find between the two updates? The picture shows messages with two ✓"
        " in their column.",
        "If the horizon comes first, it promises for a moment what the old ledger does not have.",
        "No order of two steps is right, so it has to be one step: set both in this action. The"
        " horizon is `s.phase_one_result.read_position`.",
    ],
    answer=compactor_phase_two_update_context,
    why="Two values that mean something only together have to change together. Whether the update"
    " of the horizon still follows, and changes nothing, does not matter.",
)
def update_both_at_once(answer) -> Feedback:
    """Leave no moment in between.

    Rewrite `compactor_phase_two_update_context` so that no consumer receives anything twice. The
    check explores two messages that are kept without a key, with a consumer that reads the ledger
    and then the topic. Nothing that the horizon promises may be missing, either.
    """
    model = compaction.spec.bind(
        **SMALL,
        compaction_times_limit=2,
        retain_null_key=True,
        model_consumer=True,
        consume_times_limit=1,
        consumer_reads="ledger_then_topic",
    )
    return repair(
        model,
        "compactor_phase_two_update_context",
        answer,
        invariants=[
            "duplicate_null_key_message",
            "compaction_horizon_correctness",
            "deleted_keys_stay_deleted",
        ],
    )


def broker_crash(s, c):
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context
    for ledger in range(1, c.compaction_times_limit + 1):
        if ledger != s.cursor.compacted_topic_context:
            s.compacted_ledgers[ledger] = Ledger()
    return TAKEN


def a_crash_is_survived(s, c):
    """After a crash consumers are served a ledger that was there before."""
    return s.crash_times > 0 and s.compacted_topic_context > 0


@exercise(
    hints=[
        "Which of the ledgers on disk will be used after the crash? The cursor says it.",
        "`s.compacted_ledgers[ledger] = Ledger()` deletes one; they count from 1 to"
        " `c.compaction_times_limit`.",
        "The largest is not always the one to delete: if the cursor was written already, it is the"
        " one before.",
    ],
    answer=broker_crash,
    why="The new broker deletes all that the cursor does not name. Here it can see which ledgers"
    " there are; in Pulsar it can't, unless somebody has written down which ones might be: that is"
    " what `pulsar.compaction_leak_fixed` does, at the price of one more write.",
)
def clean_up_after_a_crash(answer) -> Feedback:
    """Clean up after a crash.

    Rewrite `broker_crash` so that the next broker deletes what nobody will ever use. The check
    looks at two crashes: `compacted_ledger_leak` must hold, no ledger may be left over while the
    compactor rests, and the one that the cursor names must still be there.
    """
    return repair(
        compaction.spec.bind(**SMALL, max_crash_times=2),
        "broker_crash",
        answer,
        invariants=[
            "compacted_ledger_leak",
            "between_compactions_one_ledger_exists",
            "compaction_horizon_correctness",
        ],
        must_reach=[a_crash_is_survived],
    )
