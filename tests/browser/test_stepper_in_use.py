"""The stepper's own scripts on a bare page, used as a learner uses it in JupyterLab.

What needs a notebook or a kernel is in `test_stepper_in_jupyterlab`.
"""

import re

import pytest
from playwright.sync_api import expect

from protocol_lab.notebook import challenge, replay, step
from protocol_lab.stepper import Stepper
from protocol_lab.teaching.challenges import challenge_named, shortest
from protocol_lab.traces.scenario_format import parse_scenario
from protocol_lab.traces.walk import Walk
from real_systems.kafka.logs.controller_part import spec as controller
from tests.browser.stepper_page import expect_depth, key, moment, shown, stepper_of
from tests.golden_table import TRACES
from tests.stepper.test_stepper import TALK
from tests.work_units import one_of

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(browser):
    """A page with a stepper at the start of KIP-320."""
    with shown(browser, step("kafka.kip_320")) as page:
        yield page


@pytest.fixture
def talk(browser):
    """A page with a stepper at the start of the talk's loss."""
    with shown(browser, Stepper(parse_scenario(TALK))) as page:
        yield page


def test_a_step_changes_picture_lists_caption_and_timeline(fresh):
    stepper = stepper_of(fresh)
    before = stepper.locator(".ls-picture").inner_html()
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-320")
    expect(stepper.locator(".ls-verdicts .ls-holds").first).to_contain_text("weak isr")
    key(stepper, "controller_elect_leader(new_leader=1)").click()
    expect_depth(stepper, 2)
    caption = stepper.locator(".ls-caption p")
    expect(caption).to_contain_text("The controller makes broker 1 leader.")
    expect(caption).to_have_attribute(
        "title", re.compile(r"^controller_elect_leader\(new_leader=1")
    )
    assert stepper.locator(".ls-picture").inner_html() != before
    expect(stepper.locator(".ls-moment")).to_have_count(2)
    expect(key(stepper, "become_leader(request=LeaderAndIsrRequest(leader=1))")).to_be_visible()


def test_what_cannot_happen_says_why(fresh):
    stepper = stepper_of(fresh)
    expect(stepper.locator(".ls-not").first).to_be_hidden()
    key(stepper, "cannot").click()
    leader_write = stepper.locator(".ls-not", has_text="Leader write")
    expect(leader_write).to_contain_text("the replica does not believe that it leads")
    expect(leader_write).to_contain_text("broker 2")
    expect(stepper.locator(".ls-not", has_text="Become leader")).to_contain_text("there are none")
    expand = stepper.locator(".ls-not", has_text="Fenced leader expand isr")
    expect(expand.locator("summary")).to_contain_text("9 choices")
    expand.locator("summary").click()
    expect(expand.get_by_text("leader 2, follower 3")).to_be_visible()
    key(stepper, "cannot").click()


def test_many_choices_of_an_action_are_folded(browser):
    with shown(browser, Stepper(Walk.begin(controller.bind()))) as page:
        stepper = stepper_of(page)
        key(stepper, "can").click()  # the whole list of so many is folded
        row = stepper.get_by_role("group", name="set_min_isr", exact=True)
        expect(row.locator(".ls-choice:visible")).to_have_count(20)
        row.get_by_text("180 more").click()
        key(stepper, "set_min_isr(scope=cluster, value=99)").click()
        expect_depth(stepper, 2)


def test_undo_and_redo_by_button_and_by_key(fresh):
    stepper, keyboard = stepper_of(fresh), fresh.keyboard
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


def test_the_tab_of_the_state_marks_what_differs_and_stays(fresh):
    stepper = stepper_of(fresh)
    key(stepper, "tab-state").click()
    key(stepper, "controller_elect_leader(new_leader=1)").click()
    expect(stepper.locator("tr.ls-differs th")).to_contain_text(["quorum_state.leader_epoch"])
    expect(stepper.locator(".ls-differs ins").first).to_be_visible()
    expect(key(stepper, "tab-state")).to_have_attribute("aria-selected", "true")


def test_a_scenario_leads_to_the_violation(talk):
    stepper = stepper_of(talk)
    expect(stepper.locator(".ls-moment")).to_have_count(16)
    expect(stepper.locator(".ls-moment.ls-violated")).to_have_count(0)  # how it ends is not told
    key(stepper, "last").click()
    expect(stepper.locator(".ls-broken")).to_contain_text("Broken promise: the leader lacks")
    expect_depth(stepper, 16)
    expect(stepper.locator(".ls-moment.ls-violated text")).to_have_text("56 ✗")
    expect(stepper.locator(".ls-caption")).to_contain_text(
        re.compile(r"^Slide 56 Broker 2 is elected.* is lost\.$")
    )


def test_the_learner_takes_over_from_a_scenario_and_goes_back(talk):
    stepper = stepper_of(talk)
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    expect(stepper.locator(".ls-caption")).to_contain_text("Slide 51")
    expect(stepper.locator(".ls-choice.ls-ahead")).to_have_text("Broker 3 fetches 1 messagenext ▸")
    key(stepper, "leader_failure(replica=1)").click()
    expect_depth(stepper, 12)
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("branch 2")
    key(stepper, "branch").select_option("main")
    expect_depth(stepper, 16)
    stepper.locator(".ls-moment.ls-aside").click()
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("branch 2")


def test_fork_with_a_name(talk):
    stepper = stepper_of(talk)
    moment(stepper, 9).click()
    key(stepper, "fork").click()
    key(stepper, "fork-name").fill("let broker 3 lead")
    talk.keyboard.press("Enter")
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("let broker 3 lead")
    expect(key(stepper, "fork-name")).to_have_count(0)
    key(stepper, "become_out_of_sync(replica=1)").or_(stepper.locator(".ls-choice").last).click()
    expect_depth(stepper, 10)


def test_export_by_text_clipboard_and_file(talk):
    stepper = stepper_of(talk)
    moment(stepper, 3).click()
    expect_depth(stepper, 3)
    key(stepper, "export").click()
    text = key(stepper, "export-text")
    expect(text).to_have_value(re.compile(r"become_out_of_sync\(replica=2\)"))
    assert "swap_preferred_leader" not in text.input_value()
    key(stepper, "export-format").select_option("mermaid")
    expect(text).to_have_value(re.compile("^sequenceDiagram"))
    key(stepper, "export-copy").click()
    copied = talk.evaluate("navigator.clipboard.readText()")
    assert copied == text.input_value()
    with talk.expect_download() as download:
        key(stepper, "export-save").click()
    assert download.value.suggested_filename == "unclean_leader_election.mmd"
    assert download.value.path().read_text(encoding="utf-8") == copied


def test_a_pasted_scenario_is_played_and_a_wrong_one_named(fresh):
    stepper = stepper_of(fresh)
    key(stepper, "load").click()
    wrong = TALK.replace("become_follower(replica=2)", "become_follower(replica=7)")
    key(stepper, "load-text").fill(wrong)
    key(stepper, "paste-do").click()
    notice = stepper.locator(".ls-notice")
    expect(notice).to_have_text(
        "your scenario, line 12: become_follower(replica=7): there is no such choice in this state;"
        " for replica there are 1, 2, 3."
    )
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-320")
    expect(key(stepper, "load-text")).to_have_value(wrong)  # to be corrected
    key(stepper, "load-text").fill(TALK)
    key(stepper, "paste-do").click()
    expect(stepper.locator("h2")).to_have_text("Kafka · unclean leader election")
    expect(notice).to_be_hidden()
    expect(key(stepper, "load-text")).to_have_count(0)
    expect(stepper.locator(".ls-moment")).to_have_count(16)


def test_a_scenario_that_ships_is_loaded_and_the_walk_before_it_kept(fresh):
    stepper = stepper_of(fresh)
    stepper.locator(".ls-choice").first.click()
    expect_depth(stepper, 2)
    key(stepper, "load").click()
    key(stepper, "load-name").select_option("kip_320_isr_emptied")
    key(stepper, "load-do").click()
    expect(stepper.locator(".ls-moment.ls-ahead").first).to_be_visible()
    expect(stepper.locator(".ls-caption")).not_to_contain_text("The ISR can be emptied")
    key(stepper, "load").click()
    key(stepper, "back-do").click()
    expect(stepper.locator(".ls-moment")).to_have_count(2)
    expect_depth(stepper, 2)


def test_the_distances_are_shown_on_request_and_fall_along_the_way(talk):
    stepper = stepper_of(talk)
    near = stepper.locator(".ls-near")
    moment(stepper, 11).click()
    expect(stepper.locator(".ls-choice").first).to_be_visible()
    expect(near).to_have_count(0)
    key(stepper, "spoilers").click()
    expect(near).to_have_text("nearest violation: 5 steps")
    expect(stepper.locator(".ls-nearer")).to_have_text("Broker 3 fetches 1 messagenext ▸→ 4")
    stepper.locator(".ls-nearer").click()
    expect(near).to_have_text("nearest violation: 4 steps")
    key(stepper, "spoilers").click()
    expect(near).to_have_count(0)
    expect(stepper.locator(".ls-distance")).to_have_count(0)


def test_a_refusal_shows_its_values_and_the_code_that_refused(talk):
    stepper = stepper_of(talk)
    key(stepper, "cannot").click()
    refused = stepper.locator(".ls-not", has_text="Elect new leader")
    expect(refused.locator(".ls-values")).to_have_text("zk_state.leader = 1")
    refused.locator(".ls-look").click()
    expect(stepper.locator(".ls-line-returned")).to_contain_text('return "there is a leader"')


@pytest.mark.parametrize("width", one_of([1280, 390]))
def test_the_code_of_a_step_is_shown_in_tla_too(browser, width):
    with shown(browser, Stepper(parse_scenario(TALK)), width=width) as page:
        stepper = stepper_of(page)
        moment(stepper, 2).click()
        expect_depth(stepper, 2)
        key(stepper, "tab-code").click()
        tla, python = stepper.locator(".ls-tla"), stepper.locator(".ls-lines")
        expect(tla).to_have_count(0)
        key(stepper, "tla").click()
        expect(tla).to_contain_text("produce_message(replica, producer) ==")
        expect(tla).to_be_in_viewport()
        expect(python).to_contain_text("def produce_message(s: State, c: Constants")
        wider = "element => element.scrollWidth > element.clientWidth + 1"
        assert not stepper.locator(".ls-code").evaluate(wider)
        key(stepper, "redo").click()
        expect(tla).to_contain_text("become_out_of_sync(replica) ==")
        key(stepper, "tla").click()
        expect(tla).to_have_count(0)


@pytest.mark.parametrize("tab", one_of(["sequence", "graph"]))
def test_the_drawn_tabs(talk, tab):
    stepper = stepper_of(talk)
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    key(stepper, f"tab-{tab}").click()
    expect(stepper.locator(f".ls-{tab} svg").first).to_be_visible(timeout=60_000)
    if tab != "graph":
        stepper.locator(f".ls-{tab} [data-depth='3']").first.dispatch_event("click")
        expect_depth(stepper, 3)


def test_a_typed_state_is_found_and_lies_ahead(talk):
    stepper = stepper_of(talk)
    key(stepper, "find").click()
    key(stepper, "find-typed").fill("s.zk_state.leader == 2")
    key(stepper, "find-do").click()
    finding = stepper.locator(".ls-progress-find")
    expect(finding).to_contain_text("nearest such state")
    expect(stepper.locator(".ls-lane.ls-current")).to_have_text("to: s.zk_state.leader == 2")
    expect(stepper.locator(".ls-choice.ls-ahead")).to_be_visible()
    key(stepper, "find-typed").fill("s.nonsense")
    key(stepper, "find-do").click()
    expect(finding).to_contain_text("nonsense")


def test_branches_are_compared_step_by_step(talk):
    stepper = stepper_of(talk)
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    key(stepper, "leader_failure(replica=1)").click()
    expect_depth(stepper, 12)
    key(stepper, "tab-compare").click()
    key(stepper, "compare-on").click()
    expect(stepper.locator(".ls-compare .ls-differs th").first).to_contain_text("committed")
    expect(stepper.locator(".ls-compare figure")).to_have_count(2)


def test_a_counterexample_of_tlc_and_a_link_are_walked_along(fresh):
    stepper = stepper_of(fresh)
    key(stepper, "load").click()
    key(stepper, "load-text").fill(TRACES["kip_101_weak_isr"])
    key(stepper, "paste-do").click()
    expect(stepper.locator("h2")).to_have_text("Kafka · KIP-101")
    length = stepper.locator(".ls-timeline").get_attribute("aria-valuenow")
    key(stepper, "export").click()
    key(stepper, "export-format").select_option("link")
    expect(key(stepper, "export-text")).to_have_value(re.compile(r"lab1\."))
    link = key(stepper, "export-text").input_value()
    key(stepper, "first").click()
    expect_depth(stepper, 1)
    key(stepper, "load").click()
    key(stepper, "load-text").fill(link)
    key(stepper, "paste-do").click()
    expect_depth(stepper, int(length))


def test_a_challenge_is_met_by_hints_and_replayed_beside_the_shortest(browser):
    with shown(browser, challenge("two_leaders_write")) as page:
        stepper = stepper_of(page)
        expect(stepper.locator(".ls-score")).to_contain_text("par is 6")
        expect(stepper.locator(".ls-near")).to_have_count(0)
        key(stepper, "hint").click()
        expect(stepper.locator(".ls-hints li")).to_have_count(1)
        for k, step in enumerate(shortest(challenge_named("two_leaders_write")).steps, 2):
            key(stepper, step.text).click()
            expect_depth(stepper, k)
        expect(stepper.locator(".ls-score")).to_contain_text("You did it in 6 steps.")
        expect(stepper.locator(".ls-score")).to_contain_text("9 of 10 points")
        expect(stepper.locator(".ls-win li")).to_have_count(6)
        expect(stepper.locator(".ls-win .ls-done")).to_have_count(6)
        key(stepper, "shortest").click()
        expect(stepper.locator(".ls-compare figure").nth(1)).to_contain_text("the shortest way")
        key(stepper, "next_challenge").click()
        expect(stepper.locator(".ls-challenge")).to_contain_text("Challenge: Lose what one replica")
        expect(key(stepper, "redo")).to_have_text("Choose a step")


def test_the_presenters_view_is_walked_by_keys_alone(talk):
    stepper, keyboard = stepper_of(talk), talk.keyboard
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
    reasons = stepper.locator(".ls-cannot .ls-not").first
    expect(reasons).to_be_hidden()
    keyboard.press("w")
    expect(reasons).to_be_visible()
    keyboard.press("w")
    expect(stepper.locator(".ls-can")).to_be_hidden()
    expect(stepper.locator(".ls-near")).to_have_count(0)
    keyboard.press("d")
    expect(stepper.locator(".ls-near")).to_contain_text("nearest violation")
    keyboard.press("Escape")
    expect(stepper).not_to_have_class(re.compile("ls-presenting"))


@pytest.mark.rarely
def test_the_presenters_view_is_the_picture_and_heeds_a_clicker(browser):
    with shown(browser, replay("defect_1_diagram")) as page:
        stepper, keyboard = stepper_of(page), page.keyboard
        stepper.locator(".ls-caption").click()
        keyboard.press("End")
        expect_depth(stepper, 20)
        keyboard.press("p")
        expect(stepper.locator(".ls-verdicts .ls-broken").first).to_be_visible()
        expect(stepper.locator(".ls-verdicts .ls-holds").first).to_be_hidden()
        assert stepper.locator(".ls-panel").bounding_box()["height"] >= 0.7 * 720
        keyboard.press("PageUp")
        expect_depth(stepper, 19)
        expect(stepper.locator(".ls-tally")).to_have_text("✓ Every promise kept")


_WATCH_MOVES = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, how) {
    window.moved.push(`${this.dataset.part} in ${how.duration} ms`);
    return animate.call(this, frames, how);
  };
}"""


def test_what_a_step_changes_is_seen_moving(talk):
    stepper, page = stepper_of(talk), talk
    page.evaluate(_WATCH_MOVES)
    moment(stepper, 11).click()
    expect_depth(stepper, 11)
    expect(stepper.locator(".ls-staged")).to_be_visible()
    page.evaluate("window.moved = []")
    key(stepper, "redo").click()
    expect_depth(stepper, 12)
    assert "Broker 3 1 in 560 ms" in page.evaluate("window.moved")  # the record that it fetched
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("window.moved = []")
    key(stepper, "redo").click()
    expect_depth(stepper, 13)
    assert page.evaluate("window.moved") == []
    page.emulate_media(reduced_motion="no-preference")


def test_the_dark_theme_repaints_the_picture_too(talk):
    stepper = stepper_of(talk)
    talk.evaluate("document.documentElement.dataset.theme = 'dark'")
    paper = stepper.locator(".ls-picture svg > rect").first
    expect(paper).to_have_css("fill", "rgb(21, 27, 35)")  # palette.DARK["paper"]
    talk.evaluate("delete document.documentElement.dataset.theme")
