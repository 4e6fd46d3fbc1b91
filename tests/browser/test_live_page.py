"""A page with the kit's own Python: any step can be taken, and all states are searched, from the
disk and from a static server, without a request to anywhere else; in Firefox, too."""

import functools
import json
import threading
from http.server import ThreadingHTTPServer

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.notebook import scenario
from protocol_lab.page.engine_files import engine_script
from protocol_lab.site.notebook_steppers import stepper_cells
from protocol_lab.site.pages import exercise_html
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.teaching.challenges import challenge_named, shortest
from tests.__main__ import not_run
from tests.browser.firefox import FIREFOX, firefox
from tests.browser.test_site import Quiet
from tests.notebook_outputs import FOLDER
from tests.site.pages import write_page
from tests.spec_checks import read_link

# On a machine that does much else its searches may not end in time.
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.rarely]

LOGS = load("kafka.finite_replicated_log").bind(replicas=2, log_records=2, log_size=2)
LOST = "truncate_a_committed_record"
NEEDED = ["from kafka_spec.exercises import replication", "from protocol_lab import HOLDS"]
ANSWER = """
def within(s, c):
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw >= s.replica_log[replica].end_offset:
            return "a high watermark is beyond the end of its log"
    return HOLDS


replication.high_watermark_within_the_log.check(within)
"""
OWN = FOLDER / "your_own" / "01_primary_backup.ipynb"
SOURCE = "document.querySelectorAll('.lab-page-stepper')[{}].mounted"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with four steppers; the third one is of a protocol that its notebook has written."""
    try:
        engine = engine_script()
    except LabError as error:
        not_run(str(error))
    made = tmp_path_factory.mktemp("live")
    cells = json.loads(OWN.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        cell["source"] = "".join(cell["source"])
    *_, own = stepper_cells("notebooks/your_own/01_primary_backup.ipynb", cells)
    opened = [LOGS, challenge_named(LOST), own, scenario("talk_46_56_found_scenario")]
    more = exercise_html({"source": ANSWER}, NEEDED)
    write_page(made, *opened, engine=engine, searched=3, more=more)
    return made


@pytest.fixture(scope="module")
def page(browser, folder):
    """The page from the disk, whose Python was started by a touch; it is shared, as starting takes
    seconds."""
    yield from opened(browser, folder.as_uri())


def opened(browser, address):
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.set_viewport_size({"width": 1280, "height": 900})
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "console", lambda each: each.type in ("error", "warning") and troubles.append(each.text)
    )
    inside = (address, "data:", "blob:")
    page.on("request", lambda each: each.url.startswith(inside) or troubles.append(each.url))
    page.goto(f"{address}/page.html")
    page.locator(".lab-stepper").first.wait_for()
    page.locator(".lab-stepper").first.click(position={"x": 4, "y": 4})
    live(page, 0)
    yield page
    page.close()
    assert troubles == []


def live(page, number):
    """Wait until the page's Python answers for this stepper."""
    page.locator(".lab-page-stepper").nth(number).scroll_into_view_if_needed()
    page.wait_for_selector(f":nth-match(.lab-page-stepper, {number + 1}) .lab-stepper")
    page.evaluate(f"{SOURCE.format(number)}.then((source) => source.start())")
    until(page, "it.get('view').answers > 0", number)  # it has heard that it is shown


def until(page, condition, number=0):
    """Wait until a condition of a stepper's source, `it`, is true."""
    page.evaluate(
        f"""() => {SOURCE.format(number)}.then(async (it) => {{
          while (!({condition})) await new Promise((f) => setTimeout(f, 20));
        }})"""
    )


def get(page, part="view", number=0):
    return page.evaluate(f"part => {SOURCE.format(number)}.then((it) => it.get(part))", part)


def send(page, number=0, **message):
    """Give a stepper a command; returns its view after the answer."""
    return page.evaluate(
        f"""(message) => {SOURCE.format(number)}.then(async (source) => {{
          const {{ answers }} = source.get("view");
          source.send(message);
          while (source.get("view").answers === answers) await new Promise((f) => setTimeout(f, 5));
          return source.get("view");
        }})""",
        message,
    )


def steps_of(view):
    return [choice["step"] for each in view["can"] for choice in each["choices"]]


def test_steps_are_those_of_the_kit(page):
    stepper = PlainStepper(LOGS)
    here = send(page, command="first")
    for k in range(4):
        kit = json.loads(json.dumps(stepper.view))
        for part in ("can", "cannot", "invariants", "caption"):
            assert here[part] == kit[part], part
        step = steps_of(here)[-1 - k % 2]
        stepper.answer({"command": "take", "step": step})
        here = send(page, command="take", step=step)
    assert here["timeline"]["depth"] == 5
    assert len(read_link(here["link"]).path) == 5
    back = send(page, command="undo")
    other = send(page, command="take", step=steps_of(back)[0])
    assert [each["name"] for each in other["timeline"]["lanes"]] == ["main", "branch 2"]


def test_a_step_is_shown_in_tla_in_the_page(page):
    stepper = PlainStepper(LOGS)
    step = steps_of(send(page, command="first"))[0]
    for message in (
        {"command": "take", "step": step},
        {"command": "open", "tab": "code"},
        {"command": "choose", "tla": True},
    ):
        here = send(page, **message)
        stepper.answer(message)
    assert here["panel"]["tla"]["text"]
    assert here["panel"]["tla"] == stepper.view["panel"]["tla"]
    send(page, command="open", tab="cluster")


def test_a_graph_and_a_shortest_way_are_found_in_the_page(page):
    send(page, command="first")
    send(page, command="open", tab="graph")
    until(page, "it.get('graph').svg")
    assert "you are here" in get(page, "graph")["svg"]
    condition = "s.logs[1].end_offset == 2"
    here = send(page, command="find", condition=condition)
    until(page, "it.get('find').working === false")
    assert get(page, "find")["text"].startswith("2 steps to the nearest such state")
    assert here["timeline"]["depth"] == 1


def test_all_states_are_searched_from_here(page):
    send(page, command="first")
    bar = page.locator(".lab-search").first
    bar.get_by_role("button", name="Search all states").click()
    bar.locator("[role=status]").get_by_text("Holds: 49 states were searched").wait_for()


def test_a_challenge_is_won_and_the_violation_is_found_from_where_it_begins(page):
    challenge = challenge_named(LOST)
    way = [step.text for step in shortest(challenge).steps][len(challenge.given_steps) :]
    live(page, 1)
    send(page, 1, command="spoilers", shown=True)
    until(page, "it.get('near').here", 1)
    assert get(page, "near", 1)["here"] == f"{len(way)} steps"
    bar = page.locator(".lab-search").nth(1)
    bar.get_by_role("button", name="Search all states").click()
    bar.locator("[role=status]").get_by_text("Violated").wait_for()
    found = get(page, number=1)
    assert found["timeline"]["branch"].startswith("to: ")
    assert found["timeline"]["length"] - found["timeline"]["depth"] == len(way)
    for step in way:
        here = send(page, 1, command="take", step=step)
    assert here["challenge"]["solved"]
    assert here["challenge"]["points"] == 10


def test_a_protocol_that_the_notebook_has_written_is_stepped_and_searched(page):
    live(page, 2)
    step = "write(lost={2})"
    assert step in steps_of(get(page, number=2))
    send(page, 2, command="take", step=step)
    bar = page.locator(".lab-search").nth(2)
    bar.get_by_role("button", name="Search all states").click()
    told = bar.locator("[role=status]")
    told.get_by_text("Violated: acknowledged_is_kept, after 3 steps from here").wait_for()
    send(page, 2, command="open", tab="code")
    assert "s.primary not in s.alive" in json.dumps(get(page, number=2)["panel"])


def test_the_reader_goes_on_from_the_end_of_the_path(page):
    live(page, 3)
    last = send(page, 3, command="last")
    assert last["timeline"]["depth"] == last["timeline"]["length"] > 5
    assert last["scenario"]["name"] == "talk_46_56_found_scenario"
    onwards = send(page, 3, command="take", step=steps_of(last)[0])
    assert onwards["timeline"]["depth"] == last["timeline"]["depth"] + 1


def test_an_exercise_is_answered_and_checked_in_the_page(page):
    exercise = page.locator(".lab-exercise")
    told = exercise.locator("[role=status]")
    exercise.get_by_role("button", name="Check").click()
    told.get_by_text("It should hold in the initial state").wait_for()
    assert exercise.locator("svg, img").count() > 0
    answer = exercise.get_by_role("textbox", name="Your answer")
    answer.fill(answer.input_value().replace(">=", "> ["))
    exercise.get_by_role("button", name="Check").click()
    told.get_by_text("Python can't read line").wait_for()
    exercise.get_by_role("button", name="as it was").click()
    assert ">=" in answer.input_value()


def test_it_works_from_a_static_server_and_later_without(browser, folder):
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for page in opened(browser, f"http://127.0.0.1:{server.server_port}"):
            here = send(page, command="take", step=steps_of(get(page))[0])
            assert here["timeline"]["depth"] == 2
            page.evaluate("navigator.serviceWorker.ready")
            server.shutdown()
            server.server_close()
            page.reload()
            live(page, 0)
            before = get(page)  # the walk is in the address, if the reader was in the stepper
            here = send(page, command="take", step=steps_of(before)[0])
            assert here["timeline"]["depth"] == before["timeline"]["depth"] + 1


SEARCHED = """(async () => {
  const holder = document.querySelector(".lab-page-stepper");
  const until = async (isTrue) => {
    while (!isTrue()) await new Promise((f) => setTimeout(f, 20));
  };
  await until(() => holder.mounted);
  const source = await holder.mounted;
  await source.start();
  await until(() => source.get("view").answers > 0);
  holder.querySelector("[data-key=search-all]").click();
  await until(() => source.get("search").working === false);
  const { text } = source.get("search");
  source.send({ command: "take", step: source.get("view").can[0].choices[0].step });
  await until(() => source.get("view").timeline.depth === 2);
  return { text, fits: document.documentElement.scrollWidth <= innerWidth };
})()"""


@pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox")
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_it_works_in_firefox(folder, tmp_path, width, height):
    with firefox(tmp_path) as page:
        page.resize(width, height)
        page.goto(f"{folder.as_uri()}/page.html")
        found = page.evaluate(SEARCHED)
        assert found["text"].startswith("Holds: 49 states were searched")
        assert found["fits"]
