"""The stepper's own scripts on a bare page, answered by a stepper in this process; and how well a
page can be read.

What does not need JupyterLab is tested so: it takes a second, not ten.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Locator, Page, expect

from protocol_lab.stepper import Stepper

TRAITS = ("view", "near", "graph", "find", "lesson")
BESIDE = 150
"""Pixels that JupyterLab leaves at the sides of an output, on a screen that is no telephone's."""


@contextmanager
def shown(
    browser: BrowserContext,
    stepper: Stepper,
    width: int = 1280,
    height: int = 720,
    theme="light",
    tools=True,
) -> Iterator[Page]:
    """A page with the stepper, in a window of this size. Fails if the page threw an error.

    tools: with its second level open.
    """
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_viewport_size({"width": width, "height": height})
    page.expose_function("ask", lambda message: _answer(stepper, message))
    beside = BESIDE if width > 660 else 16
    # The clipboard is for pages that have an address which counts as safe.
    page.route("http://localhost/", lambda route: route.fulfill(content_type="text/html", body=""))
    page.goto("http://localhost/")
    page.evaluate("localStorage.clear()")  # where another test's walk is remembered
    page.evaluate("open => localStorage.setItem('lab-stepper-tools', open)", "open" * tools)
    page.set_content(
        f"<style>{stepper._css}</style><body data-jp-theme-light={str(theme == 'light').lower()}"
        f" style='margin: 0; background: {'white' if theme == 'light' else '#111'}'>"
        f"<div id=place style='width: {width - beside}px; margin: 0 auto'></div>"
    )
    page.evaluate(_RENDER, [stepper._esm, list(TRAITS)])
    page.wait_for_function("window.answers > 1")  # to "shown", and to the size of the room
    page.evaluate("setInterval(lookAgain, 250)")  # what is computed in the background arrives
    page.stepper = stepper
    try:
        yield page
    finally:
        page.close()
        stepper.close()
    assert errors == []


def stepper_of(page: Page) -> Locator:
    return page.locator(".lab-stepper")


def key(stepper: Locator, name: str) -> Locator:
    """The button or field with this name."""
    return stepper.locator(f'[data-key="{name}"]')


def moment(stepper: Locator, depth: int) -> Locator:
    return stepper.locator(f".ls-timeline [data-depth='{depth}']").first


def expect_depth(stepper: Locator, depth: int) -> None:
    expect(stepper.locator(".ls-timeline")).to_have_attribute("aria-valuenow", str(depth))


def _answer(stepper: Stepper, message: dict) -> dict:
    if message["command"] != "look again":
        stepper._on_message(None, message)
    return {trait: getattr(stepper, trait) for trait in TRAITS}


_RENDER = """async ([script, traits]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const [values, heard] = [await window.ask({ command: "look again" }), {}];
  window.answers = 0;
  async function send(message) {
    const found = await window.ask(message);
    for (const trait of traits) {
      const changed = JSON.stringify(values[trait]) !== JSON.stringify(found[trait]);
      values[trait] = found[trait];
      if (changed) (heard[`change:${trait}`] ?? []).forEach((each) => each());
    }
    window.answers += 1;
  }
  window.lookAgain = () => send({ command: "look again" });
  const model = {
    get: (trait) => values[trait],
    set: () => {},
    on: (name, callback) => (heard[name] ??= []).push(callback),
    off: () => {},
    send,
  };
  module.default.render({ model, el: document.getElementById("place") });
}"""


READ = """(root) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (each) =>
    each <= 10 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (each) => {
    for (; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  return [...root.querySelectorAll("*")]
    .filter((each) => !each.closest("svg") && [...each.childNodes].some(isText))
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 1)
    .map((each) => {
      const style = getComputedStyle(each);
      const [one, other] = [channels(style.color), ground(each)].map(light);
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      return { text: each.textContent, contrast, size: parseFloat(style.fontSize) };
    });
}"""
"""The size and contrast of each text that is seen."""
