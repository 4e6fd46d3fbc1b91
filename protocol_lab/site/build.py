"""Builds the site: `python3 lab.py site [FOLDER]`.

Sphinx makes the pages, with MyST-NB and the Sphinx Book Theme: they show kept notebook outputs,
search without a server, have both themes and print in one build, and accept raw HTML. Meanwhile
other processes compile the searches. What a page does not need for its first picture is then put
after it; addresses that the site had before lead to where their content went; and a service worker
keeps the site for visits without a network.
"""

import csv
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from protocol_lab.catalog import package_title, spec_names
from protocol_lab.errors import LabError
from protocol_lab.lessons.lesson_files import lesson_names
from protocol_lab.page import engine_files
from protocol_lab.site import front_page
from protocol_lab.site.pages import LESSONS, Pages, glossary_terms
from protocol_lab.site.scripts import script, style_sheet
from protocol_lab.site.sessions import Sessions

ROOT = Path(__file__).parents[2]

TITLE = "Replication Protocol Lab"

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
<g fill="none" stroke="#1a5cc0" stroke-width="3">
<path d="M3 8h26M3 16h26M3 24h14"/><path d="M22 21l6 6m0-6l-6 6" stroke="#b3231b"/>
</g></svg>
"""
"""Three logs; the last has lost a record."""


def heading_anchor(text: str) -> str:
    """The anchor that JupyterLab gives to a heading, which the notebooks' links use."""
    return text.replace(" ", "-")


def build(
    folder: Path,
    notebooks: list[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Build the site into a folder; `notebooks` selects some by path, for a small one.

    The pages have the kit's own Python, if it can be had. tell(progress) is called after each page
    and each search. Returns a sentence if there is no Python, and one for each stepper that could
    not be made. Raises LabError where Sphinx is missing, or the folder is in use.
    """
    _expect_sphinx()
    _expect_free(folder)
    _remove_what_has_other_names(folder / "_static")
    template = (ROOT / "docs" / "front_page.html").read_text(encoding="utf-8")
    named = [*notebook_names(notebooks), *lesson_pages(notebooks), *_texts()]
    documents = front_page.in_reading_order(template, named)
    sessions, only_drawn, texts = Sessions(), [], {}
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary, "sources")
        for number, (name, (text, pages)) in enumerate(_pages(documents), 1):
            _write(sources / name, text)
            texts[name] = text
            sessions.update(pages.sessions)
            only_drawn += pages.static
            tell(f"page {number} of {len(documents)}: {name}")
        front = front_page.page(template, texts, title_of, sessions)
        _write(sources / "index.md", front_page.contents(documents, title_of))
        _write(sources / "conf.py", _CONFIGURATION.format(title=TITLE))
        glossary = glossary_terms((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
        static = sources / "_static"
        _write(static / "lab.css", style_sheet())
        engine, without_engine = _write_engine(static)
        _write(static / "lab.js", script(engine, sessions.places))
        _write(static / "glossary.js", f"globalThis.labGlossary = {json.dumps(glossary)};\n")
        _write(static / "icon.svg", _ICON)
        _run_sphinx(sources, folder)
    show_before_loading(folder)
    _write(folder / "index.html", front)
    shutil.copy(ROOT / "docs" / "link.png", folder / "_static" / "link.png")
    for name, text in sessions.frames.items():
        _write(folder / "_static" / "frames" / f"{name}.js", text)
    for name, text in sessions.searches.scripts(tell) if engine else ():
        _write(folder / "_static" / "searches" / f"{name}.js", text)
    write_moved_pages(ROOT, folder)
    write_worker(folder)
    _write(folder / ".nojekyll", "")  # GitHub Pages would leave out folders that begin with _
    drawn = [f"Only a drawing: {each}" for each in only_drawn]
    return [*without_engine, *drawn]


def _pages(documents: list[str]) -> Iterator[tuple[str, tuple[str, Pages]]]:
    """The source of each document's page, with its steppers, made by several processes."""
    forked = multiprocessing.get_context("fork" if hasattr(os, "fork") else None)
    with ProcessPoolExecutor(
        os.cpu_count(),
        forked,
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_DFL),  # an interrupt ends them without a word
    ) as pool:
        yield from zip(documents, pool.map(partial(_page, documents), documents), strict=True)


def _page(documents: list[str], name: str) -> tuple[str, Pages]:
    pages = Pages(ROOT, documents)
    return pages.source(name), pages


def _write_engine(static: Path) -> tuple[str, list[str]]:
    """Write the script with the page's Python; returns its name, or why there is none."""
    try:
        text = engine_files.engine_script()
    except LabError as error:
        return "", [f"Steppers show their own paths only: {error}"]
    name = engine_files.name_of(text)
    _write(static / name, text)
    return name, []


# --- Pages ---


def _run_sphinx(sources: Path, folder: Path) -> None:
    from sphinx.cmd.build import main

    # What Sphinx and MyST-NB keep for the next build lies beside the sources and the pages.
    trees, pages = (sources.with_name(each) for each in ("trees", "pages"))
    if main(["-q", "-b", "html", "-d", str(trees), str(sources), str(pages)]):
        raise LabError("Sphinx could not build the pages: see its messages above.")
    shutil.copytree(pages, folder, dirs_exist_ok=True)


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


def _remove_what_has_other_names(static: Path) -> None:
    """Remove the files of an earlier build whose names change with what is in them."""
    for each in static.glob("engine-*.js"):
        each.unlink()
    for each in ("frames", "searches"):
        shutil.rmtree(static / each, ignore_errors=True)


def notebook_names(chosen: list[str] | None) -> list[str]:
    """The notebooks in reading order, as paths from the kit's folder."""
    found = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    names = [each.relative_to(ROOT).as_posix() for each in found]
    kept = [each for each in names if ".my-copy-" not in each and "/." not in each]
    return [each for each in kept if chosen is None or each in chosen]


def lesson_pages(chosen: list[str] | None) -> list[str]:
    """The pages with a lesson, as "lessons/kafka/one_record.md"."""
    names = [f"{LESSONS}{each}.md" for each in lesson_names()]
    return [each for each in names if chosen is None or each in chosen]


def _texts() -> list[str]:
    """The documents that notebooks and the first page link to."""
    packages = sorted({each.partition(".")[0] for each in spec_names()})
    names = [
        "docs/glossary.md",
        "docs/tla.md",
        "docs/writing_specs.md",
        "docs/on_call.md",
        "docs/runbook_offline_partition.md",
        "docs/public_questions.md",
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


_OPTIONS = re.compile(r'<script src="[^"]*/?documentation_options\.js[^"]*"></script>')
_ICONS = re.compile(r'\s*<script defer src="([^"]*fontawesome\.js[^"]*)"></script>')
_PRELOADED = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')
_SCRIPT = re.compile(r'<script src="')

_ICONS_LAST = """\
<script>
addEventListener("load", () => {{
  document.head.append(Object.assign(document.createElement("script"), {{ src: "{address}" }}));
}});
</script>
"""


def show_before_loading(folder: Path) -> None:
    """Change all pages of a built site: scripts run once the page is there, icons come last.

    Sphinx and its theme load some 700 kB of scripts (compressed) in a page's head, most of them the
    theme's icons. On a slow line the picture would wait for them.
    """
    options = (folder / "_static" / "documentation_options.js").read_text(encoding="utf-8")
    for page in folder.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        head, end, body = html.partition("</head>")
        page.write_text(_reordered(head, options) + end + body, encoding="utf-8")


def _reordered(head: str, options: str) -> str:
    """A page's head; `options` is a script that a later line of the head needs at once."""
    head = _PRELOADED.sub("", head)
    head = _OPTIONS.sub(lambda _: f"<script>{options}</script>", head)
    head = _SCRIPT.sub('<script defer src="', head)
    icons = _ICONS.search(head)
    if icons is None:
        return head
    return _ICONS.sub("", head) + _ICONS_LAST.format(address=icons[1])


_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={to}"><link rel="canonical" href="{to}">
<p>This page is <a href="{to}">here</a> now.</p></html>
"""


def moved_pages(root: Path) -> dict[str, str]:
    """The new page of each old one, without their endings, by docs/moved_pages.csv."""
    with (root / "docs" / "moved_pages.csv").open(encoding="utf-8", newline="") as file:
        return {each["old"]: each["new"] for each in csv.DictReader(file)}


def write_moved_pages(root: Path, site: Path) -> None:
    """Write a page for each old address whose new one the site has."""
    for old, new in moved_pages(root).items():
        page, to = site / f"{old}.html", site / f"{new}.html"
        if to.is_file():
            page.parent.mkdir(parents=True, exist_ok=True)
            way = Path(os.path.relpath(to, page.parent)).as_posix()
            page.write_text(_PAGE.format(to=way), encoding="utf-8")


WORKER = "offline.js"
"""Its name. It lies in the site's folder, since a service worker serves only what is below it."""

_NOT_KEPT = (".map", ".inv", ".buildinfo", ".nojekyll", WORKER)


def write_worker(folder: Path) -> None:
    """Write the service worker of a built site. It changes when any file of the site does."""
    files = sorted(
        each.relative_to(folder).as_posix()
        for each in folder.rglob("*")
        if each.is_file() and not each.name.endswith(_NOT_KEPT) and "_sources" not in each.parts
    )
    digest = hashlib.sha256()
    for name in files:
        digest.update(name.encode())
        digest.update((folder / name).read_bytes())
    kept = json.dumps({"name": f"lab-{digest.hexdigest()[:12]}", "files": files})
    script = (Path(__file__).parent / "js" / WORKER).read_text(encoding="utf-8")
    (folder / WORKER).write_text(f"const KEPT = {kept};\n{script}", encoding="utf-8")
