"""On call in a page from the disk: a link is played on, and the lights go on at its end."""

import pytest

from protocol_lab.page.engine_files import engine_script
from tests.site.pages import write_page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.rarely]
HOLDER = (
    '<div class="lab-incident-holder" data-module="real_systems.kafka.on_call.play"'
    ' data-first="one_power_cut"></div>'
)


def test_a_link_is_played_to_its_end(browser, tmp_path):
    address = write_page(tmp_path, engine=engine_script(), more=HOLDER)
    page = browser.new_page()
    page.set_default_timeout(180_000)
    page.goto(f"{address}#play:the_same_with_elr~0~wait")
    page.click("[data-key=poll]")
    page.click("[data-key=wait]")
    page.click("[data-key=poll]")
    assert "1 ✋" in page.inner_text("[data-key=wait]")
    page.click("[data-key=close]")
    assert "Nothing lost" in page.inner_text(".inc-good")
    assert "broker 2 has all" in page.inner_text(".inc-rewind")
    assert page.url.endswith("~wait.close")
