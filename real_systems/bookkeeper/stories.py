"""The stories that real BookKeeper acts out, in the lessons' words, and their pictures.

What lies on a bookie can only be asked when it runs, so only the last picture has it.
"""

from typing import Any

from protocol_lab.drawing import Bar, Card, Cluster, Entry, Lane, Text, Value
from real_systems.bookkeeper.acts import Stage
from real_systems.bookkeeper.cluster import BookKeeperCluster
from real_systems.runner.stories import Run, Staging, Story


def describe(seen: dict[str, Any]) -> Cluster:
    """What the metadata say, which bookies run, and what the writer was promised."""
    last = [] if seen["last"] < 0 and seen["state"] != "CLOSED" else [str(seen["last"])]
    values = [Value("state", Text(seen["state"].lower().replace("_", " ")))]
    values += [Value("last entry", Text(each)) for each in last]
    promised = [
        Text(f"{each} is acknowledged", "good", topic=each) for each in seen["acknowledged"]
    ]
    refused = [Text(f"{each} failed", "bad", topic=each) for each in seen["failed"]]
    return Cluster(
        bars=[Bar("Ledger's metadata", values)],
        lanes=[_lane(bookie, seen) for bookie in seen["ensemble"]],
        cards=[Card("Writer A", promised + refused or [Text("nothing yet", "muted")])],
        cards_name="Clients",
        ticked="acknowledged",
        columns=3,
        axis="entry",
    )


def is_turn(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Has the ledger's state or its end changed, or what was promised?"""
    return any(before[name] != after[name] for name in ("state", "last", "acknowledged", "failed"))


def _lane(bookie: str, seen: dict[str, Any]) -> Lane:
    is_away = bookie in seen["away"]
    entries = seen["copies"].get(bookie, [])
    role = Text("away", "muted") if is_away else Text("there", "muted")
    return Lane(
        lines=[[Text(f"Bookie {bookie}", bold=True)], [role]],
        entries=[
            Entry(int(each[1:]), each, committed=each in seen["acknowledged"]) for each in entries
        ],
        badge="dead" if is_away else "",
        empty="no entries" if seen["copies"] else "",
    )


_CHECKED = {"dataIntegrityChecking": "true", "dataIntegrityStampMissingCookies": "true"}
"""BookKeeper's data-integrity check (BP-46), which is off by default."""

_NO_JOURNAL = {"journalWriteData": "false", "flushInterval": 3_600_000}
"""Entries bypass the journal, and nothing is flushed during a story."""


_CREATES = "client_creates_ledger(client=1, ensemble={1, 2})"
_ADDS = "client_sends_add_entry_requests(client=1, lost={})"
_CRASHES_OPEN = "bookie_crashes_when_ledger_open(bookie=1)"
_CRASHES_FENCED = "bookie_crashes_when_ledger_in_recovery(bookie=1)"
_CLOSES = "recovery_client_closes_ledger(client=2)"


def stage(bookies: int = 3, is_relayed: bool = False, **more: Any) -> Staging:
    """On so many bookies with these settings; the story's setting `data_integrity` switches the
    check on unless it is "off". is_relayed: can messages to them be delayed and lost?"""

    def make(run: Run) -> Stage:
        chosen = dict(more)
        if run.settings.get("data_integrity", "off") != "off":
            chosen |= _CHECKED
        cluster = BookKeeperCluster(run, bookies, chosen)
        return Stage(cluster, run, is_relayed)

    return Staging(make, describe, is_turn)


# --- A writer's close against a recovery ---------------------------------------------------------


def close_against_recovery(bk: Stage) -> None:
    """A writer closes its ledger while it is recovered: its close overrides IN_RECOVERY.

    e2 is under way to all three bookies, and nobody has confirmed it, when B begins to recover and
    A closes. B has found e2, but takes the end that A wrote: e2 lies on all bookies, unreadable. No
    scenario of the kit has this: in the original specification a writer can't close a ledger that
    is in recovery.
    """
    bk.create(3, 3, 2)
    bk.add("e0", "e1")
    bk.pause(*bk.ensemble)
    e2 = bk.add_later("e2")
    recovery = bk.recover_later()
    bk.wait_for_state("IN_RECOVERY")
    bk.fact("the writer's close", bk.close())
    bk.wait_for_state("CLOSED")
    bk.answer("e2", e2)
    bk.resume(*bk.ensemble)
    bk.fact("the recovery", bk.recovered(recovery))
    bk.read()
    bk.keep_copies()
    bk.fact("bookies with e2", bk.count_of("e2"))


def length_of_more(bk: Stage) -> None:
    """A recovery leaves an entry out, and the closed ledger's length counts it all the same.

    e1 reached the first bookie alone, and nobody has confirmed it. That bookie tells the recovery
    the length up to e1; two others, which lack e1, settle that the ledger ends before it. Each
    entry has two bytes. No model of the kit has lengths.
    """
    bk.create(3, 3, 2)
    first, *others = bk.ensemble
    bk.add("e0")
    for bookie in bk.ensemble:
        bk.wait_for_entries(bookie, 1)
    bk.pause(*others)
    e1 = bk.add_later("e1")
    bk.wait_for_entries(first, 2)
    bk.pause("A")
    bk.kill(*others)
    bk.start(*others)
    bk.fact("the recovery", bk.recover())
    bk.fact("bytes that can be read", sum(map(len, bk.read())))
    bk.fact("the ledger's length", bk.length())
    bk.resume("A")
    bk.answer("e1", e1)
    bk.fact("the writer's close", bk.close())
    bk.keep_copies()


# --- A fence that comes late ---------------------------------------------------------------------


def fence_comes_late(bk: Stage) -> None:
    """A bookie denies an entry to a recovery, stores it afterwards, and the entry is lost (#2614).

    One bookie never gets e0, one has it, and one gets it last. B's connection to that one fails
    with the fence on it; so the bookie answers B's read and is not fenced, unless the read fences,
    as it does since 4.14.0 (Maven Central has 4.14.1). B stops at the second no; the model's w2
    waits for the third answer.
    """
    bk.create(3, 3, 2, step="w1_creates_ledger(ensemble={1, 2, 3})")
    never, last, _ = bk.ensemble
    e0 = bk.add_delayed("e0", never, last, step="w1_sends_add_entry_requests(lost={1})")
    bk.lose_fence(last, step="w2_place_in_recovery(lost={3})")
    bk.recover(step="w2_closes_ledger()")
    bk.deliver(
        last,
        step="bookie_sends_add_confirmed_response(bookie=3, writer=w1, entry=1, lac=0, lost={})",
    )
    bk.answer("e0", e0, step="w1_receives_add_confirmed_response(bookie=3, entry=1)")
    bk.fact("the writer's e0", bk.last_answer)
    bk.read()
    bk.keep_copies()
    bk.fact("bookies with e0", bk.count_of("e0"))


# --- A replaced disk -----------------------------------------------------------------------------


def replaced_disk(bk: Stage) -> None:
    """One disk is replaced, the other bookie pauses, and a recovery loses acknowledged entries.

    Write quorum and ack quorum are 2. The bookie with the new disk answers "no such entry", which a
    recovery takes for the end of the ledger. In the model's run it is bookie 1, which crashes
    without a journal, and the other one has not got the entry yet.
    """
    bk.create(2, 2, 2, step=_CREATES)
    bk.add("e0", "e1", "e2", step=_ADDS)
    replaced, paused = bk.ensemble
    bk.kill("A")
    bk.stop(replaced)
    bk.pause(paused)
    bk.replace_disk(
        replaced, delete_cookie=bk.settings["data_integrity"] != "on", step=_CRASHES_OPEN
    )
    bk.fact("the first recovery", bk.recover(step=_CLOSES))
    bk.resume(paused)
    bk.recover()
    bk.read()
    bk.keep_copies()


def zombie_on_new_disks(bk: Stage) -> None:
    """A closed ledger's bookies get new disks, and its old writer adds: it is acknowledged (#4812).

    The data-integrity check copies the entries back, but it fences open ledgers only. In the
    model's run the bookie forgets the fence before the recovery ends.
    """
    bk.create(2, 2, 2, step=_CREATES)
    bk.add("e0", "e1")
    bk.recover(step=_CLOSES)
    is_checked = bk.settings["data_integrity"] == "on"
    for bookie in bk.ensemble:
        bk.stop(bookie)
        bk.replace_disk(bookie, delete_cookie=not is_checked, step=_CRASHES_FENCED)
        if is_checked:
            bk.wait_for_entries(bookie, 2)
    bk.add("e2", step=_ADDS)
    bk.read()
    bk.keep_copies()


# --- Without the journal -------------------------------------------------------------------------


def no_journal(bk: Stage) -> None:
    """journalWriteData=false, and all three bookies are killed: acknowledged entries are lost.

    In the model's run one crash is enough, since a bookie has not got the entry yet.
    """
    bk.create(3, 3, 2, step="client_creates_ledger(client=1, ensemble={1, 2, 3})")
    bk.add("e0", "e1", "e2", step=_ADDS)
    bk.kill("A")
    bk.kill(*bk.ensemble, step=_CRASHES_OPEN)
    bk.start(*bk.ensemble)
    bk.recover(step=_CLOSES)
    bk.read()
    bk.keep_copies()


def no_journal_fence(bk: Stage) -> None:
    """journalWriteData=false: fenced bookies are killed; the fence is in the journal, and is kept.

    The control removes the journal's files: then the fence is gone, too. The model's bookie has no
    journal at all, and forgets the fence before the recovery ends.
    """
    bk.create(2, 2, 2, step=_CREATES)
    bk.add("e0", "e1")
    bk.recover(step=_CLOSES)
    bk.kill(*bk.ensemble, step=_CRASHES_FENCED)
    if bk.settings["journal"] == "removed":
        for bookie in bk.ensemble:
            bk.remove_journal(bookie)
    bk.start(*bk.ensemble)
    bk.add("e2", step=_ADDS)
    bk.fact("the old writer's e2", bk.last_answer)
    bk.read()
    bk.keep_copies()


# --- A deleted ledger ----------------------------------------------------------------------------


def deleted_ledger(bk: Stage) -> None:
    """A deleted ledger's writer adds after its bookies restarted, and is acknowledged (#4462).

    On 4.17.1 it is acknowledged without a restart as well; 4.17.2 has #4462. No model of the kit
    deletes a ledger.
    """
    bk.create(2, 2, 2)
    bk.add("e0", "e1")
    bk.recover()
    bk.delete()
    bk.wait_for_garbage_collection()
    if bk.settings["restart"] == "yes":
        bk.stop(*bk.ensemble)
        bk.start(*bk.ensemble)
    bk.add("e2")
    bk.fact("the old writer's e2", bk.last_answer)


_INTEGRITY = ("off", "on", "on_and_cookie_deleted")

STORIES = [
    Story(
        close_against_recovery,
        stage(zkTimeout=30_000),
        lesson="bookkeeper/13_several_recoveries",
    ),
    Story(
        length_of_more,
        stage(),
        lesson="bookkeeper/13_several_recoveries",
    ),
    Story(
        fence_comes_late,
        stage(is_relayed=True),
        lesson="bookkeeper/02_the_fence_comes_late",
        scenario="defect_1_diagram",
    ),
    Story(
        replaced_disk,
        stage(zkTimeout=30_000),
        settings={"data_integrity": _INTEGRITY},
        lesson="bookkeeper/01_a_bookie_gets_a_new_disk",
        scenario="with_limbo_lost_entry_is_denied_two_bookies",
    ),
    Story(
        zombie_on_new_disks,
        stage(bookies=2),
        settings={"data_integrity": ("off", "on")},
        lesson="bookkeeper/01_a_bookie_gets_a_new_disk",
        scenario="with_limbo_fence_is_forgotten_two_bookies",
    ),
    Story(
        no_journal,
        stage(**_NO_JOURNAL),
        lesson="bookkeeper/01_a_bookie_gets_a_new_disk",
        scenario="with_limbo_lost_entry_is_denied_three_bookies",
    ),
    Story(
        no_journal_fence,
        stage(bookies=2, **_NO_JOURNAL),
        settings={"journal": ("kept", "removed")},
        lesson="bookkeeper/01_a_bookie_gets_a_new_disk",
        scenario="with_limbo_fence_is_forgotten_two_bookies",
    ),
    Story(
        deleted_ledger,
        stage(bookies=2, gcWaitTime=1000),
        settings={"restart": ("no", "yes")},
        lesson="bookkeeper/03_two_owners_of_one_topic",
    ),
]
