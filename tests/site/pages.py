"""A page with steppers that are fed from recordings, without the rest of the site."""

import json

from protocol_lab.site.packing import as_script
from protocol_lab.site.scripts import script, style_sheet
from protocol_lab.site.sessions import Recordings
from protocol_lab.stepper.starting_point import begin


def write_page(folder, *opened, **limits):
    """A page with a stepper for each of these; returns its address on the disk."""
    recordings = Recordings()
    holders = [
        '<div class="lab-recorded"><script type="application/json">'
        + json.dumps(recordings.add(begin(each)))
        + "</script></div>"
        for each in opened
    ]
    (folder / "recordings").mkdir(parents=True)
    for name, recorder in recordings:
        for limit, value in limits.items():
            setattr(recorder, limit, value)
        path = folder / "recordings" / f"{name}.js"
        path.write_text(as_script(name, recorder.record()), encoding="utf-8")
    (folder / "lab.js").write_text(script(), encoding="utf-8")
    page = folder / "page.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{style_sheet()}</style><main>'
        f'{"".join(holders)}</main><script src="lab.js"></script>',
        encoding="utf-8",
    )
    return page.as_uri()
