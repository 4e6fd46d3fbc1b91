"""Where the project is published: its repository, its site, and servers that run its notebooks.

Nothing is published as long as `REPOSITORY` is empty, and nothing shows an address. After a change
`python -m tests.update_links` writes the addresses into the README and the notebooks, where a test
expects them.
"""

from pathlib import PurePosixPath
from urllib.parse import quote

REPOSITORY = ""
"""Its owner and name on GitHub, as in "owner/name", where .github/workflows/site.yml publishes the
site; empty: nowhere."""

SITE = "https://{}.github.io/{}".format(*REPOSITORY.split("/")) if REPOSITORY else ""

CODESPACES = f"https://codespaces.new/{REPOSITORY}" if REPOSITORY else ""
"""A machine with the kit, made by .devcontainer/devcontainer.json."""


def binder_of(notebook: str) -> str:
    """A notebook in a JupyterLab that Binder runs for a while, made by the files in .binder.

    notebook: its path from the kit's folder.
    """
    place = quote(f"lab/tree/{notebook}", safe="")
    return f"https://mybinder.org/v2/gh/{REPOSITORY}/main?urlpath={place}"


def links_of_readme() -> str:
    """The line of the README that says how to look at the lab without an installation."""
    if not REPOSITORY:
        return (
            "**In a browser**: `python3 lab.py site` writes the notebooks as pages that run the"
            " kit; open `site/index.html` by double click, or hand the folder out: its readers"
            " install nothing."
        )
    return (
        f"**[Open the lab in your browser]({SITE}/)**: nothing to install. Or run the notebooks"
        f" [in Binder]({binder_of('notebooks/00_start_here.ipynb')}) or"
        f" [in GitHub Codespaces]({CODESPACES})."
    )


def link_to_page(notebook: str) -> str:
    """The line of Markdown with which a notebook points to its page; "" if there is none."""
    page = PurePosixPath(notebook).with_suffix(".html")
    return SITE and (
        f"[This notebook as a page]({SITE}/{page}) needs no installation: its steppers, searches"
        " and exercises work there, and a link takes a walk there and back."
    )


def link_to_notebook(notebook: str) -> str:
    """The line of Markdown with which a page points to its notebook."""
    hosted = (
        f", or without an installation [in Binder]({binder_of(notebook)}) or [in GitHub"
        f" Codespaces]({CODESPACES})"
    )
    return f"To run this notebook: `python3 lab.py` on your machine{hosted if REPOSITORY else ''}."
