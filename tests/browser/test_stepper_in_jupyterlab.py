"""The stepper in a running JupyterLab: what depends on the notebook around it, or on its kernel.

All else that a learner does with it is in `test_stepper_in_use`.
"""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from protocol_lab.catalog import load
from protocol_lab.stepper.static_view import static_html
from protocol_lab.traces.walk import Walk
from tests.browser.stepper_page import expect_depth, key
from tests.stepper.test_stepper import TALK

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEP = "from protocol_lab.notebook import step\nstepper = step('kafka.kip_320')\nstepper"
REPLAY = (
    "from protocol_lab.traces.scenario_format import parse_scenario\n"
    "from protocol_lab.stepper import Stepper\n"
    f"stepper = Stepper(parse_scenario({TALK!r}))\nstepper"
)


@pytest.fixture
def fresh(rerun):
    """A notebook with a stepper at the start of KIP-320."""
    return _shown(rerun(STEP))


@pytest.fixture
def talk(rerun):
    """A notebook with a stepper at the start of the talk's loss."""
    return _shown(rerun(REPLAY))


def _open(lab, cells):
    notebook = lab(cells)
    notebook.run_all()
    return _shown(notebook)


def _shown(notebook):
    notebook.stepper().wait_for()
    return notebook


def test_the_keyboard_alone_suffices_and_never_reaches_the_notebook(fresh):
    stepper, keyboard = fresh.stepper(), fresh.page.keyboard
    key(stepper, "controller_elect_leader(new_leader=2)").focus()
    keyboard.press("Enter")
    expect_depth(stepper, 2)
    key(stepper, "controller_shrink_isr(replica=3)").focus()
    keyboard.press("Space")
    expect_depth(stepper, 3)
    for letter in "ddaxb":  # would delete, add and cut cells
        keyboard.press(letter)
    expect(fresh.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1)
    key(stepper, "undo").focus()
    expect(key(stepper, "undo")).to_have_css("outline-style", "solid")


def test_a_cell_moves_the_walk_and_the_widget_follows(lab):
    notebook = _open(lab, [STEP, "stepper.walk.take('controller_elect_leader(new_leader=3)');"])
    expect_depth(notebook.stepper(), 2)


@pytest.mark.rarely
def test_an_error_in_a_cell_is_its_sentence(lab):
    notebook = lab(["from protocol_lab.notebook import step\nstep('kafka.kip_320', brokers=3)"])
    notebook.run_all()
    expect(notebook.output(0)).to_contain_text("kafka.kip_320 has no constant 'brokers'")
    expect(notebook.output(0)).not_to_contain_text("Traceback")


@pytest.mark.rarely
def test_the_drawing_hides_beside_a_living_widget_and_shows_without_one(lab, tmp_path):
    notebook = _open(lab, [STEP])
    expect(notebook.output(0).locator(".lab-static")).to_be_hidden()
    html = static_html(Walk.begin(load("kafka.kip_320").bind()))
    path = _saved(tmp_path, {"text/html": html, "text/plain": "the start"})
    saved = lab(path)
    drawing = saved.output(0).locator(".lab-static")
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("Every promise kept")
    loaded = "image => image.complete && image.naturalWidth > 300"
    assert drawing.locator("img").evaluate(loaded)
    saved.shoot("saved")


@pytest.mark.rarely
def test_without_its_kernel_it_keeps_the_picture_and_says_so(lab):
    fresh = _open(lab, [STEP])
    stepper = fresh.stepper()
    fresh.page.evaluate("window.jupyterapp.commands.execute('kernelmenu:shutdown')")
    expect(fresh.page.locator(".jp-NotebookPanel-toolbar")).to_contain_text("No Kernel")
    stepper.locator(".ls-choice").first.click()
    expect(stepper.locator(".ls-offer")).to_contain_text("kernel")
    expect(stepper.locator(".ls-picture svg")).to_be_visible()
    assert all("Cannot send" in each for each in fresh.errors)  # where no kernel is left
    fresh.errors.clear()


RUN = "command => window.jupyterapp.commands.execute(command)"


@pytest.mark.rarely
def test_after_a_restart_one_click_goes_on_from_there(lab):
    """With its branches; and what the notebook then saves is where the walk went on to."""
    fresh = _open(lab, [STEP])
    stepper = fresh.stepper()
    key(stepper, "controller_elect_leader(new_leader=1)").click()
    expect_depth(stepper, 2)
    fresh.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    expect(stepper.locator(".ls-offer")).to_contain_text("This is where you were")
    fresh.shoot("lost", stepper)
    key(stepper, "offer").click()
    expect(stepper.locator(".ls-offer")).to_be_hidden()
    step_on = key(stepper, "become_leader(request=LeaderAndIsrRequest(leader=1))")
    step_on.click()
    expect_depth(stepper, 3)
    fresh.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    expect(stepper.locator(".ls-offer")).to_contain_text("This is where you were")
    fresh.page.wait_for_timeout(1000)
    fresh.page.evaluate(RUN, "docmanager:save")
    fresh.page.reload()
    expect_depth(stepper, 3)
    key(stepper, "offer").click()
    expect(stepper.locator(".ls-offer")).to_be_hidden()
    key(stepper, "undo").click()
    expect_depth(stepper, 2)


@pytest.mark.rarely
def test_a_cell_that_is_run_again_offers_to_go_on(lab):
    fresh = _open(lab, [STEP])
    for depth in (2, 3):
        fresh.stepper().locator(".ls-choice").first.click()
        expect_depth(fresh.stepper(), depth)
    fresh.run_all()
    expect(fresh.stepper().locator(".ls-offer")).to_have_text(
        "You were at state 3 of 3 here.go on from there"
    )
    expect_depth(fresh.stepper(), 1)
    key(fresh.stepper(), "offer").click()
    expect_depth(fresh.stepper(), 3)
    expect(fresh.stepper().locator(".ls-offer")).to_be_hidden()


@pytest.mark.rarely
def test_a_saved_stepper_is_found_again_as_it_was_left_without_a_kernel(lab):
    """And JupyterLab's file browser is closed where nobody has opened it."""
    fresh = _open(lab, [STEP])
    key(fresh.stepper(), "controller_elect_leader(new_leader=1)").click()
    expect_depth(fresh.stepper(), 2)
    fresh.page.evaluate(RUN, "docmanager:save")
    fresh.page.evaluate(RUN, "kernelmenu:shutdown")
    expect(fresh.page.locator(".jp-NotebookPanel-toolbar")).to_contain_text("No Kernel")
    _reopen(fresh.page, re.sub("/lab/workspaces/[^/]+/", "/lab/", fresh.page.url))
    expect_depth(fresh.stepper(), 2)
    expect(fresh.stepper().locator(".ls-picture svg")).to_be_visible()
    assert fresh.page.get_by_text("Error displaying widget").count() == 0
    expect(fresh.page.locator(".jp-FileBrowser").first).to_be_hidden()
    fresh.shoot("found-again")


def _reopen(page, address):
    """Open a saved notebook, and once more where its widgets were not read from the file.

    jupyterlab_widgets draws an output before it has read the file if the new kernel answers
    early, and does not draw it again (ipywidgets issue 3231).
    """
    for _ in range(3):
        page.goto(address)
        drawn = page.locator(".lab-stepper .ls-timeline").first
        not_found = page.get_by_text("Error displaying widget: model not found")
        expect(drawn.or_(not_found).first).to_be_visible()
        if drawn.count():
            return


def _saved(folder, data):
    """A notebook file that JupyterLab has no reason to trust."""
    output = nbformat.v4.new_output("display_data", data=data)
    cell = nbformat.v4.new_code_cell("stepper", outputs=[output], execution_count=1)
    path = folder / "saved.ipynb"
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=metadata), path)
    return path


# --- What is new beside the walk ---------------------------------------------------------------


FITS = """stepper => {
  const inside = name => {
    const box = stepper.querySelector(name).getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight && box.height > 0;
  };
  const rect = stepper.getBoundingClientRect();
  const picture = stepper.querySelector(".ls-staged svg");
  const scale = picture.getScreenCTM().a;
  const type = [...picture.querySelectorAll("text")].filter(each => each.textContent);
  return {
    height: rect.height,
    seen: [".ls-panel", ".ls-can", ".ls-caption", ".ls-bar", ".ls-timeline"].every(inside),
    smallest: Math.min(...type.map(each => scale * parseFloat(each.getAttribute("font-size")))),
    controls: stepper.querySelector(".ls-bar").getBoundingClientRect().top - rect.top,
    overflow: stepper.scrollWidth - stepper.clientWidth,
  };
}"""


@pytest.mark.rarely
@pytest.mark.parametrize(("width", "height"), [(1280, 720)])
def test_everything_is_in_view_at_once_and_keeps_its_place(lab, width, height):
    """With the file browser open, as JupyterLab shows itself."""
    notebook = lab([REPLAY], width=width, height=height)
    notebook.run_all()
    stepper = notebook.stepper()
    expect(stepper.locator(".ls-staged svg")).to_be_visible()
    stepper.evaluate("stepper => stepper.scrollIntoView({block: 'end'})")
    first = stepper.evaluate(FITS)
    assert first["seen"], first
    child = notebook.page.locator(".jp-OutputArea-child:has(.lab-stepper)")
    expect(child.locator(".jp-OutputPrompt")).to_be_hidden()  # the picture has its room
    assert first["overflow"] == 0
    stepper.locator(".ls-timeline").press("End")
    expect(stepper.locator(".ls-verdicts .ls-broken").first).to_be_visible()
    notebook.shoot("fits")
    assert stepper.evaluate(FITS)["controls"] == first["controls"]
    assert stepper.evaluate(FITS)["smallest"] > 8.5
    key(stepper, "tools").click()
    key(stepper, "keys").click()
    for each in stepper.locator("kbd").all():
        assert each.bounding_box()["height"] < 24, "on one line"


@pytest.mark.rarely
def test_in_jupyterlabs_dark_theme_drawings_are_dark(talk):
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    talk.page.evaluate(change, "JupyterLab Dark")
    talk.page.locator("[data-jp-theme-light='false']").wait_for(state="attached")
    drawing = talk.page.locator(".lab-static").first
    assert "invert" in drawing.evaluate("element => getComputedStyle(element).filter")
    inside = drawing.locator("img").first
    assert inside.evaluate("element => getComputedStyle(element).filter") == "none"
    talk.page.evaluate(change, "JupyterLab Light")
    talk.page.locator("[data-jp-theme-light='true']").wait_for(state="attached")
