"""Notebook kafka/03 in a running JupyterLab: every scenario of the talk is played to its end."""

import re

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from protocol_lab.notebook import scenario
from tests.notebook_outputs import FOLDER

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATH = FOLDER / "kafka" / "03_the_talk.ipynb"
LOSS, SAFETY = "talk_46_56_found_scenario", "committed messages never lost"
"""A scenario that ends with a loss, and what its last state must say is broken."""


def replayed() -> list[str]:
    """The scenarios that the notebook replays, in its order."""
    sources = [cell.source for cell in nbformat.read(PATH, as_version=4).cells]
    return [name for source in sources for name in re.findall(r'^replay\("(\w+)"', source, re.M)]


def slides_of(name: str) -> list[int]:
    """The slides that the steps of a scenario belong to."""
    steps = [line for line in scenario(name).lines if line.kind == "step"]
    return sorted({int(step.slide) for step in steps if step.slide})


def play_to_the_end(stepper: Locator) -> list[int]:
    """Walk from the first state to the last with the arrow key; the slides that were named."""
    timeline = stepper.locator(".ls-timeline")
    timeline.focus()
    timeline.press("Home")
    expect(timeline).to_have_attribute("aria-valuenow", "1")
    slides = []
    for depth in range(2, int(timeline.get_attribute("aria-valuemax")) + 1):
        timeline.press("ArrowRight")
        expect(timeline).to_have_attribute("aria-valuenow", str(depth))
        caption = stepper.locator(".ls-caption").inner_text()
        slides += [int(each) for each in re.findall(r"Slide (\d+)", caption)]
    return sorted(set(slides))


@pytest.mark.rarely
def test_every_slide_can_be_played_and_the_loss_is_told(lab):
    notebook = lab(PATH)
    notebook.run_all()
    names = replayed()
    steppers = notebook.page.locator(".lab-stepper")
    by_title = {scenario(name).title: name for name in names}
    seen = set()
    for number in range(steppers.count()):
        stepper = steppers.nth(number)
        stepper.scroll_into_view_if_needed()
        told = [name for title, name in by_title.items() if title in stepper.inner_text()]
        if not told:
            continue  # a stepper to walk freely
        (name,) = told
        assert play_to_the_end(stepper) == slides_of(name)
        notebook.shoot(name, stepper)
        if name == LOSS:
            expect(stepper.locator(".ls-verdicts .ls-broken").first).to_contain_text(SAFETY)
            expect(stepper.locator(".ls-picture")).to_contain_text("lost")
        seen.add(name)
    assert seen == set(names)
    shown = {slide for name in seen for slide in slides_of(name)}
    assert set(range(46, 58)) <= shown
    assert {6, 11, 12, 14, 15, 18, 19, 20, 22, 23, 24, 26, 27, 29, 30, 31, 32, 34} <= shown


@pytest.mark.rarely
def test_without_a_kernel_the_drawings_are_there(lab):
    notebook = lab(PATH)
    pictures = notebook.page.locator(".jp-OutputArea img")
    strips = sum("strip(" in source for source in _code())
    widgets = sum(source.startswith(("replay(", "step(")) for source in _code())
    assert pictures.count() >= strips + widgets
    widths = pictures.evaluate_all("all => all.map(each => each.naturalWidth)")
    assert all(width > 0 for width in widths), "an image that does not load"
    assert notebook.page.get_by_text("Error displaying widget").count() == 0


def _code() -> list[str]:
    return [
        cell.source for cell in nbformat.read(PATH, as_version=4).cells if cell.cell_type == "code"
    ]
