"""Forty learners in a room, three in browsers: they vote, follow, drop out and come back."""

import json
import statistics
import time

import pytest
from playwright.sync_api import expect

from protocol_lab.lessons.lesson_files import lesson_named
from tests.room.test_room_server import connect, serving
from tests.site.pages import write_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASKED = {
    **{"name": "notebooks/kafka/p.ipynb a", "question": "?", "choices": ["no", "yes"], "right": 0},
    **{"whys": ["", "Which?"], "why": "It is."},
}
LEARNERS = 40
_WATCH = """() => new MutationObserver(() => (globalThis.seen ??= []).push(
  [Date.now() / 1000, Number.parseInt(document.querySelector(".lq-verdict").textContent)]
)).observe(document.querySelector(".lq-verdict"), { childList: true })"""


@pytest.fixture
def site(tmp_path):
    """A question of a notebook, and a lesson."""
    data = f'<script type="application/json">{json.dumps(ASKED)}</script>'
    fold = "<details><summary></summary><p></p></details>"
    asked = f'<div class="cell_output"><div class="lab-asked">{data}</div>{fold}</div>'
    write_page(tmp_path, more=f"{asked}<section id=lost-while-in-the-room style=height:200vh>")
    (tmp_path / "page.html").rename(tmp_path / "index.html")
    write_page(tmp_path, lesson_named("kafka/one_record"))
    return tmp_path


def test_forty_learners_vote_follow_and_drop_out(browser, site, screenshots):
    with serving(site) as (address, key, process):
        looks = [{"viewport": {"width": each, "height": 844}} for each in (1280, 390, 1280, 1280)]
        pages = [browser.browser.new_context(**look).new_page() for look in looks]
        leader, phone, laptop, third = pages
        troubles, own = [], (address, "data:")
        for page in pages:
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("request", lambda r: r.url.startswith(own) or troubles.append(r.url))
            page.goto(f"{address}/#key={key}" if page is leader else address)
        assert key not in leader.evaluate("location.href")
        secrets = [f"secret of learner {k}" for k in range(LEARNERS - 3)]
        others = [connect(address, secret=each) for each in secrets]
        expect(leader.locator(".lr-state")).to_have_text(f"{LEARNERS} here")
        leader.get_by_role("button", name="poll").click()
        expect(third.locator(".lq-verdict")).to_have_text("Choose: the leader shows what happens.")
        leader.evaluate(_WATCH)
        sent = []
        for k, each in enumerate(others):
            sent.append(time.time())
            each.send(json.dumps(["vote", ASKED["name"], k % 2]))
            time.sleep(0.05)
        phone.get_by_role("button", name="no").click()
        laptop.get_by_role("button", name="yes").click()
        laptop.get_by_role("button", name="no").click()
        expect(leader.locator(".lq-verdict")).to_have_text("39 have answered; 40 are here.")
        seen = leader.evaluate("globalThis.seen")
        waited = [min(t for t, n in seen if n > k) - sent[k] for k in range(len(sent))]
        median, longest = statistics.median(waited), max(waited)
        print(f"an answer: median {median * 1000:.0f} ms, longest {longest * 1000:.0f} ms")
        assert median < 0.3
        process.kill()  # the leader's laptop
    kept = site / "room.jsonl"
    assert not any(each in kept.read_text(encoding="utf-8") for each in secrets)
    assert kept.stat().st_mode & 0o077 == 0
    kept.write_bytes(kept.read_bytes() + b'[1, "vo')
    with serving(site, address.rpartition(":")[2]):
        back = [connect(address, secret=each) for each in secrets[:20]]  # and others' lids
        expect(leader.locator(".lr-state")).to_have_text("23 here")
        expect(leader.locator(".lq-verdict")).to_have_text("39 have answered; 23 are here.")
        third.reload()
        third.get_by_role("button", name="no").click()
        expect(leader.locator(".lq-verdict")).to_have_text("40 have answered; 23 are here.")
        leader.get_by_role("button", name="Show what happens").click()
        for page in pages:
            expect(page.locator(".lq-verdict")).to_contain_text("22 of 40 saw it coming. The run")
        leader.get_by_role("button", name="Follow me").click()
        leader.mouse.wheel(0, 2000)
        for page in (phone, laptop, third):
            expect(page).to_have_url(f"{address}/#lost-while-in-the-room")
        phone.reload()  # an anchor of this length is no leader's key
        leader.goto(f"{address}/page.html#beat-11~0")
        for page in pages:
            expect(page.locator(".lq-question")).to_contain_text("Put broker 2's high watermark")
        for page, choice in ((phone, "0"), (laptop, "1"), (third, "1")):
            page.locator(".lq-choices").get_by_role("button", name=choice).click()
        for k, each in enumerate(back):
            each.send(json.dumps(["vote", "kafka/one_record 10", k % 3]))
        expect(leader.locator(".lq-verdict")).to_have_text("23 have answered; 23 are here.")
        expect(leader.locator(".lab-cloud")).to_have_count(0)  # a projector shows it
        expect(leader.get_by_role("button", name="end the poll")).to_be_hidden()  # all follow
        leader.get_by_role("button", name="Show what happens").click()
        expect(phone.locator(".lab-cloud")).to_have_text("●●●●●●●● 8●●●●●●●●● 9●●●●●● 6")
        expect(leader.locator(".lq-choices button:visible")).to_have_count(3)
        laptop.get_by_placeholder("your name").fill("<i>Ana</i>")
        laptop.get_by_role("button", name="Raise a hand").click()
        leader.get_by_role("button", name="Where are you? Hands up: 1").click()
        leader.get_by_role("button", name="<i>Ana</i>, hand up").click()
        laptop.get_by_role("button", name="Next").click()
        for page in (leader, phone, third):
            expect(page.locator("header")).to_contain_text("beat 12 of 22")
        for page in pages:
            page.screenshot(path=screenshots / f"room{pages.index(page)}.png")
    assert troubles == []
    with pytest.raises(OSError, match="refused"):
        connect(address)  # the port is closed with the command
    assert ",22,yes,18," in kept.with_suffix(".csv").read_text(encoding="utf-8")
