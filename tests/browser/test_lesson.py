"""Lessons in a browser: gates, answers by keyboard and in the picture, phone, deck, page."""

import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.notebook import lesson
from protocol_lab.site.deck import write_deck
from tests.__main__ import not_run
from tests.browser.firefox import FIREFOX, firefox
from tests.browser.stepper_page import READ, key, shown, stepper_of
from tests.site.pages import write_page
from tests.work_units import one_in

pytestmark = pytest.mark.browser

RECORD, TALK = "kafka/one_record", "kafka/the_talk"
LEAST, LEAST_OF_A_DECK = 12.99, 23.99
"""Pixels: no letter is smaller, in the presenter's view for the last row."""

ARRANGEMENTS = [(1280, 720, ""), (390, 844, ""), (1920, 1080, "p")]
"""Width and height of the window, and the key that opens the presenter's view there."""

_PLAY = """async (key) => {
  const least = key ? 24 : 13, found = [];
  const pause = (long) => new Promise((done) => setTimeout(done, long));
  const one = (name) => document.querySelector(`.lab-stepper ${name}`);
  while (!one(".ls-staged svg")) await pause(50);
  const root = document.querySelector(".lab-stepper");
  if (key) root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await pause(600); // until the picture is the one for this room
  const isText = (each) => each.nodeType === Node.TEXT_NODE && each.data.trim();
  const isSeen = (each) => each.checkVisibility() && each.getBoundingClientRect().height > 1;
  const measure = () => {
    for (const each of root.querySelectorAll(":not(title, desc, style)")) {
      if (![...each.childNodes].some(isText) || !isSeen(each)) continue;
      if (each.closest(".ls-unseen")) continue;
      const scale = each.closest("svg") ? each.getScreenCTM().a : 1;
      const size = parseFloat(getComputedStyle(each).fontSize) * scale;
      if (size < least - 0.01) found.push(`${size}: ${each.textContent}`);
    }
    if (root.scrollWidth > innerWidth) found.push("wider than the window");
  };
  for (let beats = 1; ; beats += 1) {
    measure();
    if (one(".ls-gate")) {
      one(".lq-choices button").click();
      await pause(20);
      if (!one(".lq-is-right")) found.push(`no answer to ${one(".lq-question").textContent}`);
      measure();
    }
    if (one(".ls-next").disabled) return [beats, [...new Set(found)]];
    one(".ls-next").click();
    await pause(20);
  }
}"""
"""Plays a lesson from its first beat to its last, and gives the number of beats, and each text that
is too small."""


def at(page: Page) -> int:
    """The number of the beat that is shown, from 1."""
    return int(page.locator(".ls-timeline").get_attribute("aria-valuenow"))


def press(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def go_to_next_question(page: Page) -> None:
    """By keyboard alone."""
    for _ in range(30):
        if page.locator(".ls-gate").count() and not page.locator(".lq-is-right").count():
            return
        before = at(page)
        press(page, "ArrowRight")
        page.wait_for_function(
            "n => Number(document.querySelector('.ls-timeline').ariaValueNow) !== n", arg=before
        )
    raise AssertionError("no question came")


def right_keys(stepper) -> list[str]:
    """The key that answers each question as the run does."""
    stepper.session.lesson.settle_all()
    asks = [each["ask"] for each in stepper.session.lesson.values["beats"] if each["ask"]]
    return [
        each["options"][each["right"]]["label"]
        if each["kind"] == "where"
        else str(each["right"] + 1)
        for each in asks
    ]


@pytest.mark.rarely
@pytest.mark.parametrize(("name", "questions"), one_in(2, [(RECORD, 8), (TALK, 8)]))
def test_questions_are_answered_by_keyboard_alone(browser, name, questions):
    stepper = lesson(name)
    with shown(browser, stepper, tools=False) as page:
        page.keyboard.press("Tab")
        for keys in right_keys(stepper)[:questions]:
            go_to_next_question(page)
            press(page, keys)
            expect(page.locator(".lq-is-right")).to_be_visible()
            assert page.locator(".lq-is-wrong").count() == 0
        assert stepper.view["notice"] == ""


def test_a_lane_is_pressed_by_keyboard_and_a_screen_reader_says_the_question_and_the_reason(
    browser,
):
    with shown(browser, lesson(TALK), tools=False) as page:
        key(stepper_of(page), "redo").click()
        press(page, *["ArrowRight"] * 5)
        spoken = page.locator(".lab-stepper > [aria-live=polite]")
        expect(spoken).to_have_text(
            "Question: Broker 1 dies after both followers have left the ISR. Which replica becomes"
            " the leader? 1: broker 1. 2: broker 2. 3: broker 3. 4: nobody."
        )
        page.get_by_role("button", name="Answer: broker 3").press("Enter")
        expect(spoken).to_contain_text("what would it lack? The ISR is {1}, and broker 1 is dead")
        expect(page.get_by_role("status").filter(has_text="A surprise")).to_be_visible()
        press(page, "ArrowRight")
        expect(spoken).to_contain_text("Broker 1 dies, and stays the only member of the ISR.")


def test_next_does_not_pass_a_question_and_space_skips_it(browser):
    with shown(browser, lesson(RECORD), tools=False) as page:
        following = key(stepper_of(page), "redo")
        following.click()
        following.click()
        expect(following).to_have_text("Answer first")
        press(page, "ArrowRight", "End", "PageDown")
        following.click()
        assert at(page) == 3
        expect(page.locator(".lq-choices button").first).to_be_focused()
        page.locator(".ls-timeline [data-beat='9']").click(force=True)
        assert at(page) == 3
        page.locator(".ls-timeline").focus()
        press(page, "Space")
        assert at(page) == 4
        expect(page.locator("[data-beat='2']")).to_have_class("ls-moment ls-past ls-ask ls-open")
        press(page, "ArrowLeft", "2")
        expect(page.locator(".lq-is-right")).to_contain_text("no")


def to_the_line(page: Page) -> None:
    """To the question of where broker 2's high watermark is."""
    key(stepper_of(page), "redo").click()
    press(page, "ArrowRight", "2", *["ArrowRight"] * 3, "2", "ArrowRight", "2", *["ArrowRight"] * 4)
    expect(page.locator(".ls-placing")).to_be_visible()


def test_a_line_is_put_into_the_picture_and_the_readers_stays_beside_the_runs(browser):
    with shown(browser, lesson(RECORD), tools=False) as page:
        to_the_line(page)
        told = page.locator(".ls-staged svg desc").text_content()
        assert "hw 0" not in told.partition("Broker 2")[2], "the picture does not say where it is"
        assert page.locator('[data-part="Broker 2 flag 0"]').count() == 0
        slider = page.get_by_role("slider", name="Put broker 2")
        slider.focus()
        expect(slider).to_have_attribute("aria-valuenow", "2")
        press(page, "ArrowLeft")
        expect(slider).to_have_attribute("aria-valuenow", "1")
        press(page, "Enter")
        expect(page.locator(".ls-placed.ls-is-right text")).to_have_text("the run: 0")
        expect(page.locator(".ls-placed.ls-is-wrong text")).to_have_text("yours: 1")
        expect(page.locator(".lq-is-wrong")).to_contain_text("Deciding and knowing")
        expect(page.locator(".ls-heard")).to_contain_text("hw 0")


def test_a_line_is_dragged(browser):
    with shown(browser, lesson(RECORD), tools=False) as page:
        to_the_line(page)
        places = page.locator(".ls-place-here")
        first, second = (places.nth(k).bounding_box() for k in (0, 1))
        page.mouse.move(second["x"], second["y"] + 30)
        page.mouse.down()
        page.mouse.move(first["x"], first["y"] + 30, steps=4)
        page.mouse.up()
        expect(page.locator(".ls-placed.ls-is-right text")).to_have_text("the run: 0")
        assert page.locator(".ls-placed.ls-is-wrong").count() == 0


def test_a_lane_is_pressed(browser):
    with shown(browser, lesson(TALK), tools=False) as page:
        key(stepper_of(page), "redo").click()
        press(page, *["ArrowRight"] * 5)
        page.get_by_role("button", name="Answer: broker 2").click()
        expect(page.locator(".ls-lane-choice.ls-is-wrong text")).to_have_text("✗ yours")
        expect(page.locator(".lq-is-right")).to_contain_text("nobody")


def test_the_board_stands_below_the_picture_and_its_cells_are_pressed(browser):
    with shown(browser, lesson("bookkeeper/the_fence_comes_late", 21), tools=False) as page:
        expect(page.locator(".ls-staged svg")).to_be_visible()
        expect(page.locator(".ls-claims tbody tr")).to_have_count(3)
        expect(page.locator(".ls-claims tr").nth(1)).to_contain_text("?")
        page.locator(".ls-claims [data-key=cell-1]").press("Enter")
        key(stepper_of(page), "cell-3").click()
        key(stepper_of(page), "answer").click()
        expect(page.locator(".lq-is-right")).to_contain_text("before it was fenced")
        expect(page.locator(".lq-is-wrong")).to_contain_text("Did the entry ever reach b1?")
        press(page, "ArrowLeft", "b")
        expect(page.locator(".ls-claims")).to_be_hidden()


def test_what_if_opens_the_stepper_and_leads_back(browser):
    with shown(browser, lesson(RECORD), tools=False) as page:
        key(stepper_of(page), "redo").click()
        press(page, "w")
        page.locator(".ls-choice").first.click()
        expect(page.locator(".ls-lane.ls-current")).to_have_text("my way")
        page.get_by_role("button", name="Back to the lesson").click()
        assert at(page) == 2
        expect(page.locator(".ls-beat")).to_contain_text("The controller decides")


def test_a_room_is_polled_and_hands_count_in_the_picture(browser):
    with shown(browser, lesson(TALK), tools=False) as page:
        key(stepper_of(page), "redo").click()
        press(page, *["ArrowRight"] * 5)
        page.get_by_role("button", name="poll", exact=True).click()
        press(page, "1", "2", "4")
        page.get_by_role("button", name="Answer: broker 2").click()
        expect(page.locator(".lq-verdict")).to_have_text("4 answers")
        assert page.locator(".lq-is-right").count() == 0
        page.get_by_role("button", name="Show what happens").click()
        expect(page.locator(".lq-is-right")).to_contain_text("nobody · 1")


@pytest.mark.rarely
@pytest.mark.parametrize(
    ("name", "width", "height", "least", "theme"),
    one_in(
        4,
        [
            (RECORD, 1280, 720, LEAST, "dark"),
            (RECORD, 390, 844, LEAST, "light"),
            (TALK, 1280, 720, LEAST, "light"),
            (TALK, 1920, 1080, LEAST_OF_A_DECK, "light"),
        ],
    ),
)
def test_every_letter_can_be_read(browser, screenshots, name, width, height, least, theme):
    stepper = lesson(name)
    with shown(browser, stepper, width, height, theme, tools=False) as page:
        key(stepper_of(page), "redo").click()
        if least > LEAST:
            press(page, "p")
        press(page, "n")
        page.mouse.move(0, 0)  # a button's colour under the pointer is a mixture
        for each in range(8):
            page.wait_for_timeout(300)
            texts = page.evaluate(f"() => ({READ})(document.querySelector('.lab-stepper'))")
            small = [text for text in texts if text["size"] < least or text["contrast"] < 4.5]
            assert small == []
            page.screenshot(
                path=screenshots / f"{name.partition('/')[2]}-{width}-{theme}-{each}.png"
            )
            press(page, "ArrowRight", "1") if each != 5 else press(page, " ")
        over = page.evaluate("document.querySelector('.lab-stepper').scrollWidth - innerWidth")
        assert over <= 0


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """How many beats both lessons have, and their addresses as files."""
    folder, made = tmp_path_factory.mktemp("decks"), []
    for beats, name in ((22, RECORD), (59, TALK)):
        write_deck(name, folder / f"{beats}.html")
        made.append((beats, (folder / f"{beats}.html").as_uri()))
    return made


@pytest.mark.rarely
def test_no_letter_is_too_small_on_any_beat(page, decks):
    for (beats, deck), (width, height, opens) in itertools.product(decks, ARRANGEMENTS):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(deck)
        page.evaluate("localStorage.clear()")  # the answers of the last time
        page.reload()
        assert page.evaluate(_PLAY, opens) == [beats, []]


@pytest.mark.rarely
def test_no_letter_is_too_small_in_firefox(decks, tmp_path):
    if FIREFOX is None:
        not_run("There is no Firefox.")
    with firefox(tmp_path) as opened:
        for (beats, deck), (width, height, opens) in itertools.product(decks, ARRANGEMENTS):
            opened.resize(width, height)
            opened.goto(deck)
            opened.evaluate("localStorage.clear()")
            opened.goto(f"{deck}?again")
            assert opened.evaluate(f"({_PLAY})({opens!r})") == [beats, []]


@pytest.mark.slow
def test_both_lessons_run_in_jupyterlab(lab):
    notebook = lab(
        ["from protocol_lab.notebook import lesson", f'lesson("{RECORD}")', f'lesson("{TALK}")']
    )
    notebook.run_all()
    steppers = notebook.page.locator(".lab-stepper")
    expect(steppers).to_have_count(2)
    for each, beats in zip(steppers.all(), (22, 59), strict=True):
        each.scroll_into_view_if_needed()
        expect(each.locator(".ls-timeline")).to_have_attribute("aria-valuemax", str(beats))
        key(each, "redo").click()
        expect(each.locator(".ls-beat")).to_be_visible()
        each.press("ArrowRight")
        expect(each.locator(".ls-timeline")).to_have_attribute("aria-valuenow", "3")
        expect(each.locator(".ls-staged svg").first).to_be_visible()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page of the site with the lesson, and no Python."""
    return write_page(tmp_path_factory.mktemp("lesson"), lesson_named(RECORD))


@pytest.fixture
def page(browser):
    page, troubles = browser.new_page(), []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.set_viewport_size({"width": 1280, "height": 720})
    yield page
    page.close()
    assert troubles == []


def test_a_page_plays_it_without_python(page, address):
    page.goto(address)
    key(stepper_of(page), "redo").click()
    last = int(page.locator(".ls-timeline").get_attribute("aria-valuemax"))
    for _ in range(2 * last):
        if at(page) == last and page.locator(".lq-is-right").count():
            break
        press(page, "2" if page.locator(".ls-gate").count() else "ArrowRight")
        press(page, "Enter", "ArrowRight")
    assert at(page) == last
    expect(page.locator(".ls-because").last).to_contain_text("The end.")


@pytest.mark.rarely
def test_a_deck_plays_from_one_file_and_prints_a_page_a_beat(page, tmp_path):
    file = tmp_path / "deck.html"
    write_deck(RECORD, file)
    page.goto(file.as_uri())
    expect(page.locator(".lab-stepper")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ls-timeline")).to_have_attribute("aria-valuenow", "2")
    page.emulate_media(media="print")
    expect(page.locator(".lab-stepper")).to_be_hidden()
    last = int(page.locator(".ls-timeline").get_attribute("aria-valuemax"))
    expect(page.locator(".lab-paper section:visible")).to_have_count(last)


def test_a_link_opens_it_at_a_beat(page, address):
    page.goto(f"{address}#beat-7~0")
    expect(page.locator(".lq-question")).to_contain_text("What has to happen first")
    assert at(page) == 7
    press(page, "Tab", "ArrowLeft")
    expect(page.locator(".ls-timeline")).to_have_attribute("aria-valuenow", "6")


@pytest.mark.parametrize(
    ("width", "theme"), one_in(3, [(390, "light"), (1280, "light"), (1280, "dark")])
)
def test_axe_finds_nothing_serious(page, address, width, theme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    for beat in (3, 11, 18):
        page.goto(f"{address}#beat-{beat}~0")
        page.reload()
        page.locator(".lab-stepper").wait_for()
        for _ in range(2):
            found = Axe().run(page, ".lab-stepper", {"preload": False}).response["violations"]
            grave = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], node["html"]) for each in grave for node in each["nodes"]] == []
            page.locator(".lq-skip:visible").or_(key(stepper_of(page), "undo")).first.click()


_IN_FIREFOX = """(async () => {
  const seen = async (name) => {
    while (!document.querySelector(name)) await new Promise(done => setTimeout(done, 100));
    return document.querySelector(name);
  };
  (await seen(".ls-next")).click();
  document.querySelector(".ls-next").click();
  const asked = (await seen(".lq-question")).textContent;
  document.querySelectorAll(".lq-choices button")[0].click();
  const [right, wrong] = [await seen(".lq-is-right"), await seen(".lq-is-wrong")];
  const answer = [right.textContent, wrong.textContent];
  document.querySelector(".ls-next").click();
  return [asked, ...answer, document.querySelector(".ls-timeline").getAttribute("aria-valuenow")];
})()"""


@pytest.mark.rarely
def test_firefox_plays_it_too(address, tmp_path):
    if FIREFOX is None:
        not_run("There is no Firefox.")
    with firefox(tmp_path) as opened:
        opened.goto(address)
        asked, right, wrong, beat = opened.evaluate(_IN_FIREFOX)
    assert asked.startswith("The controller has decided")
    assert right.startswith("no✓")
    assert wrong.startswith("yes · your guess✗")
    assert beat == "4"
