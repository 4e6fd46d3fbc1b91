"""Puts what a page does not need for its first picture after it.

Sphinx and its theme load some 700 kB of scripts (compressed) in a page's head, most of them the
theme's icons. On a slow line the picture would wait for them.
"""

import re
from pathlib import Path

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
    """Change all pages of a built site: scripts run once the page is there, icons come last."""
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
