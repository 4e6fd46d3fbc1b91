"""The stepper's own scripts in a browser: sizes, drawings to look at, and what they lead to."""

import re

import pytest
from playwright.sync_api import expect

from protocol_lab.drawing.palette import CHANGED
from protocol_lab.notebook import challenge, replay, step
from tests.browser.stepper_page import BESIDE, shown
from tests.spec_checks import take_random_steps
from tests.work_units import one_in, one_of

pytestmark = pytest.mark.browser

LARGEST = {
    "kafka": lambda: replay("talk_46_56_found_scenario"),
    "kip-320": lambda: step("kafka.kip_320"),
    "async isr": lambda: step("kafka.async_isr"),
    "bookkeeper": lambda: step("bookkeeper.protocol", "shipped"),
    "bookkeeper 4.13": lambda: replay("defect_1_diagram"),
    "pulsar": lambda: step("pulsar.compaction", retain_null_key=True),
    "kraft": lambda: step("kraft.kip_853", "three_servers"),
}
EACH = [pytest.param(name, marks=() if name == "kafka" else pytest.mark.rarely) for name in LARGEST]
LEAST = 12.99
"""Pixels: no type is smaller than 13, at its drawn size."""
WITH_FILE_BROWSER = 892
"""Pixels of an output in JupyterLab that is 1280 wide, with its file browser open."""
SIZES = [(390, 844), (768, 1024), (1280, 720), (1440, 900), (2560, 1440)]

_MEASURED = """() => {
  const stepper = document.querySelector(".lab-stepper");
  const picture = stepper.querySelector(".ls-staged svg");
  const [scale, box] = [picture.getScreenCTM().a, stepper.getBoundingClientRect()];
  const inside = (name) => {
    const part = stepper.querySelector(name).getBoundingClientRect();
    return part.height > 0 && part.bottom <= box.bottom + 1;
  };
  const field = stepper.querySelector(".ls-staged").getBoundingClientRect();
  const paper = picture.querySelector("rect").getBoundingClientRect();
  const type = [...picture.querySelectorAll("text")].filter(each => each.textContent);
  return {
    smallest: Math.min(...type.map(each => scale * parseFloat(each.getAttribute("font-size")))),
    overflow: stepper.scrollWidth - stepper.clientWidth,
    hidden: Math.max(paper.right - field.right, paper.bottom - field.bottom),
    height: box.height,
    seen: [".ls-panel", ".ls-can", ".ls-caption", ".ls-controls", ".ls-timeline"].every(inside),
  };
}"""


_HAS_TYPE_OF = f"size => ({_MEASURED})().smallest >= size"


def far_along(stepper):
    """The stepper where much is to be seen: at the end of its walk, or of a random one."""
    if len(stepper.walk.path) > 1:
        stepper.walk.last()
    else:
        take_random_steps(stepper.walk, 12, seed=3)
    stepper.refresh()
    return stepper


@pytest.mark.parametrize("name", EACH)
def test_type_in_pictures_can_be_read_at_every_width(browser, name):
    with shown(browser, far_along(LARGEST[name]())) as page:
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            beside = BESIDE if width > 1000 else 16
            page.evaluate("width => place.style.width = `${width}px`", width - beside)
            page.wait_for_timeout(300)  # the picture is arranged once the room has settled
            measured = page.evaluate(_MEASURED)
            assert measured["smallest"] >= LEAST, (width, measured)
            assert measured["overflow"] <= 0, (width, measured)
            if width > 660:
                assert measured["seen"], (width, measured)
                assert measured["height"] <= height - 100, (width, measured)
            if width > 1000 or width < 400:  # of the picture nothing is hidden
                assert measured["hidden"] < 1, (width, measured)


_IN_ITS_ROOM = """() => {
  const field = document.querySelector(".ls-staged");
  const svg = field.querySelector("svg");
  const [room, drawn] = [field, svg].map((each) => each.getBoundingClientRect());
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent);
  const boxes = texts.map((each) => [each.textContent, each.getBoundingClientRect()]);
  const meet = (one, other) => one.left + 1 < other.right && other.left + 1 < one.right
    && one.top + 4 < other.bottom && other.top + 4 < one.bottom;
  const logs = [...svg.querySelectorAll("[data-kind=record] rect:first-of-type")];
  return {
    filled: [drawn.width / room.width, drawn.height / room.height],
    least: Math.min(...texts.map((each) => svg.getScreenCTM().a * each.getAttribute("font-size"))),
    counted: boxes.map(([text]) => text).filter((text) => text.includes("not shown")),
    crossing: boxes.flatMap(([text, box], k) =>
      boxes.slice(k + 1).filter(([, other]) => meet(box, other)).map(([other]) => [text, other])),
    records: logs.map((each) => each.getBoundingClientRect().width),
  };
}"""


@pytest.mark.rarely
@pytest.mark.parametrize("name", EACH)
def test_the_picture_fills_its_room_in_every_window(browser, screenshots, name):
    with shown(browser, far_along(LARGEST[name]()), tools=False) as page:
        for width, height in [(1280, 632), (1280, 720), (1440, 900), (1920, 1080)]:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("width => place.style.width = `${width}px`", width - BESIDE)
            page.wait_for_timeout(400)
            page.screenshot(path=screenshots / f"{name}_{width}_{height}.png".replace(" ", "_"))
            measured = page.evaluate(_IN_ITS_ROOM)
            assert measured["least"] >= LEAST, (width, height)
            assert max(measured["filled"]) >= 0.93, (width, height)
            assert min(measured["filled"]) >= 0.75, (width, height)
            assert measured["crossing"] == [], (width, height)
            if height > 632:
                assert measured["counted"] == [], (width, height)


@pytest.mark.parametrize("name", EACH)
def test_the_presenters_picture_is_large_and_can_be_read_from_the_last_row(browser, name):
    with shown(browser, far_along(LARGEST[name]())) as page:
        page.locator(".ls-caption").click()
        page.keyboard.press("p")
        page.wait_for_function(_HAS_TYPE_OF, arg=20)  # once the view has taken the screen
        assert page.locator(".ls-panel").bounding_box()["height"] >= 0.7 * 720
        assert page.evaluate(_MEASURED)["hidden"] < 1


def test_a_second_branch_takes_no_room_from_the_picture(browser):
    heights = []
    for branches in (1, 2):
        stepper = step("kafka.kip_320")
        steps = [each for each in stepper.walk.attempts() if each.taken]
        for each in steps[:branches]:
            stepper.walk.first()
            stepper.walk.take(each)
        assert len(stepper.walk.branches) == branches
        stepper.refresh()
        with shown(browser, stepper) as page:
            expect(page.locator(".ls-moment")).to_have_count(1 + branches)
            heights.append(page.evaluate("document.querySelector('.ls-panel').clientHeight"))
            for dot in page.locator(".ls-moment").all():
                dot.click()  # none covers another
    assert heights[0] == heights[1]


_HINT_IS_THERE = """async () => {
  await lookAgain();
  return document.querySelector(".ls-hints li");
}"""


@pytest.mark.parametrize("name", one_of(["one_copy_is_enough", "outrun_the_fence", "never_finish"]))
def test_a_challenges_goal_can_be_read_and_its_task_opens_over_the_picture(browser, name):
    with shown(browser, far_along(challenge(name)), tools=False) as page:
        page.evaluate("width => place.style.width = `${width}px`", WITH_FILE_BROWSER)
        page.wait_for_timeout(300)
        measured = page.evaluate(_MEASURED)
        assert measured["hidden"] < 1
        assert measured["smallest"] >= LEAST
        assert page.locator(".ls-challenge").bounding_box()["height"] < 90
        goal = page.locator(".ls-goal")
        assert goal.evaluate("each => each.scrollWidth <= each.clientWidth")
        panel = page.locator(".ls-panel").bounding_box()
        assert panel["height"] > 260
        page.locator('[data-key="hint"]').click()
        page.wait_for_function(_HINT_IS_THERE)
        expect(page.locator(".ls-hints li")).to_be_in_viewport()
        expect(page.locator(".ls-task")).to_contain_text(page.stepper.session.challenge.task)
        lists = page.locator(".ls-lists").bounding_box()
        opened = page.locator(".ls-challenge .ls-unfolded").bounding_box()
        assert opened["x"] + opened["width"] <= lists["x"], "what can happen can still be pressed"
        page.locator('[data-key="challenge"]').click()
        expect(page.locator(".ls-hints")).to_be_hidden()
        assert page.locator(".ls-panel").bounding_box() == panel


_CROSSING = """() => {
  const texts = [...document.querySelectorAll(".ls-timeline text")];
  const boxes = texts.map(each => [each.textContent, each.getBoundingClientRect()]);
  const meet = (one, other) => one.left < other.right && other.left < one.right
    && one.top + 2 < other.bottom && other.top + 2 < one.bottom;
  return boxes.flatMap(([name, box], k) =>
    boxes.slice(k + 1).filter(([, other]) => meet(box, other)).map(([other]) => [name, other]));
}"""


def test_words_on_the_timeline_are_apart_and_a_slide_has_one_number(talk):
    numbers = talk.locator(".ls-moment text").filter(has_text=re.compile("^51$"))
    for depth in (8, 9, 10, 11, 12):
        talk.locator(f".ls-timeline [data-depth='{depth}']").first.click()
        expect(talk.locator(".ls-timeline")).to_have_attribute("aria-valuenow", str(depth))
        expect(numbers).to_have_count(1)
    for depth, count in [(11, 2), (4, 3), (13, 4)]:
        talk.locator(f".ls-timeline [data-depth='{depth}']").first.click()
        talk.locator(".ls-choice:not(.ls-ahead)").first.click()
        expect(talk.locator(".ls-lane")).to_have_count(count)
        assert talk.evaluate(_CROSSING) == []


_COVERED = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const [legend, panel, stepper] = [".ls-key", ".ls-panel", ".lab-stepper"].map(box);
  const hide = box("[data-key=spoilers]");
  return {
    picture: legend.bottom - panel.top,
    tabs: box(".ls-tabs button:last-child").right - legend.left,
    header: hide.right - stepper.right,
  };
}"""


def test_the_legend_covers_nothing_and_the_header_has_room_for_distances(browser):
    with shown(browser, step("bookkeeper.protocol", "shipped")) as page:
        page.evaluate("width => place.style.width = `${width}px`", WITH_FILE_BROWSER)
        page.locator('[data-key="spoilers"]').click()
        expect(page.locator('[data-key="spoilers"]')).to_have_text("hide")
        page.locator(".ls-near").evaluate(
            "near => near.textContent = 'nearest violation: none can be reached'"
        )
        assert all(each <= 0 for each in page.evaluate(_COVERED).values())


# Measured in one call: the controls are drawn anew once the narrower room has settled.
_RIGHT_OF_THE_STEPPER = """() => {
  const edge = document.querySelector(".lab-stepper").getBoundingClientRect().right;
  const controls = [...document.querySelectorAll(".ls-controls :is(button, select)")];
  return controls.map((each) => each.getBoundingClientRect().right - edge);
}"""


def test_a_narrow_column_names_the_protocol_and_what_is_violated(browser):
    with shown(browser, far_along(LARGEST["kafka"]()), 390, 844) as page:
        about = page.locator(".ls-about")
        for width in (374, 270):
            page.evaluate("width => place.style.width = `${width}px`", width)
            assert about.evaluate("each => each.scrollWidth <= each.clientWidth")
            broken = page.locator(".ls-verdicts summary")
            expect(broken).to_contain_text("committed message")
            assert broken.evaluate("each => each.scrollWidth <= each.clientWidth")  # it wraps
            assert max(page.evaluate(_RIGHT_OF_THE_STEPPER)) <= 0


_CHOICES_AND_CAPTION_ARE_APART = """() => {
  const choices = document.querySelector(".ls-lists");
  const end = (each) => each.getBoundingClientRect().bottom;
  const caption = document.querySelector(".ls-told").getBoundingClientRect().top;
  const last = [...choices.querySelectorAll("button")].findLast((each) => each.checkVisibility());
  return end(last) <= end(choices) && end(choices) <= caption + 1;
}"""


@pytest.mark.rarely
def test_the_presenters_choices_leave_the_caption_in_view(talk):
    talk.locator(".ls-caption").click()
    talk.keyboard.press("p")
    talk.keyboard.press("c")
    expect(talk.locator(".ls-lists").get_by_role("button").last).to_be_visible()
    talk.wait_for_function(_CHOICES_AND_CAPTION_ARE_APART)  # once the view has taken the screen


def test_a_narrow_picture_is_scrolled_to_the_record_that_is_new(browser):
    stepper = step("kafka.finite_replicated_log", log_size=12)
    for record in range(1, 9):
        stepper.walk.take(f"append(replica=1, record={record % 2 + 1})")
    stepper.walk.undo()
    stepper.refresh()
    with shown(browser, stepper, 390, 844) as page:
        page.locator("[data-key=redo]").click()
        field = page.locator(".ls-staged")
        page.wait_for_function("document.querySelector('.ls-staged').scrollLeft > 0")
        room = field.bounding_box()
        new = field.locator(f"[data-kind='record']:has([stroke='{CHANGED}'])").bounding_box()
        assert room["x"] <= new["x"]
        assert new["x"] + new["width"] <= room["x"] + room["width"]


@pytest.fixture
def talk(browser):
    """A page with the talk's loss, at slide 51."""
    stepper = replay("talk_46_56_found_scenario")
    stepper.walk.go_to(11)
    stepper.refresh()
    with shown(browser, stepper) as page:
        yield page


def look(page, tab):
    page.locator(f'[data-key="tab-{tab}"]').click()
    drawing = page.locator(f".ls-{tab} svg").first
    for _ in range(100):
        if drawing.count():
            break
        page.wait_for_timeout(100)
        page.evaluate("lookAgain()")
    return drawing


SCALE = (
    "svg => svg.getBoundingClientRect().width / Number(svg.getAttribute('viewBox').split(' ')[2])"
)


@pytest.mark.rarely
def test_the_graph_is_zoomed_and_moved(talk):
    drawing = look(talk, "graph")
    read = drawing.evaluate(SCALE)
    assert read >= 1  # its type has 11 pixels
    field = talk.locator(".ls-field")
    here = talk.locator(".lab-here").bounding_box()
    room = field.bounding_box()
    assert room["x"] <= here["x"] <= room["x"] + room["width"]
    talk.locator('[data-key="zoom-in"]').click()
    larger = talk.locator(".lab-here").bounding_box()
    for side, size in (("x", "width"), ("y", "height")):  # its middle stays where it was
        was = here[side] + here[size] / 2
        assert larger[side] + larger[size] / 2 == pytest.approx(was, abs=3)
    talk.locator('[data-key="zoom-out"]').click()
    talk.locator('[data-key="zoom-out"]').click()
    assert drawing.evaluate(SCALE) == pytest.approx(read / 1.25, abs=0.02)
    talk.locator('[data-key="zoom-fit"]').click()
    assert drawing.bounding_box()["width"] <= room["width"]
    talk.locator('[data-key="zoom-read"]').click()
    again = talk.locator(".lab-here").bounding_box()
    assert (again["x"], again["y"]) == pytest.approx((here["x"], here["y"]), abs=3)
    before = field.evaluate("field => field.scrollTop = 40")
    talk.mouse.move(room["x"] + 300, room["y"] + 200)
    talk.mouse.down()
    talk.mouse.move(room["x"] + 300, room["y"] + 230, steps=3)
    talk.mouse.up()
    assert field.evaluate("field => field.scrollTop") == before - 30


_COMPARED = """() => [...document.querySelectorAll(".ls-compare figure")].map(figure => {
  const [room, svg] = [figure.getBoundingClientRect(), figure.querySelector("svg")];
  const type = [...svg.querySelectorAll("text")].filter(each => each.textContent);
  const sizes = type.map(each => parseFloat(each.getAttribute("font-size")));
  const hidden = figure.scrollWidth - figure.clientWidth;
  return [room.x, hidden, svg.getScreenCTM().a * Math.min(...sizes)];
})"""


@pytest.mark.parametrize(("width", "beside"), one_of([(1280, True), (390, False)]))
@pytest.mark.parametrize("name", one_in(3, ["kafka", "bookkeeper", "kraft"]))
def test_two_states_that_are_compared_can_be_read(browser, name, width, beside):
    stepper = far_along(LARGEST[name]())
    walk = stepper.walk
    end = walk.path[-1].row
    walk.undo()
    walk.take(next(each for each in walk.attempts() if each.taken and each.row != end))
    stepper.refresh()
    with shown(browser, stepper, width, 844) as page:
        if width > 1000:
            page.evaluate("width => place.style.width = `${width}px`", WITH_FILE_BROWSER)
            page.wait_for_timeout(300)
        look(page, "compare")
        (left, *one), (right, *other) = page.evaluate(_COMPARED)
        assert (left < right) == beside
        for hidden, smallest in (one, other):
            assert hidden < 1
            assert smallest >= LEAST


def test_a_click_in_the_graph_leads_there(talk):
    look(talk, "graph")
    talk.locator(".lab-moment[data-depth='10']").dispatch_event("click")
    expect(talk.locator(".ls-timeline")).to_have_attribute("aria-valuenow", "10")
    look(talk, "graph")
    other = talk.locator(".lab-reach").last
    steps = re.findall(r'"([^"]+)"', other.get_attribute("data-steps"))
    other.dispatch_event("click")
    expect(talk.locator(".ls-timeline")).to_have_attribute("aria-valuenow", str(10 + len(steps)))
    assert [step.text for step in talk.stepper.walk.steps[9:]] == steps


def test_the_sequence_follows_the_step(talk):
    look(talk, "sequence")
    for depth in (11, 10, 16, 2):
        talk.locator(f".ls-timeline [data-depth='{depth}']").first.dispatch_event("click")
        expect(talk.locator(".ls-timeline")).to_have_attribute("aria-valuenow", str(depth))
        row = talk.locator(f".ls-sequence .lab-moment[data-depth='{depth}']").bounding_box()
        room = talk.locator(".ls-field").bounding_box()
        head = talk.locator(".ls-sequence [data-part='head']").first.bounding_box()
        assert room["y"] <= head["y"] + 1, "whose lifelines they are stays in view"
        assert head["y"] + head["height"] <= row["y"] + 1
        assert row["y"] + row["height"] <= room["y"] + room["height"] + 1
