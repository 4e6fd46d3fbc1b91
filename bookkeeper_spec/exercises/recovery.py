"""The exercise of notebooks/bookkeeper/13_several_recoveries."""

from bookkeeper_spec.quorum_coverage import every_ack_quorum_has_one
from protocol_lab import *
from protocol_lab.teaching.exercises import *


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
