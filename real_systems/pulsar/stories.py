"""The stories that real Pulsar acts out, in the lessons' words, and their pictures."""

from typing import Any

from protocol_lab.drawing import Bar, Cluster, Entry, Lane, Text, Value
from real_systems.pulsar.acts import Stage
from real_systems.pulsar.cluster import PulsarCluster
from real_systems.runner.stories import Run, Staging, Story


def describe(seen: dict[str, Any]) -> Cluster:
    """What the cursor names, which ledgers compactions wrote, and who is served what.

    seen: `sent`, key and value of each message; `kept_from`, the number of the first that the topic
    still has; `acknowledged`; `served`, what a reader of the compacted topic got last, None if none
    has read yet; `named`, the ledger that the cursor names; `ledgers`, the id and state of each.
    """
    return Cluster(
        bars=[
            Bar("Compaction", [Value("the cursor names", _ledger(seen["named"])), *_states(seen)])
        ],
        lanes=[_topic(seen), _reader(seen)],
        columns=max(3, len(seen["sent"])),
        axis="message",
        first=1,
        ticked="promised",
        removed="gone",
    )


def is_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has a ledger come, gone or been named, is the topic trimmed, or is a reader served others?"""
    return any(before[name] != after[name] for name in ("named", "ledgers", "kept_from", "served"))


def _ledger(named: int | None) -> Text:
    return Text("nothing", "muted") if named is None else Text(f"ledger {named}", bold=True)


def _states(seen: dict[str, Any]) -> list[Value]:
    known = [Value(f"ledger {number}", Text(state.lower())) for number, state in seen["ledgers"]]
    if seen["named"] is not None and seen["named"] not in dict(seen["ledgers"]):
        known.append(Value(f"ledger {seen['named']}", Text("deleted", "bad")))
    return known


def _topic(seen: dict[str, Any]) -> Lane:
    return Lane(
        lines=[[Text("The topic", bold=True)]],
        entries=[
            Entry(
                number,
                value,
                detail=f"key {key}" if key else "no key",
                committed=value in seen["acknowledged"],
            )
            for number, (key, value) in enumerate(seen["sent"])
            if number >= seen["kept_from"] - 1
        ],
        empty="trimmed: no messages",
    )


def _reader(seen: dict[str, Any]) -> Lane:
    numbers = {value: number for number, (_, value) in enumerate(seen["sent"])}
    served = seen["served"]
    return Lane(
        lines=[[Text("Compacted reader", bold=True)]],
        entries=[
            Entry(numbers[value], value, committed=value in seen["acknowledged"])
            for value in served or []
        ],
        empty="has not read yet" if served is None else "gets nothing",
    )


def stage(**given: Any) -> Staging:
    """On a broker with these settings; the story's own `retain_null_key` switches
    topicCompactionRetainNullKey on."""

    def make(run: Run) -> Stage:
        chosen = dict(given)
        if run.settings.get("retain_null_key") == "on":
            chosen["topicCompactionRetainNullKey"] = "true"
        return Stage(PulsarCluster(run, chosen), run)

    return Staging(make, describe, is_turn)


def message_without_a_key(pulsar: Stage) -> None:
    """Compaction drops a message without a key, unless topicCompactionRetainNullKey is set.

    Its producer was answered as for any other message, and a reader of the whole topic gets it.
    """
    pulsar.send("n1", step="producer(input_key=0, input_value=1)")
    pulsar.send("a1", key="a", step="producer(input_key=1, input_value=1)")
    pulsar.send("a2", key="a", step="producer(input_key=1, input_value=2)")
    pulsar.fact("read before the compaction", " ".join(pulsar.read()))
    pulsar.compact(step="compactor_phase_two_write()")
    pulsar.read()
    pulsar.fact("read without compaction", " ".join(pulsar.read(compacted=False)))


def deletion_is_missed(pulsar: Stage) -> None:
    """A reader stops, a key is deleted, the topic is compacted: the reader never learns of it.

    It goes on where it stopped (#26190). A reader of the whole topic gets the deletion there. No
    scenario of the kit has this.
    """
    pulsar.send("a1", key="a")
    pulsar.read()
    pulsar.send("", key="a")
    pulsar.send("b1", key="b")
    pulsar.compact()
    pulsar.fact("read on without compaction", " ".join(pulsar.read(compacted=False, goes_on=True)))
    pulsar.read(goes_on=True)


def compactor_dies(pulsar: Stage) -> None:
    """The compactor is killed while it writes: readers keep the old view, its ledger stays open.

    The next compaction succeeds with a ledger of its own, and nobody deletes the unfinished one.
    """
    pulsar.send("a1", key="a", step="producer(input_key=1, input_value=1)")
    pulsar.send_many(500, 40_000)  # so that writing takes long enough to be interrupted
    pulsar.compact(step="compactor_phase_two_persist_cusror()")
    pulsar.send("a2", key="a", step="producer(input_key=1, input_value=2)")
    unfinished = pulsar.kill_compactor(step="compactor_phase_two_write()")
    pulsar.fact("read after its death", " ".join(pulsar.read()))
    pulsar.restart_broker(step="broker_crash()")
    pulsar.fact("the next compaction", pulsar.compact(step="compactor_phase_two_write()"))
    pulsar.read()
    pulsar.fact("the unfinished ledger in the end", pulsar.state_of(unfinished))


def lost_compacted_ledger(pulsar: Stage) -> None:
    """The topic is trimmed and its compacted ledger is lost: a reader gets nothing, and no error.

    Not even what is sent afterwards. The broker logs an error; a reader of the whole topic goes on.
    """
    pulsar.subscribe()
    pulsar.send("a1", key="a", step="producer(input_key=1, input_value=1)")
    pulsar.send("b1", key="b", step="producer(input_key=2, input_value=1)")
    pulsar.send("a2", key="a", step="producer(input_key=1, input_value=2)")
    pulsar.compact(step="compactor_phase_two_persist_cusror()")
    pulsar.acknowledge_all()
    pulsar.trim(step="topic_is_trimmed()")
    pulsar.fact("read after the trim", " ".join(pulsar.read()))
    pulsar.delete_compacted_ledger(step="compactor_hears_of_a_failure()")
    pulsar.restart_broker()
    pulsar.send("c1", key="c")
    pulsar.read(seconds=_BROKER_RETRIES)
    pulsar.fact("read without compaction", " ".join(pulsar.read(compacted=False)))
    pulsar.fact("internal statistics", pulsar.statistics())
    pulsar.fact("the broker logs", "an error" if pulsar.keep_lines(_NO_LEDGER) else "no")


_BROKER_RETRIES = 20
"""Seconds after which the broker has tried again to read what it could not."""

_NO_LEDGER = "Error reading entries .*o such ledger.*seconds"

STORIES = [
    Story(
        message_without_a_key,
        stage(),
        settings={"retain_null_key": ("off", "on")},
        lesson="pulsar/02_what_may_a_reader_rely_on",
        scenario="null_key_is_dropped",
    ),
    Story(
        deletion_is_missed,
        stage(),
        lesson="pulsar/02_what_may_a_reader_rely_on",
    ),
    Story(
        compactor_dies,
        stage(),
        lesson="pulsar/01_nothing_and_no_error",
        scenario="unfinished_ledger_stays",
    ),
    Story(
        lost_compacted_ledger,
        stage(managedLedgerMaxEntriesPerLedger=3),
        lesson="pulsar/01_nothing_and_no_error",
        scenario="lost_answer_loses_the_ledger",
    ),
]
