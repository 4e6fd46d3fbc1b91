"""What every variant with any number of clients declares besides its own actions and properties."""

from collections.abc import Callable
from typing import Any

from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.constants import CONFIGURATIONS, Constants
from bookkeeper_spec.model.ledger import Bookie, alike
from bookkeeper_spec.model.state import State, init
from protocol_lab import Configuration, Spec, Struct


def ledger_spec(
    name: str,
    meaning: str,
    *,
    original: str,
    draw: Callable[..., str],
    state: type[Struct] = State,
    constants: type = Constants,
    init: Callable[..., str] = init,
    events: Callable[..., list] = client_events,
    printed: dict[str, Callable[..., Any]] | None = None,
    configurations: tuple[Configuration, ...] = CONFIGURATIONS,
) -> Spec:
    """A spec of this name without actions: state, initial state, symmetry and pictures."""
    spec = Spec(
        f"bookkeeper.{name}",
        state,
        constants,
        meaning,
        draw=draw,
        original=original,
        lifelines=(client_lifelines,),
        events=events,
        printed=printed or {},
        configurations=configurations,
    )
    spec.symmetric(Bookie, among=alike)
    spec.symmetric(Client)
    spec.init(init)
    return spec
