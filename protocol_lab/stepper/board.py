"""The stepper's board: actions, invariants and timeline, as plain values for JSON.

The board is computed from the walk alone, in Python; the front end only draws it. The content of
the tabs is in `panels`.
"""

from collections.abc import Collection
from typing import Any

from protocol_lab.drawing.pictures import caption
from protocol_lab.explain.explanation import Explanation, why_broken, why_refused, why_step_broken
from protocol_lab.explain.tally import tally
from protocol_lab.explain.wording import (
    choice_sentence,
    choice_text,
    constant_texts,
    first_line,
    left_out,
    spec_title,
    words,
)
from protocol_lab.model.parameters import Member, follow
from protocol_lab.model.spec import Action
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import Attempt
from protocol_lab.traces.events import narrated
from protocol_lab.traces.scenario_format import split_caption
from protocol_lab.traces.walk import Moment, Standing, Walk

FEW = 4
"""Up to this many choices refused for one reason are listed; more are folded, with their number."""

CANNOT = "cannot"
"""The key of the list of what can't happen, which is folded at first."""


def board(
    walk: Walk,
    watched: Collection[str] | None = None,
    unfolded: Collection[str] | None = None,
    seen: Collection[Moment] = (),
    fills: bool = False,
) -> dict[str, Any]:
    """The whole board. `watched` names the invariants whose violations count; None: the default
    ones. `seen`: the moments that the learner has been at. What breaks in others is not told, but
    for those that lead to the current one: it would tell how a story ends. fills: each choice says
    which claims it brings nearer.

    Explaining refusals takes as long as the rest of the board. So they are explained only if their
    list, "cannot", is in `unfolded` (None: everything is); of the reasons that refuse many choices
    only those whose key is. The others have no `cases`.
    """
    attempts = walk.attempts()
    can, cannot, off = actions(walk, attempts, unfolded)
    if fills:
        _note_what_choices_fill(walk, can, attempts)
    return {
        "title": spec_title(walk.model.spec.name),
        "meaning": first_line(walk.model.spec.meaning),
        "constants": [
            {"text": text, "meaning": meaning} for text, meaning in constant_texts(walk.model)
        ],
        "invariants": [invariant(walk, each, watched) for each in walk.standings()],
        "caption": caption_parts(walk),
        "told": _told(walk),
        "can": can,
        "cannot": cannot,
        "off": off,
        "explained": unfolded is None or CANNOT in unfolded,
        "timeline": _timeline(walk, watched, seen),
    }


def why_it_fails(walk: Walk, name: str) -> Explanation | str:
    """The values that make an invariant fail in the state shown; empty if there are none."""
    for each in walk.model.spec.invariants:
        if each.name == name:
            return why_broken(walk.model, walk.row, each)
    for each in walk.model.spec.step_invariants:
        if each.name == name and walk.moment.previous:
            return why_step_broken(walk.model, walk.moment.previous.row, walk.row, each)
    return ""


def is_watched(standing: Standing, watched: Collection[str] | None) -> bool:
    """Does a violation of this invariant count on this walk?"""
    return standing.by_default if watched is None else standing.name in watched


def invariant(
    walk: Walk, standing: Standing, watched: Collection[str] | None = None
) -> dict[str, Any]:
    """One invariant in the current state of a walk: whether it holds, else why not and the
    values."""
    return {
        "name": words(standing.name),
        "holds": standing.holds,
        "reason": standing.reason,
        "values": "" if standing.holds else str(why_it_fails(walk, standing.name)),
        "meaning": first_line(standing.meaning),
        "watched": is_watched(standing, watched),
    }


def watched_invariants(walk: Walk, watched: Collection[str] | None) -> list[dict[str, Any]]:
    """Those invariants whose violations count, in the current state of a walk."""
    shown = [each for each in walk.standings() if is_watched(each, watched)]
    return [invariant(walk, each, watched) for each in shown]


def _told(walk: Walk) -> str:
    """What the step did, in sentences: a scenario's caption may add to it."""
    model, moment = walk.model, walk.moment
    if moment.caption or moment.step is None:
        return narrated(model, moment)
    taken = find_step(model, moment.previous.row, moment.step.text)
    return narrated(
        model, moment, choice_sentence(model, moment.previous.row, taken.action, taken.args)
    )


def caption_parts(walk: Walk) -> dict[str, Any]:
    """The slide, the sentence and the step of the state shown."""
    slide, text = split_caption(caption(walk.model, walk.moment))
    return {
        "slide": slide,
        "text": text,
        "is_written": bool(walk.moment.caption or walk.moment.going_on),
        "step": walk.moment.step.text if walk.moment.step else "",
    }


# --- What can happen, and what can't ---------------------------------------------------------


def actions(
    walk: Walk, attempts: list[Attempt], unfolded: Collection[str] | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The actions that can happen, with their choices; those that can't, with the reasons (an
    action may be among both); and those that a constant switches off, with the constant.

    attempts: those of the walk's current state; unfolded: as in `board`.
    """
    ahead = walk.ahead
    tried = {action.name: [] for action in walk.model.spec.actions}
    for each in attempts:
        tried[each.action.name].append(each)
    can, cannot, off = [], [], []
    for action in walk.model.spec.actions:
        taken = [each for each in tried[action.name] if each.taken]
        refused = [each for each in tried[action.name] if not each.taken]
        about = {"action": action.name, "meaning": first_line(action.doc)}
        if taken:
            can.append({**about, "choices": _choices(walk, taken, ahead)})
        if switch := not taken and _switched_off(walk, refused):
            off.append({**about, "switch": switch})
        elif refused:
            cannot.append({**about, "reasons": _reasons(walk, refused, unfolded)})
        if not tried[action.name]:
            cannot.append({**about, "reasons": [_no_choice(walk, action)]})
    return can, cannot, off


_NOTHING = ("0", "no")
_SWITCHES: dict[tuple, tuple[str, ...] | None] = {}
"""By action, reason and constants, what `_switches` has found: explaining a refusal takes long."""


def _switched_off(walk: Walk, refused: list[Attempt]) -> str:
    """The constant that keeps an action from ever happening, such as "max_restarts = 0", if all
    choices are refused for such a reason."""
    switches: list[str] = []
    for reason, each in {each.reason: each for each in refused}.items():
        key = each.action.function, reason, walk.model.constants
        if key not in _SWITCHES:
            _SWITCHES[key] = _switches(walk, each)
        if _SWITCHES[key] is None:
            return ""
        switches += _SWITCHES[key]
    return ", ".join(dict.fromkeys(switches))


def _switches(walk: Walk, refused: Attempt) -> tuple[str, ...] | None:
    """The constants that refuse an attempt in every state: nothing else decides, or they are limits
    of 0 of which nothing was used. None if they do not."""
    clauses = why_refused(walk.model, walk.row, refused).clauses
    constants = [each for each in clauses if each.text in walk.model.constants._fields]
    is_limit = all(each.value in _NOTHING for each in clauses)
    is_off = constants and (is_limit or len(constants) == len(clauses))
    return tuple(map(str, constants)) if is_off and not refused.over_capacity else None


def _note_what_choices_fill(walk: Walk, can: list[dict[str, Any]], attempts: list[Attempt]) -> None:
    """Add to each choice the claims to which one more node says yes by it."""
    now = tally(walk.model, walk.row).rows
    rows = {walk.step_of(each).text: each.row for each in attempts if each.taken}
    for choice in [each for action in can for each in action["choices"]]:
        after = tally(walk.model, rows[choice["step"]]).rows
        choice["fills"] = [
            f"{then.claim.title}: {len(then.nodes)} of {then.goal}"
            for before, then in zip(now, after, strict=True)
            if len(then.nodes) > len(before.nodes)
        ]


def _choices(walk: Walk, taken: list[Attempt], ahead: Moment | None) -> list[dict[str, Any]]:
    """The choices of one action, each with its sentence. `aside`: in words the sets that the
    sentence's template leaves out, such as "lost", by which this choice differs from another."""
    sentences = [choice_sentence(walk.model, walk.row, each.action, each.args) for each in taken]
    choices = []
    for each, sentence in zip(taken, sentences):
        label = choice_text(walk.model, walk.row, each.action, each.args)
        step = walk.step_of(each).text
        choices.append(
            {
                "label": label,
                "sentence": sentence if sentences.count(sentence) == 1 else f"{sentence} ({label})",
                "step": step,
                "ahead": ahead is not None and ahead.step.text == step,
                "aside": ", ".join(map(words, left_out(walk.model, each.action, each.args))),
            }
        )
    return choices


def _reasons(
    walk: Walk, refused: list[Attempt], unfolded: Collection[str] | None
) -> list[dict[str, Any]]:
    """One entry for each reason; in it, one case for the choices whose values made the same guard
    fail."""
    by_reason: dict[str, list[Attempt]] = {}
    for each in refused:
        by_reason.setdefault(each.reason, []).append(each)
    reasons = []
    for reason, same in by_reason.items():
        key = f"{same[0].action.name}: {reason}"
        explained = unfolded is None or (
            CANNOT in unfolded and (len(same) <= FEW or key in unfolded)
        )
        reasons.append(
            {
                "reason": reason,
                "over_capacity": same[0].over_capacity,
                "key": key,
                "number": len(same),
                "folded": len(same) > FEW,
                "cases": _cases(walk, same) if explained else None,
            }
        )
    return reasons


def _cases(walk: Walk, refused: list[Attempt]) -> list[dict[str, Any]]:
    by_values: dict[str, list[dict[str, str]]] = {}
    for each in refused:
        values = str(why_refused(walk.model, walk.row, each))
        label = choice_text(walk.model, walk.row, each.action, each.args)
        choice = {"label": label, "step": walk.step_of(each).text}
        by_values.setdefault(values, []).append(choice)
    return [{"values": values, "choices": choices} for values, choices in by_values.items()]


def _no_choice(walk: Walk, action: Action) -> dict[str, Any]:
    """The reason of an action whose parameters have no values in this state."""
    reason = "there is nothing to choose for its parameters"
    for domain in action.domains.values():
        if isinstance(domain, Member) and not len(follow(walk.state, domain.path)):
            reason = f"{words(domain.path).replace('.', ', ')}: there are none"
            break
    return {"reason": reason, "over_capacity": False, "number": 0, "folded": False, "cases": []}


# --- The timeline ----------------------------------------------------------------------------


def _timeline(
    walk: Walk, watched: Collection[str] | None, seen: Collection[Moment]
) -> dict[str, Any]:
    """Every branch as a lane, with the moments that no earlier lane has shown.

    A lane begins after depth `depth` of lane `parent`. A moment is `past` or `here` on the path to
    the current one, `ahead` of it on the current branch, or `aside` on another.
    """
    lane_of: dict[Moment, int] = {}
    past, branch = set(walk.moment.path()), set(walk.path)
    told = past.union(seen)
    lanes = []
    for lane, (name, end) in enumerate(walk.branches.items()):
        path = end.path()
        own = [moment for moment in path if moment not in lane_of]
        lane_of |= dict.fromkeys(own, lane)
        shared = len(path) - len(own)
        lanes.append(
            {
                "name": name,
                "current": name == walk.branch,
                "parent": lane_of[path[shared - 1]] if shared else -1,
                "depth": shared,
                "moments": [
                    {
                        **_dot(walk, moment, past, branch),
                        "broken": _broken(walk, moment, watched) if moment in told else [],
                    }
                    for moment in own
                ],
            }
        )
    return {
        "lanes": lanes,
        "branch": walk.branch,
        "depth": walk.moment.depth,
        "length": len(walk.path),
    }


def _broken(walk: Walk, moment: Moment, watched: Collection[str] | None) -> list[str]:
    return [
        words(each.name)
        for each in walk.standings(moment)
        if not each.holds and is_watched(each, watched)
    ]


def _dot(walk: Walk, moment: Moment, past: set, branch: set) -> dict[str, Any]:
    if moment is walk.moment:
        place = "here"
    else:
        place = "past" if moment in past else "ahead" if moment in branch else "aside"
    return {
        "place": place,
        "slide": split_caption(moment.caption)[0],
        "caption": moment.caption,
        "step": moment.step.text if moment.step else "the initial state",
        "loops_to": moment.loops_to,
        "going_on": moment.going_on,
    }
