"""Which spec a trace of TLC belongs to: by its module, its variables and the names of its actions.

A trace fits a spec if it has all of the spec's variables, and every step is named after one of the
spec's actions. Further variables do not matter: an ALIAS may add some. TLC may also name a step
after an operator that several actions share, or after the whole next-state relation; a spec that
calls a function of that name has the operator, too.
"""

import re
from collections.abc import Iterable

from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import LabError, shortened
from protocol_lab.interchange.tlc_output import PrintedTrace
from protocol_lab.interchange.tlc_values import same_name, variables_of
from protocol_lab.language.dependencies import reachable
from protocol_lab.spec.spec import Action, Spec

_LISTED = 6
"""At most this many names are listed in a sentence."""

_LONGEST = 80
"""The longest name, in characters, that is shown whole."""

_WHOLE = re.compile(r"\w*next|step", re.IGNORECASE)
"""What next-state relations are called: Next, MCNext, ...; in Quint step."""

_STANDARD = frozenset(
    re.findall(
        r"\w+",
        """
    Apalache Bags BagsExt Bitwise CSV Combinatorics DyadicRationals FiniteSets FiniteSetsExt Folds
    Functions Graphs HTML IOUtils Integers Json Naturals Option ProtoReals Randomization RealTime
    Reals Relation SVG Sequences SequencesExt ShiViz Statistics Strings TLAPS TLC TLCExt Toolbox
    UndirectedGraphs Variants VectorClocks
""",
    )
)
"""Modules that come with TLA+ and its tools: no trace is one of theirs."""


def specs_of(trace: PrintedTrace) -> list[Spec]:
    """The specs that the trace can belong to, the likeliest first; at least one.

    Raises LabError if there is none, or if several are equally likely.
    """
    every = _every_spec()
    named = _named(trace, every)
    fitting = [spec for spec in named if not misfit(trace, spec)]
    if fitting:
        return fitting
    fitting = [spec for spec in every if not misfit(trace, spec)]
    if len(fitting) == 1:
        return fitting
    if fitting:
        raise LabError(
            "The trace does not say which spec it belongs to; it may be"
            f" {', '.join(spec.name for spec in fitting)}: give everything that TLC printed, or"
            " name the spec."
        )
    of_steps = {_module(trace), *(printed.module for printed in trace.states)}
    own = [spec for spec in named if spec.original in of_steps]
    if own:
        raise misfit_error(trace, own[0])
    known = ", ".join(sorted(spec.original for spec in every if spec.original))
    nearest = max(every, key=lambda spec: len(_shared(trace, spec)))
    near = (
        f"; nearest is {nearest.name}, but {misfit(trace, nearest)}"
        if _shared(trace, nearest)
        else f"; it has the specs of {known}"
    )
    raise LabError(f"This is a trace of {_module(trace)}, which the kit does not know{near}.")


def belongs_to(trace: PrintedTrace, spec: Spec) -> bool:
    """Does the trace fit this spec, and name no other one that it fits instead?"""
    if misfit(trace, spec):
        return False
    if spec.original in trace.modules:
        return True
    others = _named(trace, _every_spec())
    return all(misfit(trace, other) for other in others)


def misfit_error(trace: PrintedTrace, spec: Spec) -> LabError:
    """The error for a trace that does not fit this spec."""
    module, why = _module(trace), misfit(trace, spec)
    if module == spec.original:
        return LabError(f"This trace of {module} does not fit {spec.name}: {why}.")
    return LabError(f"This is a trace of {module}, not of {spec.name}: {why}.")


def misfit(trace: PrintedTrace, spec: Spec) -> str:
    """Why the trace can't be one of this spec, as a clause about "it"; "" if it can.

    Variables that the original does not have may be missing.
    """
    for printed in trace.states:
        there = variables_of(spec.state, printed.variables)
        missing = [name for name in _variables_of_original(spec) if name not in there.values()]
        if missing:
            where = "" if printed.number == 1 else f" in state {printed.number}"
            foreign = [name for name in printed.variables if name not in there]
            also = f", and has {_listed(foreign)}, which the spec does not have" if foreign else ""
            return (
                f"it lacks the variable{'s' * (len(missing) > 1)} {_listed(missing)}{where}{also}"
            )
    taken = dict.fromkeys(printed.action for printed in trace.states[1:] if printed.action)
    strange = [name for name in taken if not actions_named(spec.actions, name)]
    if strange:
        return f"the spec has no action {_listed(strange, ' or ')}"
    return ""


def actions_named(actions: Iterable[Action], name: str) -> list[Action]:
    """The actions that a step can be of, by the name that TLC gives it; "" stands for any."""
    actions = list(actions)
    if own := [action for action in actions if same_name(action.name, name)]:
        return own
    if not name or _WHOLE.fullmatch(name):
        return actions
    return [
        action
        for action in actions
        if any(same_name(each.__name__, name) for each in reachable([action.function]))
    ]


def _named(trace: PrintedTrace, specs: Iterable[Spec]) -> list[Spec]:
    """The specs whose original the output names; a module that extends others is named last."""
    named = [spec for spec in specs if spec.original in trace.modules]
    return sorted(named, key=lambda spec: -trace.modules.index(spec.original))


def _shared(trace: PrintedTrace, spec: Spec) -> dict[str, str]:
    return variables_of(spec.state, trace.states[0].variables)


def _variables_of_original(spec: Spec) -> list[str]:
    """The spec's variables, without those marked in `Spec.printed`."""
    own = {name for name, convert in spec.printed.items() if convert is None}
    return [name for name in spec.state.field_types if name not in own]


def _every_spec() -> list[Spec]:
    """All specs of the catalog, bound once, which loads what they say about TLC's variables."""
    return [load(name).bind().spec for name in spec_names()]


def _module(trace: PrintedTrace) -> str:
    """The module that the trace is of, as far as the text says."""
    own = [name for name in trace.modules if name not in _STANDARD and not name.startswith("_")]
    return shortened(own[-1], _LONGEST) if own else "a module that is not named"


def _listed(names: list[str], last: str = " and ") -> str:
    """The names, the first few of many: "a, b and c", or "a, b, c and 9 more"."""
    names = [shortened(" ".join(name.split()), _LONGEST) for name in names]
    if len(names) > _LISTED:
        return f"{', '.join(names[: _LISTED - 1])} and {len(names) - _LISTED + 1} more"
    return last.join(filter(None, [", ".join(names[:-1]), names[-1]]))
