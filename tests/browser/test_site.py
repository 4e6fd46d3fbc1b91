"""The site in Chromium, from the disk and from a static server: no kernel, no outside request."""

import functools
import http.server
import re
import threading

import pytest
from axe_playwright_python.sync_playwright import Axe

from protocol_lab.site.build import build
from protocol_lab.traces.links import read_link

pytestmark = pytest.mark.browser

NOTEBOOKS = ["notebooks/00_start_here.ipynb", "notebooks/kafka/05_be_the_adversary.ipynb"]
START, ADVERSARY = "notebooks/00_start_here.html", "notebooks/kafka/05_be_the_adversary.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small site, built once: its folder."""
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, NOTEBOOKS, whole=49, around=1, most=20) == []
    return folder


@pytest.fixture(params=["disk", "server"])
def address(request, site):
    """Where the site is: its folder, or a server that knows nothing but files."""
    if request.param == "disk":
        yield site.as_uri()
        return
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Nothing is printed."""


@pytest.fixture
def open_page(browser, address):
    """Open a page of the site; fails at the end for an error, or a request to anywhere else."""
    yield from opening(browser, address, 1366)


@pytest.fixture
def open_touched(browser, address):
    """The same on a telephone's screen, which is touched."""
    telephone = browser.browser.new_context(has_touch=True, is_mobile=True)
    yield from opening(telephone, address, 390)
    telephone.close()


def opening(context, address, usual_width):
    opened, troubles = [], []

    def open_one(name, width=usual_width, **settings):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 800})
        page.set_default_timeout(120_000)
        page.emulate_media(**settings)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda each: each.type == "error" and troubles.append(each.text))
        page.on("request", lambda each: inside(each.url) or troubles.append(each.url))
        page.goto(f"{address}/{name}")
        opened.append(page)
        return page

    def inside(url):
        return url.startswith((address, "data:", "blob:"))

    yield open_one
    for page in opened:
        page.close()
    assert troubles == []


def test_a_committed_record_is_lost_on_the_first_page_within_ten_seconds(open_page):
    page = open_page("index.html")
    stage = page.locator(".lab-film-stage")
    stage.wait_for()
    page.wait_for_function("document.querySelector('.lab-film-alarm')", timeout=60_000)
    assert "committed messages never lost" in stage.inner_text()
    states = page.locator(".lab-film-dots span").count()
    assert (states - 1) * 1.7 < 10
    stage.get_by_role("button", name="again").wait_for()


def test_it_is_stepped_by_keyboard_alone(open_page):
    page = open_page("index.html")
    stepper = page.locator(".lab-stepper")
    stepper.wait_for()
    stepper.get_by_role("slider").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    stepper.get_by_text("violated", exact=False).first.wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("1")
    assert page.locator(".ls-lane").count() == 2
    page.wait_for_function("location.hash.startsWith('#lab1.')")
    walk = read_link(page.url)
    assert walk.model.spec.name == "kafka.unclean_leader_election"


def test_it_is_stepped_by_touch(open_touched):
    page = open_touched("index.html")
    stepper = page.locator(".lab-stepper")
    stepper.scroll_into_view_if_needed()
    begun = int(stepper.get_by_role("slider").get_attribute("aria-valuenow"))
    for key, by in [("undo", -1), ("redo", 0), ("undo", -1)]:
        stepper.locator(f"[data-key={key}]").tap()
        stepper.locator(f"[aria-valuenow='{begun + by}']").wait_for()
    stepper.locator(".ls-choice").first.tap()
    stepper.locator(f"[aria-valuenow='{begun}']").wait_for()
    stepper.locator(".ls-timeline .ls-moment").first.tap()
    stepper.locator("[aria-valuenow='1']").wait_for()
    stepper.locator("[data-key=tab-compare]").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_paper_nothing_is_cut_off(open_page):
    page = open_page("index.html", media="print")
    stepper = page.locator(".lab-stepper")
    stepper.scroll_into_view_if_needed()
    stepper.locator("footer").wait_for(state="hidden")
    for part in (".ls-staged svg", ".ls-lists", ".ls-caption"):
        whole = "part => part.scrollHeight <= part.clientHeight + 1 || part.matches('svg')"
        assert stepper.locator(part).evaluate(whole), part
        inside = "part => part.getBoundingClientRect().bottom"
        assert stepper.locator(part).evaluate(inside) <= stepper.evaluate(inside) + 1, part
    assert page.pdf().startswith(b"%PDF")


def test_an_address_with_a_walk_opens_it(open_page):
    page = open_page("index.html")
    page.locator(".lab-stepper").wait_for()
    link = page.evaluate("document.querySelector('.lab-recorded').mounted.then((it) => it.link())")
    again = open_page(f"index.html#{link}")
    again.locator(".lab-stepper [aria-valuenow='12'][aria-valuemax='12']").wait_for()


_CUT_OFF = """stepper => {
  const cut = [], right = stepper.getBoundingClientRect().right - 1;
  for (let each = stepper.parentElement; each; each = each.parentElement) {
    const hides = getComputedStyle(each).overflowX !== "visible";
    if (hides && each.getBoundingClientRect().right < right) cut.push(each.className);
  }
  return cut;
}"""


@pytest.mark.parametrize("width", [390, 1366, 1920])
def test_a_stepper_of_a_notebook_works_at_this_width(open_page, width):
    page = open_page(START, width)
    holder = page.locator(".lab-recorded").first
    holder.scroll_into_view_if_needed()
    stepper = holder.locator(".lab-stepper")
    stepper.wait_for()
    stepper.get_by_role("button", name="append(replica=1, record=1)").click()
    stepper.locator("[aria-valuenow='2']").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert stepper.evaluate(_CUT_OFF) == []


def test_a_prediction_is_made_and_kept_and_then_revealed(open_page):
    page = open_page(START)
    asked = page.locator(".lab-asked").nth(1)
    assert asked.get_by_role("button", name="reveal").count() == 0
    asked.get_by_role("button", name="14", exact=True).click()
    asked.get_by_role("button", name="reveal").click()
    asked.locator(".lp-surprise").wait_for()
    assert "49" in asked.locator(".lp-surprise").inner_text()
    page.reload()
    page.locator(".lab-asked").nth(1).get_by_text("You predict: 14").wait_for()
    index = open_page("index.html")
    index.get_by_role("heading", name="Your progress").wait_for()


def test_an_exercise_says_that_it_needs_python(open_page):
    page = open_page(START)
    page.get_by_text("This needs Python.").first.wait_for()


def test_nothing_but_style_sheets_is_loaded_before_the_first_picture(site):
    for page in site.rglob("*.html"):
        head, _, body = page.read_text(encoding="utf-8").partition("</head>")
        for tag in re.findall(r"<script[^>]*\bsrc=[^>]*>", head):
            assert " defer " in tag, (page.name, tag)
        assert "fontawesome" not in body
        assert 'rel="preload" as="script"' not in head


def test_the_themes_icons_come_after_the_page(open_page):
    page = open_page(START)
    page.wait_for_function("document.querySelector('.theme-switch-button svg') !== null")


def test_terms_are_explained_on_focus_and_the_search_finds_pages(open_page):
    page = open_page(START)
    term = page.locator(".lab-term").first
    term.focus()
    term.get_by_role("tooltip").wait_for()
    search = open_page("search.html?q=adversary")
    search.locator("#search-results li").first.wait_for()


def test_a_challenge_is_played_against_par(open_page):
    page = open_page(ADVERSARY, color_scheme="dark")
    holder = page.locator(".lab-recorded").first
    holder.scroll_into_view_if_needed()
    holder.locator(".lab-stepper").wait_for()
    holder.get_by_text("par is", exact=False).wait_for()
    source = "document.querySelector('.lab-recorded').mounted"
    steps = page.evaluate(f"{source}.then((it) => it.session.challenge.shortest)")
    for step in steps:
        holder.get_by_role("button", name=step).first.click()
    holder.get_by_text("10 points", exact=False).wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("index.html", 390), (START, 1366)])
def test_axe_finds_nothing_serious(open_page, site, name, width, theme, address):
    if not address.startswith("file:"):
        pytest.skip("the same from the disk")
    page = open_page(name, width, color_scheme=theme)
    page.locator(".lab-recorded").first.scroll_into_view_if_needed()
    page.locator(".lab-stepper").first.wait_for()
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [each for each in found if each["impact"] in ("serious", "critical")] == []
