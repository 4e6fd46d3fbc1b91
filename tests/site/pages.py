"""A page with steppers, without the rest of the site."""

from dataclasses import replace

from protocol_lab.site.build import write_worker
from protocol_lab.site.notebook_steppers import StepperCell
from protocol_lab.site.pages import stepper_html
from protocol_lab.site.scripts import script, style_sheet
from protocol_lab.site.sessions import Sessions
from protocol_lab.stepper.starting_point import Session, begin


def write_page(folder, *opened, engine="", searched=0, more=""):
    """A page with a stepper for each of these, which may be sessions or cells of a notebook that
    show one; returns its address on the disk.

    engine: the script with the page's Python; `searched`: for so many steppers the page has the
    search of all states, which takes long to compile. more: what stands below the steppers.
    """
    sessions = Sessions()
    holders = []
    for k, each in enumerate(opened):
        if isinstance(each, StepperCell):
            told = sessions.add(each.session, needed=each.needed)
        else:
            told = sessions.add(each if isinstance(each, Session) else begin(each))
        holders.append(stepper_html(told, ""))
        if k + 1 == searched:
            searches = replace(sessions.searches, asked=dict(sessions.searches.asked))
    if searched:
        sessions.searches = searches
    files = {"lab.js": script("engine.js" if engine else ""), "engine.js": engine}
    files |= {f"frames/{name}.js": text for name, text in sessions.frames.items()}
    for name, text in sessions.searches.scripts() if searched else ():
        files[f"searches/{name}.js"] = text
    for name, text in files.items():
        path = folder / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    page = folder / "page.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
        f"<style>{style_sheet()}</style><main>"
        f'{"".join(holders)}{more}</main><script src="_static/lab.js"></script>',
        encoding="utf-8",
    )
    write_worker(folder)
    return page.as_uri()
