"""Write the site's addresses into README and notebooks: `python -m tests.update_links`.

They come from `protocol_lab.addresses`; where nothing is published there are none. In a notebook
the link is the last line of its first cell.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from protocol_lab.addresses import link_to_page, links_of_readme
from tests import ROOT
from tests.notebook_outputs import notebooks

_OF_README = re.compile(r"^\*\*(\[Open the lab|In a browser\*\*:) .*$", re.MULTILINE)
_TO_PAGE = re.compile(r"\n+\[This notebook as a page\].*")


def main() -> None:
    """Write the files that differ, and print their names."""
    for path, text in linked_files():
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))


def linked_files() -> Iterator[tuple[Path, str]]:
    """Each file that has an address, with its text as it should be."""
    readme = ROOT / "README.md"
    yield readme, _OF_README.sub(links_of_readme(), readme.read_text(encoding="utf-8"))
    for path in notebooks():
        yield path, _linked(path)


def _linked(path: Path) -> str:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first = notebook["cells"][0]
    text = _TO_PAGE.sub("", "".join(first["source"])).rstrip()
    link = link_to_page(path.relative_to(ROOT).as_posix())
    first["source"] = f"{text}\n\n{link}".rstrip().splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
