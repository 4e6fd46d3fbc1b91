"""The stepper in a running JupyterLab, used as a learner uses it."""

import re

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from protocol_lab.catalog import load
from protocol_lab.stepper.static_view import static_html
from protocol_lab.teaching.challenges import challenge_named, shortest
from protocol_lab.traces.walk import Walk
from tests.browser.jupyterlab import ROOT
from tests.stepper.test_stepper import TALK

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEP = "from protocol_lab.notebook import step\nstepper = step('kafka.kip_320')\nstepper"
REPLAY = (
    "from protocol_lab.traces.scenarios import parse_scenario\n"
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


def key(stepper: Locator, name: str) -> Locator:
    """The button or field with this name."""
    return stepper.locator(f'[data-key="{name}"]')


def moment(stepper: Locator, depth: int) -> Locator:
    return stepper.locator(f".ls-timeline [data-depth='{depth}']").first


def expect_depth(stepper: Locator, depth: int) -> None:
    expect(stepper.locator(".ls-timeline")).to_have_attribute("aria-valuenow", str(depth))


def test_a_step_changes_picture_lists_caption_and_timeline(fresh):
    stepper = fresh.stepper()
    before = stepper.locator(".ls-picture").inner_html()
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-320")
    expect(stepper.locator(".ls-verdicts .ls-holds").first).to_contain_text("weak isr")
    key(stepper, "controller_elect_leader(new_leader=1)").click()
    expect_depth(stepper, 2)
    expect(stepper.locator(".ls-caption")).to_contain_text("controller_elect_leader(new_leader=1)")
    assert stepper.locator(".ls-picture").inner_html() != before
    expect(stepper.locator(".ls-moment")).to_have_count(2)
    expect(key(stepper, "become_leader(request=LeaderAndIsrRequest(leader=1))")).to_be_visible()
    fresh.shoot("stepped")


def test_what_cannot_happen_says_why(fresh):
    stepper = fresh.stepper()
    expect(stepper.locator(".ls-not").first).to_be_hidden()
    key(stepper, "cannot").click()
    leader_write = stepper.locator(".ls-not", has_text="leader_write")
    expect(leader_write).to_contain_text("the replica does not believe that it leads")
    expect(leader_write).to_contain_text("replica 2")
    expect(stepper.locator(".ls-not", has_text="become_leader")).to_contain_text("there are none")
    expand = stepper.locator(".ls-not", has_text="fenced_leader_expand_isr")
    expect(expand.locator("summary")).to_contain_text("9 choices")
    expand.locator("summary").click()
    expect(expand.get_by_text("leader 2, follower 3")).to_be_visible()
    key(stepper, "cannot").click()


def test_undo_and_redo_by_button_and_by_key(fresh):
    stepper, keyboard = fresh.stepper(), fresh.page.keyboard
    for depth in (2, 3):
        stepper.locator(".ls-choice").first.click()
        expect_depth(stepper, depth)
    key(stepper, "undo").click()
    expect_depth(stepper, 2)
    keyboard.press("ArrowRight")
    expect_depth(stepper, 3)
    keyboard.press("Home")
    expect_depth(stepper, 1)
    keyboard.press("End")
    expect_depth(stepper, 3)
    stepper.locator(".ls-caption").click()  # nothing to press there: the keys still work
    keyboard.press("ArrowLeft")
    expect_depth(stepper, 2)
    for _ in range(4):
        keyboard.press("ArrowLeft")
    expect_depth(stepper, 1)


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


def test_the_tab_of_the_state_marks_what_differs_and_stays(fresh):
    stepper = fresh.stepper()
    key(stepper, "tab-state").click()
    key(stepper, "controller_elect_leader(new_leader=1)").click()
    expect(stepper.locator("tr.ls-differs th")).to_contain_text(["quorum_state.leader_epoch"])
    expect(stepper.locator(".ls-differs ins").first).to_be_visible()
    expect(key(stepper, "tab-state")).to_have_attribute("aria-selected", "true")
    fresh.shoot("state")


def test_a_scenario_plays_to_the_violation(talk):
    stepper = talk.stepper()
    expect(stepper.locator(".ls-moment")).to_have_count(16)
    expect(stepper.locator(".ls-moment.ls-violated text")).to_have_text(["56 ✗", "violated"])
    key(stepper, "speed").select_option("fast")
    key(stepper, "play").click()
    expect(key(stepper, "play")).to_contain_text("pause")
    expect(stepper.locator(".ls-caption")).to_contain_text("Slide 46")
    expect(stepper.locator(".ls-broken")).to_contain_text(
        "committed messages never lost violated: "
    )
    expect_depth(stepper, 16)
    expect(stepper.locator(".ls-caption")).to_contain_text("Slide 56 offset 1 is lost")
    expect(key(stepper, "play")).to_contain_text("play")
    talk.shoot("violated", stepper)


def test_pausing_stops_where_it_is(talk):
    stepper = talk.stepper()
    key(stepper, "speed").select_option("fast")
    key(stepper, "play").click()
    expect_depth(stepper, 3)
    key(stepper, "play").click()
    expect(key(stepper, "play")).to_contain_text("play")
    place = stepper.locator(".ls-timeline").get_attribute("aria-valuenow")
    talk.page.wait_for_timeout(1800)
    expect_depth(stepper, int(place))


def test_the_learner_takes_over_from_a_scenario_and_goes_back(talk):
    stepper = talk.stepper()
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    expect(stepper.locator(".ls-caption")).to_contain_text("Slide 51")
    expect(stepper.locator(".ls-choice.ls-ahead")).to_have_text(
        re.compile(r"replica\s3, 1\sentry next ▸")
    )
    key(stepper, "leader_failure(replica=1)").click()
    expect_depth(stepper, 12)
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("branch 2")
    talk.shoot("branch", stepper)
    key(stepper, "branch").select_option("main")
    expect_depth(stepper, 16)
    stepper.locator(".ls-moment.ls-aside").click()
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("branch 2")


def test_fork_with_a_name(talk):
    stepper = talk.stepper()
    moment(stepper, 9).click()
    key(stepper, "fork").click()
    key(stepper, "fork-name").fill("let replica 3 lead")
    talk.page.keyboard.press("Enter")
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("let replica 3 lead")
    expect(key(stepper, "fork-name")).to_have_count(0)
    key(stepper, "become_out_of_sync(replica=1)").or_(stepper.locator(".ls-choice").last).click()
    expect_depth(stepper, 10)


def test_export_by_text_clipboard_and_file(talk):
    stepper = talk.stepper()
    moment(stepper, 3).click()
    expect_depth(stepper, 3)
    key(stepper, "export").click()
    text = key(stepper, "export-text")
    expect(text).to_have_value(re.compile(r"become_out_of_sync\(replica=2\)"))
    assert "swap_preferred_leader" not in text.input_value()
    key(stepper, "export-format").select_option("mermaid")
    expect(text).to_have_value(re.compile("^sequenceDiagram"))
    key(stepper, "export-copy").click()
    copied = talk.page.evaluate("navigator.clipboard.readText()")
    assert copied == text.input_value()
    with talk.page.expect_download() as download:
        key(stepper, "export-save").click()
    assert download.value.suggested_filename == "unclean_leader_election.mmd"
    assert download.value.path().read_text(encoding="utf-8") == copied


def test_a_pasted_scenario_is_played_and_a_wrong_one_named(fresh):
    stepper = fresh.stepper()
    key(stepper, "load").click()
    wrong = TALK.replace("become_follower(replica=2)", "become_follower(replica=7)")
    key(stepper, "load-text").fill(wrong)
    key(stepper, "paste-do").click()
    notice = stepper.locator(".ls-notice")
    expect(notice).to_have_text(
        "your scenario, line 8: become_follower(replica=7): there is no such choice in this state;"
        " for replica there are 1, 2, 3."
    )
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-320")
    expect(key(stepper, "load-text")).to_have_value(wrong)  # to be corrected
    fresh.shoot("wrong")
    key(stepper, "load-text").fill(TALK)
    key(stepper, "paste-do").click()
    expect(stepper.locator("h2")).to_have_text("Kafka · unclean leader election")
    expect(notice).to_be_hidden()
    expect(key(stepper, "load-text")).to_have_count(0)
    expect(stepper.locator(".ls-moment")).to_have_count(16)


def test_a_scenario_that_ships_is_loaded_and_the_walk_before_it_kept(fresh):
    stepper = fresh.stepper()
    stepper.locator(".ls-choice").first.click()
    expect_depth(stepper, 2)
    key(stepper, "load").click()
    key(stepper, "load-name").select_option("kip_320_isr_emptied")
    key(stepper, "load-do").click()
    expect(stepper.locator(".ls-caption")).to_contain_text("The ISR can be emptied")
    expect(stepper.locator(".ls-moment.ls-ahead").first).to_be_visible()
    key(stepper, "load").click()
    key(stepper, "back-do").click()
    expect(stepper.locator(".ls-moment")).to_have_count(2)
    expect_depth(stepper, 2)


def test_a_cell_moves_the_walk_and_the_widget_follows(lab):
    notebook = _open(lab, [STEP, "stepper.walk.take('controller_elect_leader(new_leader=3)');"])
    expect_depth(notebook.stepper(), 2)


def test_an_error_in_a_cell_is_its_sentence(lab):
    notebook = lab(["from protocol_lab.notebook import step\nstep('kafka.kip_320', brokers=3)"])
    notebook.run_all()
    expect(notebook.output(0)).to_contain_text("kafka.kip_320 has no constant 'brokers'")
    expect(notebook.output(0)).not_to_contain_text("Traceback")


def test_the_drawing_hides_beside_a_living_widget_and_shows_without_one(lab, tmp_path):
    notebook = _open(lab, [STEP])
    expect(notebook.output(0).locator(".lab-static")).to_be_hidden()
    html = static_html(Walk.begin(load("kafka.kip_320").bind()))
    path = _saved(tmp_path, {"text/html": html, "text/plain": "the start"})
    saved = lab(path)
    drawing = saved.output(0).locator(".lab-static")
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("What can happen now")
    loaded = "image => image.complete && image.naturalWidth > 300"
    assert drawing.locator("img").evaluate(loaded)
    saved.shoot("saved")


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


FAULTY = """
import anywidget

class Faulty(anywidget.AnyWidget):
    _esm = "export default { render() { setTimeout(() => { throw new Error('its own') }) } }"

Faulty()
"""


def test_an_error_of_a_widgets_script_is_noticed(lab):
    notebook = lab([FAULTY])
    with notebook.page.expect_event("pageerror"):
        notebook.run_all()
    with notebook.page.expect_event("pageerror"):
        notebook.page.evaluate("setTimeout(() => { throw new Error('of the page') })")
    (error,) = notebook.errors
    assert "its own" in error
    notebook.errors.clear()


RUN = "command => window.jupyterapp.commands.execute(command)"


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


def test_the_distances_are_shown_on_request_and_fall_along_the_way(talk):
    stepper = talk.stepper()
    near = stepper.locator(".ls-near")
    moment(stepper, 11).click()
    expect(stepper.locator(".ls-choice").first).to_be_visible()
    expect(near).to_have_count(0)
    key(stepper, "spoilers").click()
    expect(near).to_have_text("nearest violation: 5 steps")
    expect(stepper.locator(".ls-nearer")).to_have_text("replica 3, 1 entry next ▸ → 4")
    stepper.locator(".ls-nearer").click()
    expect(near).to_have_text("nearest violation: 4 steps")
    talk.shoot("near", stepper)
    key(stepper, "spoilers").click()
    expect(near).to_have_count(0)
    expect(stepper.locator(".ls-distance")).to_have_count(0)


def test_a_refusal_shows_its_values_and_the_code_that_refused(talk):
    stepper = talk.stepper()
    key(stepper, "cannot").click()
    refused = stepper.locator(".ls-not", has_text="elect_new_leader")
    expect(refused.locator(".ls-values")).to_have_text("zk_state.leader = 1")
    refused.locator(".ls-look").click()
    expect(stepper.locator(".ls-line-returned")).to_contain_text('return "there is a leader"')
    talk.shoot("code", stepper)


@pytest.mark.parametrize("tab", ["sequence", "graph", "invariants"])
def test_the_drawn_tabs(talk, tab):
    stepper = talk.stepper()
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    key(stepper, f"tab-{tab}").click()
    expect(stepper.locator(f".ls-{tab} svg").first).to_be_visible(timeout=60_000)
    talk.shoot(tab, stepper)
    if tab != "graph":
        stepper.locator(f".ls-{tab} [data-depth='3']").first.dispatch_event("click")
        expect_depth(stepper, 3)


def test_a_typed_state_is_found_and_lies_ahead(talk):
    stepper = talk.stepper()
    key(stepper, "find").click()
    key(stepper, "find-typed").fill("s.zk_state.leader == 2")
    key(stepper, "find-do").click()
    finding = stepper.locator(".ls-finding")
    expect(finding).to_contain_text("nearest such state")
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("to: s.zk_state.leader == 2")
    expect(stepper.locator(".ls-choice.ls-ahead")).to_be_visible()
    key(stepper, "find-typed").fill("s.nonsense")
    key(stepper, "find-do").click()
    expect(finding).to_contain_text("nonsense")
    talk.shoot("found", stepper)


def test_branches_are_compared_step_by_step(talk):
    stepper = talk.stepper()
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    key(stepper, "leader_failure(replica=1)").click()
    expect_depth(stepper, 12)
    key(stepper, "tab-compare").click()
    key(stepper, "compare-on").click()
    expect(stepper.locator(".ls-compare .ls-differs th").first).to_contain_text("committed")
    expect(stepper.locator(".ls-compare figure")).to_have_count(2)
    talk.shoot("compare", stepper)


def test_the_learner_takes_over_with_a_button(talk):
    stepper = talk.stepper()
    moment(stepper, 9).click()
    expect_depth(stepper, 9)
    key(stepper, "take-over").click()
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("my way")
    expect(key(stepper, "take-over")).to_be_disabled()


def test_a_counterexample_of_tlc_and_a_link_are_walked_along(fresh):
    stepper = fresh.stepper()
    printed = (ROOT / "tests" / "tlc_traces" / "kip_101_weak_isr.txt").read_text(encoding="utf-8")
    key(stepper, "load").click()
    key(stepper, "load-text").fill(printed)
    key(stepper, "paste-do").click()
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-101")
    length = stepper.locator(".ls-timeline").get_attribute("aria-valuenow")
    key(stepper, "export").click()
    key(stepper, "export-format").select_option("link")
    expect(key(stepper, "export-text")).to_have_value(re.compile(r"^lab1\."))
    link = key(stepper, "export-text").input_value()
    key(stepper, "first").click()
    expect_depth(stepper, 1)
    key(stepper, "load").click()
    key(stepper, "load-text").fill(link)
    key(stepper, "paste-do").click()
    expect_depth(stepper, int(length))


def test_a_challenge_is_met_by_hints_and_replayed_beside_the_shortest(lab):
    cell = "from protocol_lab.notebook import challenge\nchallenge('two_leaders_write')"
    notebook = _open(lab, [cell])
    stepper = notebook.stepper()
    expect(stepper.locator(".ls-score")).to_contain_text("par is 6")
    expect(stepper.locator(".ls-near")).to_have_count(0)
    key(stepper, "hint").click()
    expect(stepper.locator(".ls-hints li")).to_have_count(1)
    for k, step in enumerate(shortest(challenge_named("two_leaders_write")).steps, 2):
        key(stepper, step.text).click()
        expect_depth(stepper, k)
    expect(stepper.locator(".ls-score")).to_contain_text("9 points")
    notebook.shoot("met", stepper)
    key(stepper, "shortest").click()
    expect(stepper.locator(".ls-compare figure").nth(1)).to_contain_text("the shortest way")


def test_the_presenters_view_is_walked_by_keys_alone(lab):
    notebook = lab([REPLAY], width=1280, height=720)
    notebook.run_all()
    stepper, keyboard = notebook.stepper(), notebook.page.keyboard
    stepper.locator(".ls-caption").click()
    keyboard.press("p")
    expect(stepper).to_have_class(re.compile("ls-presenting"))
    keyboard.press("ArrowRight")
    expect_depth(stepper, 2)
    keyboard.press("c")
    expect(stepper.locator(".ls-can")).to_be_visible()
    keyboard.press("1")
    expect_depth(stepper, 3)
    expect(stepper.locator(".ls-picture svg")).to_be_in_viewport(ratio=1)
    notebook.shoot("presenting")
    reasons = stepper.locator(".ls-cannot .ls-not").first
    expect(reasons).to_be_hidden()
    keyboard.press("w")
    expect(reasons).to_be_visible()
    notebook.shoot("reasons")
    keyboard.press("w")
    expect(stepper.locator(".ls-can")).to_be_hidden()
    expect(stepper.locator(".ls-near")).to_have_count(0)
    keyboard.press("d")
    expect(stepper.locator(".ls-near")).to_contain_text("nearest violation")
    notebook.shoot("distances")
    keyboard.press("Escape")
    expect(stepper).not_to_have_class(re.compile("ls-presenting"))


def test_the_presenters_view_is_the_picture_and_heeds_a_clicker(lab):
    code = "from protocol_lab.notebook import replay\nreplay('defect_1_diagram')"
    notebook = lab([code], width=1280, height=720)
    notebook.run_all()
    stepper, keyboard = notebook.stepper(), notebook.page.keyboard
    stepper.locator(".ls-caption").click()
    keyboard.press("End")
    expect_depth(stepper, 20)
    keyboard.press("p")
    expect(stepper.locator(".ls-verdicts .ls-broken").first).to_be_visible()
    expect(stepper.locator(".ls-verdicts .ls-holds").first).to_be_hidden()
    assert stepper.locator(".ls-panel").bounding_box()["height"] >= 0.7 * 720
    keyboard.press("PageUp")
    expect_depth(stepper, 19)
    expect(stepper.locator(".ls-tally")).to_have_text("✓ 5 invariants hold")


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
    seen: [".ls-panel", ".ls-can", ".ls-caption", ".ls-controls", ".ls-timeline"].every(inside),
    smallest: Math.min(...type.map(each => scale * parseFloat(each.getAttribute("font-size")))),
    controls: stepper.querySelector(".ls-controls").getBoundingClientRect().top - rect.top,
    overflow: stepper.scrollWidth - stepper.clientWidth,
  };
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1440, 900)])
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
    key(stepper, "last").click()
    expect(stepper.locator(".ls-verdicts .ls-broken").first).to_be_visible()
    notebook.shoot("fits")
    assert stepper.evaluate(FITS)["controls"] == first["controls"]
    assert stepper.evaluate(FITS)["smallest"] > 8.5
    key(stepper, "keys").click()
    for each in stepper.locator("kbd").all():
        assert each.bounding_box()["height"] < 24, "on one line"


_WATCH_MOVES = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, how) {
    window.moved.push(`${this.dataset.part} in ${how.duration} ms`);
    return animate.call(this, frames, how);
  };
}"""


def test_what_a_step_changes_is_seen_moving(talk):
    stepper, page = talk.stepper(), talk.page
    page.evaluate(_WATCH_MOVES)
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    expect(stepper.locator(".ls-staged")).to_be_visible()
    page.evaluate("window.moved = []")
    key(stepper, "redo").click()
    expect_depth(stepper, 12)
    assert "Replica 3 1 in 300 ms" in page.evaluate("window.moved")  # the record that it fetched
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("window.moved = []")
    key(stepper, "redo").click()
    expect_depth(stepper, 13)
    assert page.evaluate("window.moved") == []
    page.emulate_media(reduced_motion="no-preference")


def test_what_can_be_saved_is_of_the_chosen_format(talk):
    stepper = talk.stepper()
    key(stepper, "export").click()
    expect(key(stepper, "export-text")).to_have_value(re.compile("# spec: "))
    assert stepper.evaluate(_CHOOSE_MERMAID) == [True, True]
    expect(key(stepper, "export-text")).to_have_value(re.compile("^sequenceDiagram"))
    expect(key(stepper, "export-save")).to_be_enabled()


_CHOOSE_MERMAID = """stepper => {
  const choice = stepper.querySelector('[data-key="export-format"]');
  const names = '[data-key="export-copy"], [data-key="export-save"]';
  const buttons = [...stepper.querySelectorAll(names)];
  choice.value = "mermaid";
  choice.dispatchEvent(new Event("change"));
  return buttons.map(each => each.disabled);
}"""


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


def test_the_dark_theme_repaints_the_picture_too(talk):
    stepper = talk.stepper()
    key(stepper, "theme").click()
    key(stepper, "theme").click()
    expect(stepper).to_have_attribute("data-theme", "dark")
    paper = stepper.locator(".ls-picture svg > rect").first
    expect(paper).to_have_css("fill", "rgb(22, 29, 37)")
    talk.shoot("dark", stepper)
    key(stepper, "theme").click()


def test_a_specification_of_messages_is_stepped_and_drawn(lab):
    cell = (
        "from protocol_lab.notebook import step\nfrom tests.request_reply import spec\n"
        "stepper = step(spec.bind())\nstepper"
    )
    notebook = _open(lab, [cell])
    stepper = notebook.stepper()
    for depth in (2, 3):
        stepper.locator(".ls-choice").first.click()
        expect_depth(stepper, depth)
    key(stepper, "tab-sequence").click()
    expect(stepper.locator(".ls-sequence svg")).to_contain_text("client 1")
    key(stepper, "spoilers").click()
    expect(stepper.locator(".ls-near")).to_contain_text("steps")
    notebook.shoot("messages", stepper)


def test_it_fits_a_narrow_window(lab):
    notebook = lab([REPLAY], width=900, height=1400)
    notebook.run_all()
    stepper = notebook.stepper()
    stepper.wait_for()
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    wider = "element => element.scrollWidth > element.clientWidth + 1"
    assert not stepper.locator(".ls-main").evaluate(wider)
    picture, lists = stepper.locator(".ls-picture"), stepper.locator(".ls-lists")
    assert picture.bounding_box()["y"] < lists.bounding_box()["y"]
    notebook.shoot("narrow", stepper)
