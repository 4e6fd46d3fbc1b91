"""A DataFrame's physical plan as text that is the same in every run, for a notebook's kept
output."""

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CHANGING = [
    (re.compile(r"(, )?\[?plan_id=\d+\]?"), ""),
    (re.compile(r"#\d+L?"), ""),  # the number that Spark gives to a column
    (re.compile(r"file:/[^\s\],)]+"), "file:/…"),
]
"""The parts that differ from run to run."""


def plan_text(table: "DataFrame") -> str:
    """The tree of operators that `explain("formatted")` prints.

    The numbers of columns and plans, and the paths of files, are left out.
    """
    with redirect_stdout(StringIO()) as said:
        table.explain("formatted")
    return same_in_every_run(said.getvalue()).partition("\n\n\n")[0]


def same_in_every_run(plan: str) -> str:
    """A plan without what differs from run to run."""
    for pattern, instead in _CHANGING:
        plan = pattern.sub(instead, plan)
    return plan.strip()
