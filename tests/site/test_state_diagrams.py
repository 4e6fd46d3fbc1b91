"""State diagrams in Mermaid's notation become images on a page."""

import json
import re
from base64 import b64decode

from protocol_lab.site.state_diagrams import with_diagrams
from tests import ROOT

DIAGRAM = """Before.

```mermaid
stateDiagram-v2
    idle --> busy: is "asked"
    busy --> idle: answers
```

After."""


def test_a_diagram_is_drawn_with_its_states_and_what_triggers_each_arrow():
    page = with_diagrams(DIAGRAM)
    assert page.startswith("Before.\n\n<div")
    assert page.endswith("</div>\n\nAfter.")
    drawing = b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
    for each in ("idle", "busy", "answers", "asked"):
        assert each in drawing
    assert 'alt="idle to busy: is &quot;asked&quot;; busy to idle: answers"' in page


def test_other_blocks_stay_as_they_are():
    assert with_diagrams("```python\na --> b: c\n```") == "```python\na --> b: c\n```"


def test_no_notebook_keeps_a_diagram_that_a_page_would_show_as_text():
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert "```mermaid" not in with_diagrams("".join(cell["source"])), path
