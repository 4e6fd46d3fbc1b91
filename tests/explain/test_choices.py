"""The sentences on a stepper's buttons."""

import re
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import TAKEN, Limits, Node, NodeSet, Range, Spec, Struct, Subset, nodes_up_to
from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import choice_sentence, left_out
from protocol_lab.model.spec import Model

MOST_WORDS = 10


class Constants(NamedTuple):
    """Two nodes."""

    nodes: Annotated[int, Limits(1, 3, "nodes")] = 2


Peer = Node("nodes")


class State(Struct):
    """Who was asked."""

    asked: NodeSet(Peer)


def everybody(c):
    return nodes_up_to(c.nodes)


def start(s: State, c: Constants):
    """Nobody was asked."""
    return TAKEN


def ask(s: State, c: Constants, node: Peer, times: Range(1, 2), lost: Subset(everybody)):
    """A node asks."""
    return TAKEN


def asking(**choices) -> Model:
    spec = Spec("toy.asking", State, Constants, choices=choices)
    spec.init(start)
    spec.action(ask)
    return spec.bind()


def sentence(model: Model, **args) -> str:
    return choice_sentence(model, bytes(model.layout.size), model.spec.actions[0], args)


def test_a_template_counts_and_adds_the_sets_that_it_leaves_out():
    model = asking(ask="Node {node} asks {times:time}")
    assert sentence(model, node=2, times=1, lost=0) == "Node 2 asks 1 time"
    assert sentence(model, node=2, times=2, lost=0b110) == "Node 2 asks 2 times, lost: {1, 2}"
    args = {"node": 1, "times": 1, "lost": 0b100}
    assert left_out(model, model.spec.actions[0], args) == ["lost"]


def test_a_template_may_put_a_letter_before_nodes_or_be_a_function():
    assert sentence(asking(ask="Lost: {lost:n}"), node=1, times=1, lost=0b110) == "Lost: {n1, n2}"
    model = asking(ask=lambda node, times, lost: f"{node} {times} {lost}")
    assert sentence(model, node=1, times=2, lost=0b100) == "1 2 [2]"


def test_an_action_without_a_template_is_named_with_its_parameters():
    assert sentence(asking(), node=2, times=1, lost=0) == "Ask: node 2, 1 time, lost: none"


def test_a_template_with_another_parameter_is_an_error_that_names_the_parameters():
    with pytest.raises(LabError, match="whose parameters are node, times, lost"):
        sentence(asking(ask="Node {nod} asks"), node=1, times=1, lost=0)


@pytest.mark.parametrize("name", spec_names())
def test_every_action_has_a_short_sentence(name):
    spec = load(name)
    actions = {action.name: action for action in spec.actions}
    assert set(actions) <= set(spec.choices)
    for action, template in spec.choices.items():
        if action in actions and isinstance(template, str):
            used = set(re.findall(r"{(\w+)", template))
            assert used <= set(actions[action].domains), action
            assert not re.search(r"\w_\w", re.sub(r"{.*?}", "", template)), action
            assert len(re.sub(r"{.*?}", "1", template).split()) <= MOST_WORDS, action
