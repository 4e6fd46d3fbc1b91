"""What can go wrong in front of a learner, each as one sentence that says what to do."""


class LabError(Exception):
    """Bad input or a missing tool; the message is one sentence with the remedy."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in a notebook: the sentence alone, without a stack trace."""
        return [str(self)]


class CapacityExceeded(Exception):
    """A step does not fit into the declared storage: neither a refusal nor a state.

    A search that meets it ends as undecided; the stepper shows it as the action's reason. Compiled
    code raises it without words; the uncompiled twin then repeats the step and finds them.
    """
