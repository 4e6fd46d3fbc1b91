"""Pages at addresses that the site had before, which lead to where their content went.

docs/moved_pages.csv lists them: the old and the new page, without their endings.
"""

import csv
import os
from pathlib import Path

_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={to}"><link rel="canonical" href="{to}">
<p>This page is <a href="{to}">here</a> now.</p></html>
"""


def moved_pages(root: Path) -> dict[str, str]:
    """The new page of each old one, by the list in the kit's folder."""
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
