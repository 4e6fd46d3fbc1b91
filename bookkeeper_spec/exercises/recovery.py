"""The exercises of notebooks/bookkeeper/02_recovery_and_fencing."""

from bookkeeper_spec import v4_13
from bookkeeper_spec.quorum_coverage import every_ack_quorum_has_one
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = v4_13.spec
SMALL = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2, "recovery_reads_fence": "true"}

# --- Coverage ----------------------------------------------------------------------------------


def is_covered(fenced, ensemble, ack_quorum):
    return len(ensemble) - len(fenced) < ack_quorum


@exercise(
    hints=[
        "Turn it round: how many bookies may be unfenced, at the most, so that they are no ack"
        " quorum?",
        "`len(fenced)` counts, and `ensemble & ~fenced` are those of the"
        " ensemble that are not fenced.",
    ],
    answer=is_covered,
    why="Fewer unfenced bookies than an ack quorum: the shortest of the four definitions in the"
    " specification, and the one that BookKeeper's code has (`RRQuorumCoverageSet.checkCovered`)."
    " The other three say the same, for every ensemble of up to six bookies.",
)
def say_when_a_ledger_is_fenced(answer) -> Feedback:
    """Say when enough bookies are fenced.

    Write a function (fenced, ensemble, ack_quorum): true if no ack quorum of the ensemble is left
    without a fenced bookie. `fenced` is a part of `ensemble`; both are sets of bookies. The check
    tries all of them with up to six bookies.
    """
    expect_parameters(answer, "fenced", "ensemble", "ack_quorum")
    tried = 0
    for bookies in range(1, 7):
        ensemble = nodes_up_to(bookies)
        for ack_quorum in range(1, bookies + 1):
            for fenced in subsets(ensemble):
                tried += 1
                expected = every_ack_quorum_has_one(fenced, ensemble, ack_quorum)
                if bool(answer(fenced, ensemble, ack_quorum)) != expected:
                    listed = ", ".join(f"b{each}" for each in fenced) or "nobody"
                    return wrong(
                        f"{listed} of {bookies} bookies fenced, ack quorum {ack_quorum}: that is"
                        f" {'enough' if expected else 'not enough'}, and you say otherwise."
                    )
    return right(f"It says the same as the definition for all {tried} sets and ack quorums.")


# --- An entry that nobody acknowledged -----------------------------------------------------------


def dropped(s, c) -> bool:
    """Has a recovery closed the ledger before an entry that a bookie stores?"""
    return (
        s.meta_status == "closed"
        and s.w2.status == "closed"
        and s.meta_last_entry == 0
        and any(s.b_entries[bookie].data[1] != 0 for bookie in range(1, c.bookies + 1))
    )


@exercise(
    hints=[
        "An ack quorum is two of two bookies here. One that says that it has no such entry is"
        " enough for the recovery to drop the entry.",
        "w1 has to be cut off before it can reach the second bookie. What fences that bookie?",
        "The read itself fences. So it may come before w1's add, and the add is never handled.",
    ],
    answer="""
        w1_creates_ledger(ensemble={1, 2})
        w1_sends_add_entry_requests(lost={})
        bookie_sends_add_confirmed_response(bookie=1, writer=w1, entry=1, lac=0, lost={})
        w2_place_in_recovery(lost={})
        bookie_sends_fencing_read_lac_response(bookie=1, lost={})
        w2_receives_fencing_read_lac_response(bookie=1, lac=0)
        w2_sends_read_requests(lost={})
        bookie_sends_read_response(bookie=1, entry=1, lost={})
        bookie_sends_read_response(bookie=2, entry=1, lost={})
        w2_receives_non_final_read(bookie=1, entry=1, data=1)
        w2_completes_read_with_no_such_entry(bookie=2, entry=0, data=0)
        w2_closes_ledger()
    """,
    why="b1 stores e0 for ever, and no reader will ever see it. That is no loss: w1 has not"
    " acknowledged it, and with b2 fenced it never can. What counts is that both are true at once.",
)
def drop_an_entry(answer) -> Feedback:
    """Drop an entry that a bookie has.

    Two bookies, both quorums 2, and recovery reads that fence. Write the steps, one a line, after
    which w2 has closed the ledger as empty, although a bookie stores e0. As few as you can: par is
    computed by the check.
    """
    model = spec.bind(**SMALL)
    walk = take_steps(model, answer)
    if not dropped(walk.state, model.constants):
        return wrong("After these steps w2 has not closed the ledger before a stored entry.", walk)
    return against_par(len(walk.steps), shortest_path(model, dropped), "Dropped, and rightly,")
