"""The site in Chromium, from the disk and from a static server: no kernel, no outside request.

`test_live_page` is about the steps and searches of the page's own Python."""

import functools
import http.server
import re
import threading
import zlib
from base64 import urlsafe_b64encode

import pytest
from axe_playwright_python.sync_playwright import Axe

from protocol_lab.catalog import load
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.page.search_files import Searches
from protocol_lab.site.build import build
from protocol_lab.stepper.plain_stepper import PlainStepper
from tests import ROOT
from tests.__main__ import not_run
from tests.browser.stepper_page import READ
from tests.spec_checks import read_link
from tests.work_units import one_in, one_of

pytestmark = pytest.mark.browser

JS = ROOT / "protocol_lab" / "site" / "js"
NOTEBOOKS = ["notebooks/00_start_here.ipynb", "notebooks/kafka/16_can_you_lose_it.ipynb"]
START, ADVERSARY = "notebooks/00_start_here.html", "notebooks/kafka/16_can_you_lose_it.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A small site, built once, without searches of all states: its folder."""
    folder = tmp_path_factory.mktemp("built") / "site"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Searches, "scripts", lambda *_: iter(()))
        told = build(folder, NOTEBOOKS)
    if any("npm" in each for each in told):
        not_run(told[0])
    assert (told, [*folder.parent.iterdir()]) == ([], [folder])
    return folder


@pytest.fixture(params=["disk", pytest.param("server", marks=pytest.mark.rarely)])
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
    film = page.locator(".lab-film")
    page.wait_for_function("document.querySelector('.lab-film-alarm')", timeout=60_000)
    assert film.locator(".lab-film-told").inner_text().startswith("✗")
    told, picture = (film.locator(each).bounding_box() for each in (".lab-film-told", ".lab-wide"))
    assert told["y"] + told["height"] <= picture["y"], "its words are above it"
    assert (film.locator(".lab-film-dots button").count() - 1) * 1.9 < 10
    film.get_by_role("button", name="Pause").click()
    film.get_by_role("button", name="State 1").click()
    film.locator(".lab-film-told").get_by_text("Three replicas").wait_for()
    assert page.locator(".lab-film-alarm").count() == 0
    film.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('.lab-film-alarm')", timeout=60_000)


def test_the_first_page_says_above_the_fold_what_it_is(open_page):
    page = open_page("index.html", 1280)
    page.set_viewport_size({"width": 1280, "height": 720})
    assert "Kafka" in page.locator(".lead").inner_text().partition(".")[0]
    seen = [page.get_by_role("heading", level=1), page.locator(".lead"), page.locator(".lab-film")]
    for each in [*seen, *page.locator(".ways a").all()]:
        box = each.bounding_box()
        assert 0 <= box["y"] <= 720 - box["height"], each
    picture, bar = (page.locator(each).bounding_box() for each in (".lab-wide", ".lab-film-bar"))
    assert bar["y"] + bar["height"] - picture["y"] <= 0.55 * 720
    assert page.locator(".card h3").all_inner_texts() == [
        "Kafka",
        "KRaft",
        "BookKeeper",
        "Pulsar",
        "Your own protocol",
    ]


_DRAWN_SIZES = """texts => texts.filter((each) => each.checkVisibility()).map((each) => {
  return each.getScreenCTM().a * parseFloat(getComputedStyle(each).fontSize);
})"""


@pytest.mark.parametrize("height", [720, 800])
def test_all_of_the_first_pages_stepper_is_seen_at_once(open_page, height):
    page = open_page("index.html", 1280, reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": height})
    page.get_by_role("link", name="Step it yourself").click()
    page.locator(".lab-stepper").wait_for()
    for part in (".lab-stepper header", ".lab-stepper [data-key=redo]"):
        box = page.locator(part).bounding_box()
        assert 0 <= box["y"] <= height - box["height"], part


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", one_in(3, [390, 1280, 1920]))
def test_the_first_page_is_legible(open_page, width, theme):
    page = open_page("index.html", width, color_scheme=theme, reduced_motion="reduce")
    page.locator(".lab-film-alarm").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    told = page.locator(".lab-film-told")
    assert told.evaluate("each => each.scrollHeight <= each.clientHeight"), "nothing is cut"
    for text in page.locator(".lab-front").evaluate(READ):
        assert text["size"] >= 13, text
        assert text["contrast"] >= 4.5, text
    assert min(page.locator(".lab-film-picture text").evaluate_all(_DRAWN_SIZES)) >= 13
    buttons = page.locator(".lab-front :is(.lab-film, .ways, .top) :is(button, .button)").all()
    heights = [each.bounding_box()["height"] for each in buttons if each.is_visible()]
    assert min(heights) >= 40


def test_a_link_to_the_site_has_a_description_and_a_picture(site):
    html = (site / "index.html").read_text(encoding="utf-8")
    for name in ("description", "og:title", "og:description", "og:image"):
        assert re.search(f'<meta (name|property)="{name}" content="[^"]+">', html), name
    assert (site / re.search('og:image" content="([^"]+)"', html)[1]).is_file()
    assert "fontawesome" not in html
    addresses = re.findall(r'<a [^>]*href="([^"#]+)"', html)
    assert [each for each in addresses if not (site / each).is_file()] == []


@pytest.mark.rarely
def test_it_is_stepped_by_keyboard_alone(open_page):
    page = open_page("index.html")
    stepper = page.locator(".lab-stepper")
    stepper.wait_for()
    stepper.get_by_role("slider").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    stepper.get_by_text("Broken promise", exact=False).first.wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("1")
    page.wait_for_function("document.querySelectorAll('.ls-lane').length === 2")
    page.wait_for_function("location.hash.startsWith('#lab1.')")
    walk = read_link(page.url)
    assert walk.model.spec.name == "kafka.unclean_leader_election"


_ALL_CHOICES_ARE_SEEN = """() => {
  const topOf = (each) => document.querySelector(each).getBoundingClientRect().top;
  return topOf(".ls-right") >= Math.max(0, topOf(".lab-stepper"));
}"""


def test_it_is_stepped_by_touch(open_touched):
    page = open_touched("index.html")
    stepper = page.locator(".lab-stepper")
    stepper.scroll_into_view_if_needed()
    begun = int(stepper.get_by_role("slider").get_attribute("aria-valuenow"))
    for key, by in [("undo", -1), ("redo", 0), ("undo", -1)]:
        stepper.locator(f"[data-key={key}]").tap()
        stepper.locator(f"[aria-valuenow='{begun + by}']").wait_for()
    stepper.locator("[data-key=sheet]").tap()
    page.wait_for_function(_ALL_CHOICES_ARE_SEEN)
    stepper.locator(".ls-choice").first.tap()
    stepper.locator(f"[aria-valuenow='{begun}']").wait_for()
    stepper.locator(".ls-timeline .ls-moment").first.tap()
    stepper.locator("[aria-valuenow='1']").wait_for()
    stepper.locator("[data-key=tools]").tap()
    stepper.locator("[data-key=tab-compare]").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


_IS_WHOLE = """(stepper) => [".ls-staged svg", ".ls-lists", ".ls-caption"].every((name) => {
  const part = stepper.querySelector(name);
  const bottom = (each) => each.getBoundingClientRect().bottom;
  const isWhole = part.scrollHeight <= part.clientHeight + 1 || part.matches("svg");
  return isWhole && bottom(part) <= bottom(stepper) + 1;
})"""


def test_on_paper_nothing_is_cut_off(open_page):
    page = open_page("index.html", media="print")
    stepper = page.locator(".lab-stepper")
    stepper.scroll_into_view_if_needed()
    stepper.locator("footer").wait_for(state="hidden")
    page.wait_for_function(_IS_WHOLE, arg=stepper.element_handle())  # once it is laid out
    assert page.pdf().startswith(b"%PDF")


_LOOK = """(number) => {
  const look = async () => {
    const source = await document.querySelectorAll(".lab-page-stepper")[number]?.mounted;
    if (source?.get("view").answers > 0) window.openedView = source.get("view");
    else setTimeout(look, 50);
  };
  look();
}"""


def opened_walk(page, number):
    """The view of a stepper, once the page's Python shows it."""
    page.evaluate(_LOOK, number)
    page.wait_for_function("window.openedView")  # which has a limit, unlike a script's own waiting
    return page.evaluate("openedView")


@pytest.mark.parametrize(("size", "is_read"), [(999_000, True), (100_000_000, False)])
def test_a_page_unpacks_as_much_of_a_link_as_the_kit(browser, size, is_read):
    script, separator, _ = (
        (JS / "page.js").read_text(encoding="utf-8").partition("// The page itself.")
    )
    assert separator  # what follows it looks for the steppers of a page
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(b"# spec: kafka.kip_320\n# challenge: none\n#")
    packed += b"".join(packer.compress(b"a" * 1_000) for _ in range(size // 1_000 - 1))
    link = "lab1." + urlsafe_b64encode(bytes(4) + packed + packer.flush()).decode().rstrip("=")
    page = browser.new_page()
    about = page.evaluate(f"async (link) => {{ {script}\nreturn await aboutLink(link); }}", link)
    page.close()
    assert (about and about["spec"]) == ("kafka.kip_320" if is_read else None)


@pytest.mark.rarely
def test_a_step_of_a_challenge_is_a_link_that_opens_there(open_page):
    """From its own page, from the first page, and from the kit."""
    page = open_page(ADVERSARY)
    holder = page.locator(".lab-page-stepper").nth(1)
    holder.scroll_into_view_if_needed()
    holder.locator(".lab-stepper").wait_for()
    holder.get_by_role("button", name="Copy link").click()
    holder.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(page.url.partition("#")[0])
    stepper = PlainStepper(read_pasted(copied))
    stepper.answer({"command": "take", "step": stepper.view["can"][0]["choices"][0]["step"]})
    name = stepper.view["challenge"]["name"]
    for address in (f"{ADVERSARY}#{stepper.link}~1", f"index.html#{stepper.link}"):
        again = open_page(address)
        again.wait_for_url(f"**/{ADVERSARY}#*")
        view = opened_walk(again, 1)
        assert (view["challenge"]["name"], view["challenge"]["steps"]) == (name, 1)
        assert view["challenge"]["par"] is not None


@pytest.mark.rarely
def test_a_step_of_a_notebook_opens_on_the_first_page_and_goes_back(open_page):
    stepper = PlainStepper(load("bookkeeper.protocol").bind())
    stepper.answer({"command": "take", "step": stepper.view["can"][0]["choices"][0]["step"]})
    page = open_page(f"index.html#{stepper.link}")
    view = opened_walk(page, 0)
    assert view["timeline"]["depth"] == 2
    page.locator("[data-key=copy-link]").click()
    page.get_by_role("button", name="Copied").wait_for()
    back = PlainStepper(load("kafka.kip_320").bind())
    back.answer({"command": "paste", "text": page.evaluate("navigator.clipboard.readText()")})
    assert back.walk.row == stepper.walk.row
    assert back.walk.model.spec.name == "bookkeeper.protocol"


_CUT_OFF = """stepper => {
  const cut = [], right = stepper.getBoundingClientRect().right - 1;
  for (let each = stepper.parentElement; each; each = each.parentElement) {
    const hides = getComputedStyle(each).overflowX !== "visible";
    if (hides && each.getBoundingClientRect().right < right) cut.push(each.className);
  }
  return cut;
}"""


@pytest.mark.parametrize("width", one_in(3, [390, 1366, 1920]))
def test_a_stepper_of_a_notebook_works_at_this_width(open_page, width):
    page = open_page(START, width)
    holder = page.locator(".lab-page-stepper").first
    holder.scroll_into_view_if_needed()
    stepper = holder.locator(".lab-stepper")
    stepper.wait_for()
    if width < 660:
        stepper.locator("[data-key=sheet]").click()
    stepper.get_by_role("button", name="append(replica=1, record=1)").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert stepper.evaluate(_CUT_OFF) == []


_SMALLEST = """svg => Math.min(...[...svg.querySelectorAll("text")].map(
  (each) => parseFloat(each.getAttribute("font-size")) * svg.getScreenCTM().a))"""


@pytest.mark.parametrize("height", [632, 720])
def test_a_stepper_beside_the_contents_of_a_laptops_page_can_be_read(open_page, height):
    page = open_page(ADVERSARY, 1280)
    page.set_viewport_size({"width": 1280, "height": height})
    holder = page.locator(".lab-page-stepper").first
    holder.scroll_into_view_if_needed()
    picture = holder.locator(".ls-staged svg")
    picture.wait_for()
    page.wait_for_timeout(500)  # its place is measured
    assert picture.evaluate(_SMALLEST) >= 12.9


def test_a_question_is_answered_by_a_press_and_what_follows_opens_in_its_card(open_page):
    page = open_page(START)
    page.evaluate("localStorage.clear()")  # where an earlier try has left its answer
    page.reload()
    asked = page.locator(".lab-asked", has_text="What is closest to the number")
    following = asked.get_by_text("The number grows exponentially", exact=False)
    assert not following.is_visible()
    asked.get_by_role("button", name="100", exact=True).press("Enter")
    assert "the run says 3,000" in asked.get_by_role("status").inner_text()
    assert len(asked.locator(".lq-is-wrong .lq-why").inner_text()) > 10
    following.wait_for()
    title = page.get_by_text("Two replicas with room for two records")
    assert title.locator("visible=true").count() == 1
    page.reload()
    asked.get_by_text("you chose 100", exact=False).wait_for()
    index = open_page("index.html")
    index.get_by_role("heading", name="Your progress").wait_for()


def test_nothing_but_style_sheets_is_loaded_before_the_first_picture(site):
    for page in site.rglob("*.html"):
        head, _, body = page.read_text(encoding="utf-8").partition("</head>")
        for tag in re.findall(r"<script[^>]*\bsrc=[^>]*>", head):
            assert " defer " in tag, (page.name, tag)
        assert "fontawesome" not in body
        assert 'rel="preload" as="script"' not in head


def test_terms_are_explained_on_focus_and_the_search_finds_pages(open_page):
    page = open_page(START)
    term = page.locator(".lab-term").first
    term.focus()
    term.get_by_role("tooltip").wait_for()
    assert page.get_by_text("every replica of the ISR").count() == 1, "Kafka's meaning"
    search = open_page("search.html?q=adversary")
    search.locator("#search-results li").first.wait_for()


@pytest.mark.rarely
def test_a_challenge_is_played_against_par(open_page):
    page = open_page(ADVERSARY, color_scheme="dark")
    holder = page.locator(".lab-page-stepper").first
    holder.scroll_into_view_if_needed()
    holder.locator(".lab-stepper").wait_for()
    holder.get_by_text("par is", exact=False).wait_for()
    source = "document.querySelector('.lab-page-stepper').mounted"
    steps = page.evaluate(f"{source}.then((it) => it.session.shortest)")
    for step in steps:
        holder.get_by_role("button", name=step).first.click()
    holder.get_by_text("10 points", exact=False).wait_for()


@pytest.mark.parametrize("theme", one_of(["light", "dark"]))
@pytest.mark.parametrize(
    ("name", "width"), one_in(3, [("index.html", 390), ("index.html", 1366), (START, 1366)])
)
def test_axe_finds_nothing_serious(open_page, site, name, width, theme, address):
    if not address.startswith("file:"):
        pytest.skip("the same from the disk")
    page = open_page(name, width, color_scheme=theme)
    page.locator(".lab-page-stepper").first.scroll_into_view_if_needed()
    page.locator(".lab-stepper").first.wait_for()
    found = Axe().run(page, options={"preload": False}).response["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], node["html"]) for each in grave for node in each["nodes"]] == []
