"""What is computed once while the same states are shown many times, and every time elsewhere."""

from protocol_lab.catalog import load
from protocol_lab.model.evaluation import keeping_results, kept
from protocol_lab.model.transitions import evaluate, initial


def test_within_the_context_nothing_is_computed_twice():
    calls = []

    def ask(key: str) -> int:
        return kept(key, lambda: calls.append(key) or len(calls))

    assert [ask("one"), ask("one")] == [1, 2]
    with keeping_results():
        assert [ask("one"), ask("one"), ask("other")] == [3, 3, 4]
        with keeping_results():
            assert ask("one") == 5
        assert ask("one") == 3
    assert ask("one") == 6


def test_invariants_are_kept_by_their_constants():
    """A bound of another value may give another answer for the same bytes."""
    calls = []

    def counted(s, c):
        calls.append(c.max_id)
        return ""

    spec = load("kafka.id_sequence")
    models = [spec.bind(max_id=bound) for bound in (2, 3)]
    [start] = initial(models[0])
    with keeping_results():
        for model in [*models, *models]:
            assert evaluate(model, start.row, counted) == ""
    assert calls == [2, 3]
