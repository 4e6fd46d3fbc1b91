"""The pictures in a real browser: no text is wider than estimated, themes and films work."""

import pytest

from protocol_lab.diagrams.sequence import sequence_diagram
from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import text_width
from protocol_lab.traces.scenarios import play, scenario
from real_systems.kafka.logs.report import read, recorded
from real_systems.kafka.logs.report_page import whole_page
from tests.diagrams.test_diagrams import LOST_REPLY, along
from tests.request_reply import spec as request_reply

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser):
    opened = browser.new_page()
    yield opened
    opened.close()


def cluster(walk):
    moment = walk.moment
    return walk.model.spec.draw(walk.model, moment.row, moment.previous.row)


@pytest.mark.parametrize("name", ["cluster", "sequence"])
def test_no_text_is_wider_than_estimated(page, name):
    """Nothing can overlap in a real browser either, if the estimates are upper ones."""
    walk = play(scenario("talk_46_56_found_scenario"))
    draw = {"cluster": cluster, "sequence": sequence_diagram}
    page.set_content(draw[name](walk))
    measured = page.eval_on_selector_all(
        "text",
        """all => all.filter(each => each.textContent).map(each => [
            each.textContent, each.getComputedTextLength(), each.getAttribute("font-size"),
            each.getAttribute("font-weight") !== null])""",
    )
    assert len(measured) > 15
    for text, width, size, bold in measured:
        assert width <= text_width(text, float(size), bold) + 0.5, text


def test_a_page_repaints_the_pictures_by_its_variables(page):
    walk = along(request_reply.bind(), *LOST_REPLY)
    style = f"{palette.theme_css('.dark')} .dark {{ {palette.variables(palette.DARK)} }}"
    svg = sequence_diagram(walk)
    page.set_content(f"<style>{style}</style><p>{svg}</p><p class='dark'>{svg}</p>")
    paint = """all => all.map(each => getComputedStyle(each).fill)"""
    light, dark = (page.eval_on_selector_all(f"{p} svg > text", paint) for p in ("p", ".dark"))
    assert rgb(palette.INK) in light
    assert {rgb(palette.DARK["ink"]), rgb(palette.DARK["bad"])} <= set(dark)
    assert not set(dark) & {rgb(color) for color in palette.names().values()}


def rgb(color):
    return "rgb({}, {}, {})".format(*(int(color[k : k + 2], 16) for k in (1, 3, 5)))


def test_the_page_about_logs_shows_its_pictures_and_runs_nothing(page, tmp_path):
    said, file = [], tmp_path / "report.html"
    page.on("console", lambda message: said.append(message.text))
    hostile = "<script>document.title = 'run'</script><img src='file:///x.svg'><h1 onclick='x()'>"
    content = read([recorded("last_replica_without_elr_4.3.1")])._repr_html_()
    for added in ("", hostile):
        file.write_text(whole_page(content + added), encoding="utf-8")
        page.goto(file.as_uri())
        assert page.title() == "What the logs say"
        drawn = page.eval_on_selector_all(".moments img", "all => all.map(e => e.naturalWidth)")
        assert len(drawn) > 3
        assert all(drawn)
        assert page.eval_on_selector("h1", "each => getComputedStyle(each).lineHeight") != "normal"
        refused = [each for each in said if "Content Security Policy" in each]
        assert bool(refused) == bool(added), said
