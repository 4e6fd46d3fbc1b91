"""The stepper's first level: what is seen at first contact, in every window and theme."""

import re

import pytest
from playwright.sync_api import expect

from protocol_lab.notebook import challenge, replay, step
from protocol_lab.teaching.challenges import challenge_named, shortest
from tests.browser.stepper_page import READ, expect_depth, key, shown, stepper_of
from tests.work_units import one_in, one_of

pytestmark = pytest.mark.browser

SIZES = [(1280, 632), (1280, 720), (1440, 900), (1920, 1080), (390, 844)]


@pytest.fixture
def talk():
    """The talk's loss at slide 52."""
    stepper = replay("talk_46_56_found_scenario")
    stepper.walk.go_to(12)
    stepper.refresh()
    return stepper


@pytest.mark.rarely
@pytest.mark.parametrize("theme", one_in(2, ["light", "dark"]))
def test_words_can_be_read_and_no_caption_is_cut_in_any_window(browser, talk, screenshots, theme):
    with shown(browser, talk, theme=theme, tools=False) as page:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("width => place.style.width = width", f"{width - 16}px")
            page.wait_for_timeout(300)
            page.screenshot(path=screenshots / f"stepper_{theme}_{width}_{height}.png")
            caption = page.locator(".ls-caption")
            assert caption.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
            size = caption.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
            assert size == (17 if width < 660 else 18)
            for text in stepper_of(page).evaluate(READ):
                assert text["contrast"] >= 4.5, (width, text)
                assert text["size"] >= 13, (width, text)
            for name in ("undo", "redo"):
                box = key(stepper_of(page), name).bounding_box()
                assert box["height"] >= 46
                assert box["y"] + box["height"] <= height, "in reach without scrolling"


def test_all_else_is_behind_tools_and_stays_as_it_was_left(browser, talk):
    with shown(browser, talk, tools=False) as page:
        stepper = stepper_of(page)
        for name in ("tab-graph", "last", "export", "spoilers"):
            expect(key(stepper, name)).to_be_hidden()
        key(stepper, "tools").click()
        for name in ("tab-graph", "last", "export", "spoilers"):
            expect(key(stepper, name)).to_be_visible()
        expect(key(stepper, "tools")).to_be_focused()
        assert page.evaluate("localStorage.getItem('lab-stepper-tools')") == "open"


def test_the_caption_tells_who_did_what_and_what_is_lost(browser):
    stepper = step("kafka.finite_replicated_log")
    for each in ("append(replica=1, record=2)", "replicate_to(source=1, target=2)"):
        stepper.walk.take(each)
    stepper.walk.take("truncate_to(replica=1, end_offset=0)")
    stepper.refresh()
    with shown(browser, stepper, tools=False) as page:
        caption = page.locator(".ls-caption p")
        expect(caption).to_contain_text("Broker 1 cuts off 1 record.")
        page.get_by_role("button", name="truncate_to(replica=2, end_offset=0)").click()
        expect(caption).to_contain_text("Nobody holds B any more.")
        expect(caption).to_have_attribute("title", re.compile("Cut broker 2.s log to 0 records"))


@pytest.mark.parametrize(
    "name", one_of(["kafka.kip_320", "bookkeeper.v4_13", "kraft.kip_853", "pulsar.compaction"])
)
def test_a_choice_is_a_sentence_on_a_large_button(browser, name):
    with shown(browser, step(name), tools=False) as page:
        for each in page.locator(".ls-choice:visible, .ls-bar button:visible, .ls-tools").all():
            assert each.bounding_box()["height"] >= 40
        for each in page.locator(".ls-choice:visible > span").all_inner_texts():
            assert "_" not in each
            assert len(each.split()) <= 9, each


@pytest.mark.rarely
def test_a_step_moves_no_picture_whatever_its_caption_says(browser):
    with shown(browser, replay("talk_46_56_found_scenario"), tools=False) as page:
        sizes = set()
        for depth in range(2, 17):
            key(stepper_of(page), "redo").click()
            expect_depth(stepper_of(page), depth)
            page.wait_for_timeout(150)
            sizes.add(page.locator(".ls-panel svg").evaluate("each => each.style.width"))
        assert len(sizes) == 1


PLACE_OF_NEXT = """stepper => {
  const { x, y, width, height } = stepper.querySelector("[data-key=redo]").getBoundingClientRect();
  return [x, y, width, height];
}"""
"""In one call, since each answer of the kernel replaces the button."""


def test_next_keeps_its_place_and_the_focus(browser, talk):
    with shown(browser, talk, tools=False) as page:
        stepper = stepper_of(page)
        places = []
        for depth in (13, 14, 15):
            key(stepper, "redo").click()
            expect_depth(stepper, depth)
            expect(key(stepper, "redo")).to_be_focused()
            places.append(stepper.evaluate(PLACE_OF_NEXT))
        assert places[0] == places[1] == places[2]


def test_on_a_phone_the_choices_are_a_sheet_above_the_buttons(browser, talk):
    with shown(browser, talk, 390, 844, tools=False) as page:
        stepper = stepper_of(page)
        expect(stepper.locator(".ls-can")).to_be_hidden()
        key(stepper, "sheet").click()
        choice = stepper.locator(".ls-choice").first
        expect(choice).to_be_in_viewport()
        assert choice.bounding_box()["height"] >= 44
        choice.click()
        expect_depth(stepper, 13)
        expect(stepper.locator(".ls-can")).to_be_hidden()


@pytest.mark.rarely
def test_a_challenge_that_is_won_is_green_also_where_its_aim_was_the_loss(browser, screenshots):
    stepper = challenge("truncate_a_committed_record")
    given = len(stepper.session.challenge.given_steps)
    for each in shortest(challenge_named("truncate_a_committed_record")).steps[given:]:
        stepper.walk.take(each.text)
    stepper.refresh()
    with shown(browser, stepper, tools=False) as page:
        expect(page.locator(".ls-challenge")).to_contain_text("You broke it in 11 steps.")
        expect(page.locator(".lab-stepper")).to_have_class("lab-stepper ls-won")
        page.wait_for_timeout(800)
        page.screenshot(path=screenshots / "challenge_won.png")


@pytest.mark.parametrize("name", one_of(["talk_46_56_found_scenario", "vote_without_log_check"]))
def test_the_timeline_fills_its_room_and_says_how_far_the_walk_has_come(browser, name):
    stepper = replay(name)
    stepper.walk.go_to(4)
    stepper.refresh()
    with shown(browser, stepper, tools=False) as page:
        line, last = (
            page.locator(each).bounding_box()
            for each in (".ls-timeline", f".ls-moment[data-depth='{len(stepper.walk.path)}']")
        )
        assert line["x"] + line["width"] - (last["x"] + last["width"] / 2) < 60
        walked, here = (
            page.locator(each).bounding_box() for each in (".ls-walked", ".ls-here .ls-ring")
        )
        assert abs(walked["x"] + walked["width"] - (here["x"] + here["width"] / 2)) < 4
        page.locator(".ls-timeline").focus()
        assert (
            page.locator(".ls-timeline").evaluate("each => getComputedStyle(each).outlineStyle")
            == "none"
        )


def test_a_scenarios_title_tells_how_it_ends_and_is_read_there(browser):
    with shown(browser, replay("talk_46_56_found_scenario"), tools=False) as page:
        stepper = stepper_of(page)
        title = "The replica with the latest offset is not always safe"
        expect(stepper).not_to_contain_text(title)
        expect(stepper).to_contain_text("slides 46-56")
        expect(stepper.locator(".ls-violated")).to_have_count(0)
        page.locator(".ls-timeline").press("End")
        expect(stepper.locator(".ls-lists")).to_contain_text(title)


@pytest.mark.parametrize(
    "name", one_of(["kip_101_weak_isr", "defect_1_diagram", "only_copy_is_deleted"])
)
def test_a_broken_promise_is_whole_at_every_width(browser, name):
    """However long its reason is, and with the tools open."""
    stepper = replay(name)
    stepper.walk.last()
    stepper.refresh()
    broken = [each["reason"] for each in stepper.view["invariants"] if not each["holds"]]
    with shown(browser, stepper, tools=True) as page:
        pill = page.locator(".ls-broken")
        for width in (1264, 1130, 892, 700, 374):
            page.evaluate("width => place.style.width = width", f"{width}px")
            page.wait_for_timeout(200)
            assert pill.inner_text().replace("\n", " ") == f"✗ Broken promise: {broken[0]}"
            inside = pill.evaluate(
                """each => {
                  const parts = [each, each.closest("header")];
                  const [pill, header] = parts.map((it) => it.getBoundingClientRect());
                  return each.scrollWidth <= each.clientWidth + 1
                    && pill.left >= header.left && pill.right <= header.right
                    && pill.top >= header.top && pill.bottom <= header.bottom;
                }"""
            )
            assert inside, width


def test_on_a_second_branch_the_step_is_named_beside_its_dot(browser):
    stepper = step("kafka.kip_320")
    stepper.walk.take("controller_elect_leader(new_leader=1)")
    stepper.walk.undo()
    stepper.walk.fork("another")
    stepper.walk.take("controller_elect_leader(new_leader=2)")
    stepper.refresh()
    with shown(browser, stepper) as page:
        meet = page.evaluate(
            """() => {
              const [ring, text] = [".ls-here .ls-ring", ".ls-here text"].map((each) =>
                document.querySelector(`.ls-timeline ${each}`).getBoundingClientRect());
              const line = document.querySelector(".ls-timeline svg").getBoundingClientRect();
              return text.left < ring.right || text.bottom > line.bottom + 1;
            }"""
        )
        assert not meet
