"""Run notebooks and keep their outputs: `python -m tests.update_notebooks [NAME ...]`.

A NAME is a part of a notebook's name, as in `kafka/03`; without one all are run. A notebook in
which a cell fails is left as it was.
"""

import sys
import time

import nbformat

from tests.notebook_outputs import code_cells, execute, name_of, notebooks, storable


def main(parts: list[str]) -> int:
    """Run what was asked for; 1 if a cell failed or a name is unknown."""
    chosen = [path for path in notebooks() if any(part in name_of(path) for part in parts or [""])]
    if not chosen:
        known = ", ".join(map(name_of, notebooks()))
        print(f"No notebook is called {' or '.join(parts)}; there are {known}.", file=sys.stderr)
        return 1
    failed = 0
    for path in chosen:
        began = time.perf_counter()
        notebook = storable(execute(path))
        errors = [
            f"{name_of(path)}, cell [{cell.id}]: {output.ename}: {output.evalue}"
            for cell in code_cells(notebook)
            for output in cell.outputs
            if output.output_type == "error"
        ]
        for error in errors:
            print(error, file=sys.stderr)
        failed += bool(errors)
        if not errors:
            nbformat.write(notebook, path)
            seconds = time.perf_counter() - began
            print(f"{name_of(path)}: {seconds:.1f} s, {path.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
