"""Measures how soon a page of the site shows its first picture over a slow mobile connection.

    python3 lab.py site
    .venv/bin/python -m benchmarks.site_on_a_slow_line [SITE] [--page PAGE]

Serves the built site with compression, as static hosts do, and opens the page in a headless
Chromium whose network is throttled to "fast 3G": 1.6 Mbit/s and 562 ms latency. The times are
seconds since the request; the target is a picture within one second after the HTML has arrived.
"""

import argparse
import functools
import gzip
import http.server
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.measurement import machine
from tests.__main__ import find_chromium
from tests.browser.conftest import CHROMIUM_OPTIONS

FAST_3G = {
    "offline": False,
    "latency": 562,  # milliseconds
    "downloadThroughput": 1.6e6 / 8,  # bytes a second
    "uploadThroughput": 0.75e6 / 8,
}
COMPRESSED = (".html", ".css", ".js", ".svg", ".json")


def main() -> None:
    """Print when the HTML, the first content, a picture and a stepper were there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", nargs="?", default="site", type=Path)
    parser.add_argument("--page", default="notebooks/kafka/03_the_talk.html")
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no Chromium: install one, or set CHROMIUM to it.")
    if not (options.site / options.page).is_file():
        raise SystemExit(f"There is no page {options.site / options.page}: build the site first.")
    print(machine())
    handler = functools.partial(Compressing, directory=str(options.site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        times = measure(chromium, f"http://127.0.0.1:{server.server_port}/{options.page}")
        server.shutdown()
    for what, seconds in times.items():
        print(f"{what:22} {seconds:6.2f} s")
    print(f"picture after the HTML {max(0, times['picture'] - times['HTML']):6.2f} s")


def measure(chromium: str, address: str) -> dict[str, float]:
    """Seconds from the request to each of the page's marks."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.set_default_timeout(120_000)
        line = page.context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", FAST_3G)
        page.add_init_script(_WATCH)
        page.goto(address, wait_until="load")
        page.locator(".lab-page-stepper").first.scroll_into_view_if_needed()
        page.wait_for_function("window.seen?.stepper")
        times = page.evaluate(_TIMES)
        browser.close()
    return {what: milliseconds / 1000 for what, milliseconds in times.items()}


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves files, text files compressed."""

    def do_GET(self) -> None:
        """Send the file, compressed if it is text."""
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            super().do_GET()
            return
        content = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


# A browser draws no frame before the style sheets are loaded: what a frame finds is visible.
_WATCH = """
  window.seen = {};
  const marks = {
    picture: ".lab-static img, .lab-film svg",
    stepper: ".lab-stepper .ls-picture svg",
  };
  function look() {
    for (const [name, where] of Object.entries(marks)) {
      const found = document.querySelector(where);
      if (found && found.complete !== false && found.getBoundingClientRect().height > 20) {
        window.seen[name] ??= performance.now();
      }
    }
    if (!window.seen.stepper) requestAnimationFrame(look);
  }
  requestAnimationFrame(look);
"""

_TIMES = """() => ({
  HTML: performance.getEntriesByType("navigation")[0].responseEnd,
  "something is seen": performance.getEntriesByName("first-contentful-paint")[0].startTime,
  picture: window.seen.picture ?? window.seen.stepper,
  stepper: window.seen.stepper,
})"""


if __name__ == "__main__":
    main()
