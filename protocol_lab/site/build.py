"""Builds the site: `python3 lab.py site [FOLDER]`.

Sphinx makes the pages, with MyST-NB and the Sphinx Book Theme: they show kept notebook outputs,
search without a server, have both themes and print in one build, and accept raw HTML. Meanwhile
other processes make the recordings.
"""

import json
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from protocol_lab.catalog import package_title, spec_names
from protocol_lab.distance.backward import DistanceMap
from protocol_lab.errors import LabError
from protocol_lab.site import front_page
from protocol_lab.site.loading_order import show_before_loading
from protocol_lab.site.packing import as_script
from protocol_lab.site.pages import Pages, glossary_terms
from protocol_lab.site.recording import Recorder, states_in
from protocol_lab.site.scripts import script, style_sheet
from protocol_lab.site.sizes import too_large

ROOT = Path(__file__).parents[2]

TITLE = "Replication Protocol Lab"

STATES = 3_000
"""States of all models that are recorded whole: a thousand take most of a minute on one core."""

_CONFIGURATION = '''\
"""Sphinx's settings; written by protocol_lab/site/build.py."""

project = html_title = html_short_title = {title!r}
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_ipywidgets_js = {{}}
nb_merge_streams = True
nb_render_markdown_format = "gfm"  # tables in outputs
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 3
myst_heading_slug_func = "protocol_lab.site.build.heading_anchor"
suppress_warnings = ["myst", "mystnb", "misc.highlighting_failure", "toc.not_included"]
html_theme = "sphinx_book_theme"
html_theme_options = {{
    "show_toc_level": 2,
    "use_download_button": False,
    "secondary_sidebar_items": [],  # the room is for pictures
    "footer_content_items": [],
}}
html_context = {{"default_mode": "auto"}}
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["lab.css"]
html_js_files = ["glossary.js", "lab.js"]
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_show_search_summary = False  # it would load pages, which one opened from the disk can't
'''


_ICON = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<g fill="none" stroke="#1f5fbf" stroke-width="3">
<path d="M3 8h26M3 16h26M3 24h14"/><path d="M22 21l6 6m0-6l-6 6" stroke="#b3261e"/>
</g></svg>
"""
"""Three logs; the last has lost a record."""


def heading_anchor(text: str) -> str:
    """The anchor that JupyterLab gives to a heading, which the notebooks' links use."""
    return text.replace(" ", "-")


def build(
    folder: Path, notebooks: list[str] | None = None, states: int = STATES, **limits: int
) -> list[str]:
    """Build the site into a folder; `notebooks` selects some by path, for a small one.

    `limits` are those of `Recorder`: whole, around, most; `states` limits the states of all models
    that are recorded whole. Returns a sentence for each stepper that could not be made, and for
    each page that is too large. Raises LabError where Sphinx is missing, or the folder is in use.
    """
    _expect_sphinx()
    _expect_free(folder)
    documents = [*notebook_names(notebooks), *_texts()]
    pages = Pages(ROOT, documents)
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary)
        for name in documents:
            _write(sources / name, pages.source(name))
        text = (ROOT / "docs" / "front_page.md").read_text(encoding="utf-8")
        front = front_page.markdown(text, documents, title_of, pages.recordings)
        _write(sources / "index.md", front)
        _write(sources / "conf.py", _CONFIGURATION.format(title=TITLE))
        glossary = glossary_terms((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
        static = sources / "_static"
        _write(static / "lab.css", style_sheet())
        _write(static / "lab.js", script())
        _write(static / "glossary.js", f"globalThis.labGlossary = {json.dumps(glossary)};\n")
        _write(static / "icon.svg", _ICON)
        recorders = dict(pages.recordings)
        for recorder in recorders.values():
            for limit, value in limits.items():
                setattr(recorder, limit, value)
        with _recorded(recorders, states, folder / "_static" / "recordings"):
            _run_sphinx(sources, folder)
            show_before_loading(folder)
    _write(folder / ".nojekyll", "")  # GitHub Pages would leave out folders that begin with _
    return [f"Only a drawing: {each}" for each in pages.static] + list(too_large(folder))


# --- Recordings, made by other processes ---


_recorders: dict[str, Recorder] = {}


@contextmanager
def _recorded(recorders: dict[str, Recorder], states: int, folder: Path) -> Iterator[None]:
    """A context in which all recordings are made in the background; they are complete at its
    end."""
    _recorders.update(recorders)
    folder.mkdir(parents=True, exist_ok=True)
    # A spec that a cell declares can't be sent to another process, but a forked one has it.
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(max(1, os.cpu_count() or 1), mp_context=forked) as pool:
        searches = {name: pool.submit(_explore, name) for name in recorders}
        yield
        maps = {name: each.result() for name, each in searches.items()}
        sizes = {name: states_in(each) for name, each in maps.items()}
        small = {name: size for name, size in sizes.items() if size <= recorders[name].whole}
        whole = smallest(small, states)
        longest_first = sorted(recorders, key=lambda name: -sizes[name] * (name in whole))
        made = [
            pool.submit(_record, name, name in whole, maps[name], folder) for name in longest_first
        ]
        for each in made:
            each.result()
    _recorders.clear()


def _explore(name: str) -> list[DistanceMap | None]:
    return _recorders[name].explore()


def _record(name: str, is_whole: bool, maps: list[DistanceMap | None], folder: Path) -> None:
    recorder = _recorders[name]
    if not is_whole:
        recorder.whole = 0
    _write(folder / f"{name}.js", as_script(name, recorder.record(maps)))


def smallest(sizes: dict[str, int], states: int) -> set[str]:
    """The names of the smallest models, as many as have no more states than these in all."""
    chosen = set()
    for name, size in sorted(sizes.items(), key=lambda each: each[1]):
        states -= size
        if size and states >= 0:
            chosen.add(name)
    return chosen


# --- Pages ---


def _run_sphinx(sources: Path, folder: Path) -> None:
    from sphinx.cmd.build import main

    trees = sources.parent / f"{sources.name}-trees"
    try:
        if main(["-q", "-b", "html", "-d", str(trees), str(sources), str(folder)]):
            raise LabError("Sphinx could not build the pages: see its messages above.")
    finally:
        shutil.rmtree(trees, ignore_errors=True)


def _expect_sphinx() -> None:
    try:
        import myst_nb  # noqa: F401
        import sphinx_book_theme  # noqa: F401
    except ImportError:
        raise LabError(
            "The site needs Sphinx: `python3 lab.py site` installs it, or"
            " `pip install -e .[site]` in an environment of your own."
        ) from None


def _expect_free(folder: Path) -> None:
    """Raise LabError unless the folder is empty, missing, or has a site."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "_static" / "lab.js").exists():
        raise LabError(f"{folder} is not empty, and is not a site: choose another folder.")
    if folder.exists() and not folder.is_dir():
        raise LabError(f"{folder} is a file: choose a folder.")


def notebook_names(chosen: list[str] | None) -> list[str]:
    """The notebooks in reading order, as paths from the kit's folder."""
    found = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    names = [each.relative_to(ROOT).as_posix() for each in found]
    kept = [each for each in names if ".my-copy-" not in each and "/." not in each]
    return [each for each in kept if chosen is None or each in chosen]


def _texts() -> list[str]:
    """The documents that notebooks link to."""
    packages = sorted({each.partition(".")[0] for each in spec_names()})
    names = [
        "docs/glossary.md",
        "docs/writing_specs.md",
        "notebooks/workshop.md",
        *(f"{package}_spec/in_real_{package}.md" for package in packages),
    ]
    return [each for each in names if (ROOT / each).is_file()]


def title_of(folder: str) -> str:
    """The title of a folder of notebooks."""
    known = {each.partition(".")[0] for each in spec_names()}
    return package_title(folder) if folder in known else folder.replace("_", " ").capitalize()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
