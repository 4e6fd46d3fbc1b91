"""Where the project is published: its repository, its site, and servers that run its notebooks.

After a change `python -m tests.update_links` writes the addresses into the README and the
notebooks, where a test expects them.
"""

from pathlib import PurePosixPath
from urllib.parse import quote

REPOSITORY = "replication-protocol-lab/replication-protocol-lab"
"""Its owner and name on GitHub, where .github/workflows/site.yml publishes the site."""

SITE = "https://{}.github.io/{}".format(*REPOSITORY.split("/"))

CODESPACES = f"https://codespaces.new/{REPOSITORY}"
"""A machine with the kit, made by .devcontainer/devcontainer.json."""


def binder_of(notebook: str) -> str:
    """A notebook in a JupyterLab that Binder runs for a while, made by the files in .binder.

    notebook: its path from the kit's folder.
    """
    place = quote(f"lab/tree/{notebook}", safe="")
    return f"https://mybinder.org/v2/gh/{REPOSITORY}/main?urlpath={place}"


def links_of_readme() -> str:
    """The line of the README that points to all of them."""
    return (
        f"**[Open the lab in your browser]({SITE}/)**: nothing to install. Or run the notebooks"
        f" [in Binder]({binder_of('notebooks/00_start_here.ipynb')}) or"
        f" [in GitHub Codespaces]({CODESPACES})."
    )


def link_to_page(notebook: str) -> str:
    """The line of Markdown with which a notebook points to its page."""
    page = PurePosixPath(notebook).with_suffix(".html")
    return (
        f"[This notebook as a page]({SITE}/{page}) needs no installation: its steppers, searches"
        " and exercises work there, and a link takes a walk there and back."
    )


def link_to_notebook(notebook: str) -> str:
    """The line of Markdown with which a page points to its notebook."""
    return (
        f"To run this notebook: `python3 lab.py` on your machine, or without an installation"
        f" [in Binder]({binder_of(notebook)}) or [in GitHub Codespaces]({CODESPACES})."
    )
