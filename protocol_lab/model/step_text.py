"""Steps as text: an action's name and its parameters, never a hash or an index.

    become_leader(request=LeaderAndIsrRequest(leader_epoch=0))
    lose_messages(lost={1, 3})
    init(keys=[1, 0, 2])

In files a message is shortened to the fields that single it out among the messages it could be; for
people it is printed whole (`told_fields`). `find_step` reads both for a given state.
"""

import ast
import keyword
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise
from typing import Any

from protocol_lab.errors import LabError, quoted, shortened
from protocol_lab.model import node_sets
from protocol_lab.model.layout import Bag, IntegerLayout, Named, Node, Seq, Struct, StructLayout
from protocol_lab.model.parameters import (
    Bound,
    Domain,
    Member,
    OneOf,
    Range,
    Sequences,
    Subset,
    TrueOrFalse,
    follow,
    is_sequence_of,
    names_used,
    values,
)
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.state_view import StructView, plain, plain_value, view
from protocol_lab.model.transitions import (
    Attempt,
    Offered,
    attempt,
    choices,
    initial,
    is_only_start,
    successors,
)

INIT = "init"
"""The name that every line which chooses an initial state may begin with."""

SHOWN = 4
"""At most this many choices are listed where a line is ambiguous."""

_LISTED, _COUNTED = 6, 1_000
"""At most this many values are listed, and counted, where a line names one that is not there."""

_LONGEST = 10_000
"""The most characters of a step's text, more than the longest message has."""


@dataclass(frozen=True)
class Step:
    """An action and its parameters as plain values: numbers, sorted lists, dicts of fields.

    `text` names it in files; `whole`, which is printed, has messages in full.
    """

    action: str
    args: dict[str, Any] = field(hash=False)
    text: str
    whole: str = field(compare=False)

    def __str__(self) -> str:
        return self.whole

    def to_json(self) -> dict[str, Any]:
        """The step as in `check --json`."""
        return {"action": self.action, "args": self.args}


def as_json(value: Any) -> Any:
    """A plain value with sets of nodes as sorted lists."""
    match value:
        case set():
            return sorted(value)
        case dict():
            return {key: as_json(each) for key, each in value.items()}
        case list():
            return [as_json(each) for each in value]
    return value


def step_of(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> Step:
    """The step that takes this action with these parameters in this state."""
    shown = plain_arguments(action, args)
    short, whole = (
        ", ".join(
            f"{name}={_argument_text(model, row, action, name, value, args, fields)}"
            for name, value in args.items()
        )
        for fields in (_telling_fields, told_fields)
    )
    return Step(action.name, shown, f"{action.name}({short})", f"{action.name}({whole})")


def argument_text(model: Model, row: bytes, action: Action, name: str, args: dict) -> str:
    """One parameter's value as text, as in the text of the step."""
    return _argument_text(model, row, action, name, args[name], args, _telling_fields)


def plain_arguments(action: Action, args: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a choice as plain values, as a `Step` has them."""
    return {name: _plain_argument(action, name, value) for name, value in args.items()}


def _plain_argument(action: Action, name: str, value: Any) -> Any:
    match action.domains[name]:
        case Subset():
            return sorted(node_sets.members(value))
        case Named(names):
            return names[value]
        case Sequences():
            return list(value)
        case TrueOrFalse():
            return bool(value)
    return as_json(plain(value)) if isinstance(value, StructView) else int(value)


def _argument_text(
    model: Model,
    row: bytes,
    action: Action,
    name: str,
    value: Any,
    args: dict,
    fields_of: "FieldsOf",
) -> str:
    domain = action.domains[name]
    if not isinstance(value, StructView):
        shown = _plain_argument(action, name, value)
        if isinstance(domain, Subset):
            return _as_text(set(shown))
        return _as_word(shown) if isinstance(domain, Named) else str(shown)
    assert isinstance(domain, Member)
    scope = {"s": view(model.layout, row), "c": model.constants, **args}
    others = [plain(each) for each in values(domain, scope) if each != value]
    own = plain(value)
    shown = (f"{key}={_as_text(own[key])}" for key in fields_of(value._layout, own, others))
    return f"{value._layout.declared.__name__}({', '.join(shown)})"


FieldsOf = Callable[[StructLayout, dict, list[dict]], Iterable[str]]
"""Chooses which fields to write of a struct (a plain value) that is one of several."""


def told_fields(layout: StructLayout, own: dict, others: Iterable[dict]) -> list[str]:
    """The fields of a message to print for people: all, except those that its kind leaves at 0.

    A struct with a `Named` field is a union of message types. Of such a struct a field is left out
    if it is 0 here and in all others of the same kind, so that different messages never look alike.
    """
    names = [name for name, part in layout.fields.items() if is_named(part)]
    if not names:
        return list(own)
    zero = plain_value(layout, bytes(layout.size))
    alike = [own, *(each for each in others if all(each[n] == own[n] for n in names))]
    return [
        name for name in own if name in names or any(each[name] != zero[name] for each in alike)
    ]


def is_named(part: Any) -> bool:
    """Does this layout belong to a `Named` field?"""
    return isinstance(part, IntegerLayout) and part.kind == "named"


def _telling_fields(layout: StructLayout, own: dict, others: list[dict]) -> tuple[str, ...]:
    """The smallest choice of fields, the first in declaration order, whose values no other item
    has."""
    for count in range(1, len(own) + 1):
        for names in combinations(own, count):
            if not any(all(other[n] == own[n] for n in names) for other in others):
                return names
    return tuple(own)


def _as_text(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(str(each) for each in sorted(value)) + "}"
    return repr(value)


def _as_word(name: str) -> str:
    """A name as `parse` reads it back: in quotes unless it is a plain word."""
    is_word = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if is_word else repr(name)


def find_step(model: Model, row: bytes, text: str) -> Attempt:
    """Read a step's text in a state and try it. Raises LabError if it names no single choice.

    A parameter with only one value may be left out; so may a set of nodes, which is then empty. The
    attempt may still be a refusal: look at its `reason`.
    """
    name, wanted = parse(text)
    action = model.action(name)
    wanted = _empty_sets(action) | wanted
    for argument in wanted:
        if argument not in action.domains:
            known = ", ".join(action.domains) or "no parameters"
            raise LabError(f"{name} has no parameter {quoted(argument)}; it has {known}.")
    matching = list(choices(model, row, action, as_written(wanted)))
    if not matching:
        there = _what_there_is(model, row, action, as_written(wanted))
        raise LabError(f"{shortened(text)}: there is no such choice in this state; {there}.")
    return attempt(model, row, action, _single(matching, text, model, row, action))


def _empty_sets(action: Action) -> dict[str, Any]:
    """The parameters that are any set of nodes, with the value that they have if left out."""
    found = action.domains.items()
    return {name: set() for name, each in found if isinstance(each, Subset) and each.size is None}


def _what_there_is(model: Model, row: bytes, action: Action, offered: Offered) -> str:
    """The values of the first parameter that has none of those offered."""
    scope: dict[str, Any] = {"s": view(model.layout, row), "c": model.constants}
    chosen: dict[str, Any] = {}
    for name, domain in action.domains.items():
        fits = next(offered(name, domain, {**scope, **chosen}), None)
        if fits is not None:
            chosen[name] = fits
            continue
        found = list(islice(values(domain, {**scope, **chosen}), _COUNTED + 1))
        if not found:
            where = f": {domain.path} is empty" if isinstance(domain, Member) else ""
            return f"there is nothing to choose for {name}{where}"
        shown = [
            _argument_text(model, row, action, name, each, {**chosen, name: each}, told_fields)
            for each in found[:_LISTED]
        ]
        left = len(found) - len(shown)
        more = f" and {left if len(found) <= _COUNTED else 'many'} more" if left else ""
        return f"for {name} there {'is' if len(found) == 1 else 'are'} {', '.join(shown)}{more}"
    raise AssertionError("every parameter has a value, so that there is such a choice")


def _single(matching: list[dict], text: str, model: Model, row: bytes, action: Action) -> dict:
    if len(matching) == 1:
        return matching[0]
    shown = "; ".join(step_of(model, row, action, args).text for args in matching[:SHOWN])
    raise LabError(f"{shortened(text)} is ambiguous; say which of {len(matching)}: {shown}.")


def find_initial(model: Model, text: str | None) -> Attempt:
    """The initial state that a line `init(...)` chooses; None for the only one.

    The line may also begin with the name of the function that is registered with `@spec.init`.
    """
    name, wanted = (INIT, {}) if text is None else parse(text)
    named = [each for each in model.spec.inits if each.name == name]
    inits = [each for each in named or model.spec.inits if wanted.keys() <= each.domains.keys()]
    starts = list(islice(initial(model, inits, as_written(wanted)), SHOWN + 1))
    if len(starts) == 1:
        return starts[0]
    if not starts:
        there = list(islice(initial_texts(model), SHOWN + 1))
        known = ", ".join(there[:SHOWN]) or "only one, which needs no such line"
        more = ", and more" if len(there) > SHOWN else ""
        raise LabError(
            f"{shortened(text or 'init()')}: there is no such initial state; there is"
            f" {known}{more}."
        )
    shown = "; ".join(_init_text(model, each) for each in starts[:SHOWN])
    more = ", and more" if len(starts) > SHOWN else ""
    raise LabError(f"There are several initial states: say which, of {shown}{more}.")


def chooses_start(model: Model, text: str) -> bool:
    """Is this a line that chooses an initial state, and no step?"""
    name = text.partition("(")[0].strip()
    if any(each.name == name for each in model.spec.actions):
        return False
    return name == INIT or any(each.name == name for each in model.spec.inits)


class _Fields(dict[str, Any]):
    """The written fields of a message; `name` is what was written before them, if anything."""

    def __init__(self, fields: dict[str, Any], name: str = ""):
        super().__init__(fields)
        self.name = name


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """The action's name and the wanted values of a line `name(parameter=value, ...)`.

    Raises LabError for anything else, and for a parameter that is written twice.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise LabError(
            f"{quoted(text)} has {len(text):,} characters, and a step has at most {_LONGEST:,}."
        )
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            return call.func.id, _keywords(call)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass
    raise LabError(f"{quoted(text)} is not a step; write action(parameter=value, ...).")


def _keywords(call: ast.Call) -> dict[str, Any]:
    """The values by name. Raises ValueError for a value without a name, LabError for a repeated
    name."""
    found: dict[str, Any] = {}
    if call.args:
        raise ValueError("a value without a name")
    for each in call.keywords:
        if each.arg is None:
            raise ValueError("a star")
        if each.arg in found:
            raise LabError(f"{each.arg} is written twice: leave one of them out.")
        found[each.arg] = _value(each.value)
    return found


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Call(func=ast.Name("set"), args=[], keywords=[]) | ast.Dict(keys=[]):
            return set()
        case ast.Call(func=ast.Name(name)):
            return _Fields(_keywords(node), name)
        case ast.Dict():
            return _Fields(ast.literal_eval(node))
        case ast.Name(name):
            return name
    return ast.literal_eval(node)


def as_written(wanted: dict[str, Any]) -> Offered:
    """For a parameter that was written the values that it can mean; for any other all values.

    Raises LabError for a value of the wrong kind, such as a list for a node.
    """

    def offered(name: str, domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
        if name not in wanted:
            return values(domain, scope)
        value = wanted[name]
        if told := _why_not(domain, value, scope):
            raise LabError(f"{name}={quoted(value)} is {told}.")
        if isinstance(domain, Sequences):
            return iter([tuple(value)] if is_sequence_of(domain, value, scope) else [])
        return (each for each in values(domain, scope) if _matches(domain, each, value))

    return offered


def _why_not(domain: Domain, value: Any, scope: dict[str, Any]) -> str:
    """Why it can't be a value of this domain, and what to write: the end of a sentence that begins
    "it is"; "" if it can. A list can't be a node, nor a number a set of nodes."""
    fits = _is_number(value)
    are_numbers = isinstance(value, list | tuple | set) and all(map(_is_number, value))
    match domain:
        case Named(names):
            fits, told = isinstance(value, str), f"none of the names {', '.join(names)}"
        case TrueOrFalse():
            fits, told = isinstance(value, bool), "neither True nor False"
        case Subset():
            fits, told = are_numbers, "not a set of nodes; write one such as {1, 3}, or {} for none"
        case Sequences():
            fits = are_numbers and not isinstance(value, set)
            told = "not a sequence of numbers; write one such as [1, 0, 2]"
        case Member(path) if name := _struct_name(path, scope):
            fits = isinstance(value, _Fields) and value.name in ("", name)
            told = f"not a {name}; write {name}(field=value, ...)"
        case Node() | OneOf():
            told = "not a node; write its number, such as 1"
        case _:
            told = "not a whole number; write one such as 1"
    return "" if fits else told


def _is_number(value: Any) -> bool:
    return type(value) is int


def _struct_name(path: str, scope: dict[str, Any]) -> str:
    """The name of the structs in a container; "" if it holds numbers."""
    item = follow(scope["s"], path)._layout.fields["items"].item
    return item.declared.__name__ if isinstance(item, StructLayout) else ""


def _matches(domain: Domain, value: Any, wanted: Any) -> bool:
    if isinstance(domain, Named):
        return domain.names[value] == wanted
    if isinstance(value, StructView):
        own = plain(value)
        return all(key in own and _is_same(own[key], each) for key, each in wanted.items())
    if isinstance(domain, Subset):
        return node_sets.as_set(value) == set(wanted)
    return value == wanted


def _is_same(own: Any, wanted: Any) -> bool:
    """Is this the value that was written? A set of nodes may also be written as a list."""
    if isinstance(own, set):
        return (
            isinstance(wanted, list | tuple | set)
            and all(map(_is_number, wanted))
            and own == set(wanted)
        )
    return own == (list(wanted) if isinstance(wanted, tuple) else wanted)


def steps_between(model: Model, rows: list[bytes]) -> list[Step]:
    """The steps that lead from each of these states to the next; each must be a transition."""
    steps = []
    for before, after in pairwise(rows):
        taken = next(each for each in successors(model, before) if each.row == after)
        steps.append(step_of(model, before, taken.action, taken.args))
    return steps


def taken_again(model: Model, row: bytes, step: Step) -> Iterator[bytes]:
    """The states to which a step leads from another state, if it can happen there."""
    action = model.action(step.action)

    def offered(name: str, domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
        for each in values(domain, scope):
            if _plain_argument(action, name, each) == step.args[name]:
                yield each

    for args in choices(model, row, action, offered):
        tried = attempt(model, row, action, args)
        if tried.taken:
            yield tried.row


def initial_texts(model: Model) -> Iterator[str]:
    """The line init(...) of every initial state, one at a time; none if there is only one."""
    if not is_only_start(model):
        yield from (_init_text(model, each) for each in initial(model))


def initial_text(model: Model, row: bytes) -> str | None:
    """The line init(...) that chooses this initial state; None if it is the only one, or none."""
    if is_only_start(model):
        return None
    found = (_init_text(model, each) for each in initial(model) if each.row == row)
    return next(found, None)


def start_text(model: Model, start: Attempt) -> str | None:
    """The line init(...) that makes this choice of an initial state; None if there is only one."""
    return None if is_only_start(model) else _init_text(model, start)


def _init_text(model: Model, start: Attempt) -> str:
    """`init(...)`, or the function's own name where the spec has several of them."""
    text = step_of(model, bytes(model.layout.size), start.action, start.args).text
    return text if len(model.spec.inits) > 1 else INIT + text.removeprefix(start.action.name)


# --- Signatures -----------------------------------------------------------------------------------
#
# How a step of an action is written: its parameters, and the values that each can have.
#
# bookie_sends_add_confirmed_response(bookie, lost)
#     bookie: 1 to bookies
#     lost: a set of 1 to bookies, such as {1, 2}; none if left out


def values_of_parameters(action: Action, state: type[Struct]) -> dict[str, str]:
    """For each parameter of an action a sentence about its values, in terms of the constants."""
    return {name: _values(domain, state) for name, domain in action.domains.items()}


def _values(domain: Domain, state: type[Struct]) -> str:
    match domain:
        case Node(count):
            return f"1 to {count}"
        case TrueOrFalse():
            return "False, True"
        case Range(low, high):
            return f"{_bound(low)} to {_bound(high)}"
        case Named(names):
            return ", ".join(names)
        case Subset(of, None):
            return f"{_set_of(of)}; none if left out"
        case Subset(of, size):
            return f"{_set_of(of)}; {_bound(size)} of them"
        case OneOf(of):
            return f"one of the nodes {_bound(of)}; 0 for none"
        case Sequences(low, high, length):
            return f"a list of numbers {_bound(low)} to {_bound(high)}; {_bound(length)} of them"
        case Member(path):
            return f"an item of {path}{_forms(_item_at(path, state))}"
    raise AssertionError(f"{domain} is no domain")


def _set_of(of: Node | Callable[..., int]) -> str:
    if isinstance(of, Node):
        return f"a set of 1 to {of.count}, such as {{1, 2}}"
    return f"a set such as {{1, 2}} of the nodes {_bound(of)}"


def _bound(bound: Bound) -> str:
    """A number or an expression over constants; of a function its name and what it looks at."""
    if not callable(bound):
        return str(bound)
    arguments = ", ".join(names_used(bound))
    name = bound.__name__
    return f"what depends on {arguments}" if name == "<lambda>" else f"{name}({arguments})"


def _item_at(path: str, state: type[Struct]) -> object:
    """The declared type of the items in the container at a dotted path."""
    declared: object = state
    for name in path.split("."):
        declared = getattr(declared, "field_types", {}).get(name)
    return declared.item if isinstance(declared, Seq | Bag) else None


def _forms(item: object) -> str:
    """How such an item is written, if it has fields: those that tell it from others are enough."""
    if not (isinstance(item, type) and issubclass(item, Struct)):
        return ""
    return f", by fields that single it out: {item.__name__}({', '.join(item.field_types)})"
