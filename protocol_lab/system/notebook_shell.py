"""The notebook or IPython terminal that this process runs in, if there is one.

Nothing here imports IPython first: where it runs, it was imported before the kit was.
"""

import sys
from typing import Any


def get_ipython() -> Any:
    """IPython's shell; None where there is none."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get and get()


def display(*shown: Any, **options: Any) -> Any:
    """Display objects as a cell's outputs: `IPython.display.display`."""
    from IPython.display import display as show

    return show(*shown, **options)
