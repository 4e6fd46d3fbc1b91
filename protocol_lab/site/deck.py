"""A lesson as one HTML file that needs no network: `python3 lab.py slides LESSON FILE`.

On the screen it is the lesson's player, with the presenter's view (`p`). Printed, or kept as PDF,
it has a page a beat, with the answers and the speaker's notes.
"""

import re
from html import escape
from pathlib import Path

from protocol_lab.errors import LabError, unknown
from protocol_lab.lessons.lesson_files import lesson_named, lesson_names
from protocol_lab.site.pages import stepper_html
from protocol_lab.site.scripts import script, style_sheet
from protocol_lab.site.sessions import Sessions
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import PAPER, printed_beats, static_lesson

_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,">
<style>{style}
main {{ max-width: 1280px; margin: 16px auto; padding: 0 12px }}
main, main > button {{ font: 15px/1.4 system-ui, sans-serif }}
{paper_style}
@media screen {{ .lab-paper {{ display: none }} }}
@media print {{ main {{ display: none }} }}</style>
<main>{holder}</main>{focus}<div class="lab-paper">{paper}</div>
<script>{script}</script>
{frames}</html>
"""

_FOCUS = """<script>
new MutationObserver((_, self) => {
  const lesson = document.querySelector(".lab-stepper");
  if (!lesson) return;
  lesson.focus();
  self.disconnect();
}).observe(document.querySelector("main"), { childList: true, subtree: true });
</script>"""
"""The keys work at once: the lesson gets the focus when it is there."""


def write_deck(name: str, file: Path) -> None:
    """Write the deck of a lesson, "kafka/the_talk", or of its notebook, "kafka/03_the_talk".

    Raises LabError for an unknown lesson, and where the file can't be written.
    """
    plain = re.sub(r"/\d+\w?_", "/", name)
    if plain not in lesson_names() and not name.endswith(".txt"):
        raise unknown("lesson", name, lesson_names())
    session, sessions = begin(lesson_named(plain)), Sessions()
    told = sessions.add(session, file.name)
    text = _PAGE.format(
        title=escape(session.lesson.lesson.title),
        style=style_sheet(),
        focus=_FOCUS,
        holder=stepper_html(told, static_lesson(session.lesson)),
        paper_style=PAPER,
        paper=printed_beats(session.lesson),
        script=script().replace("</", "<\\/"),
        frames="".join(f"<script>{each}</script>" for each in sessions.frames.values()),
    )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{file} can't be written: {error.strerror}.") from None
