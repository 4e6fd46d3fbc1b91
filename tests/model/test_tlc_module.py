"""The module of a spec that has what only a comparison with TLC needs."""

import textwrap

from protocol_lab import TAKEN, Int8, Spec, Struct
from protocol_lab.explore import explore


class State(Struct):
    count: Int8


def start(s, c):
    """Nothing is counted yet."""
    return TAKEN


def count_on(s, c):
    """Counts, up to 2."""
    if s.count == 2:
        return "that is enough"
    s.count += 1
    return TAKEN


def spec_with(module: str) -> Spec:
    spec = Spec("count", State, tlc=module)
    spec.init(start)
    spec.action(count_on)
    return spec


def write_module(folder, name: str) -> None:
    text = f"""
        from {__name__} import count_on

        MULTIPLICITIES = {{count_on: lambda s, c: 3}}
    """
    (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")


def test_it_is_loaded_with_the_first_model(here, monkeypatch):
    monkeypatch.syspath_prepend(here)
    write_module(here, "counted_by_tlc")
    spec = spec_with("counted_by_tlc")
    result = explore(spec.bind(), engine="python", progress=False)
    assert (result.distinct, result.generated) == (3, 7)


def test_an_action_that_was_replaced_has_no_multiplicity(here, monkeypatch):
    monkeypatch.syspath_prepend(here)
    write_module(here, "counted_by_tlc_before")
    spec = spec_with("counted_by_tlc_before")

    def replaced(s, c):
        """Counts, up to 1."""
        if s.count == 1:
            return "that is enough"
        s.count += 1
        return TAKEN

    replaced.__name__ = "count_on"
    spec.action(replaced)
    result = explore(spec.bind(), engine="python", progress=False)
    assert (result.distinct, result.generated) == (2, 2)
