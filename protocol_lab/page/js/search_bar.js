// "Search all states from here", below a stepper of a page: progress, stop, and the verdict.

/** `more`: what else stands there. */
function searchBar(source, ...more) {
  const go = h("button", { "data-key": "search-all", onclick: () => void begin() }, "Search all states from here");
  const stop = h("button", { "data-key": "search-stop", hidden: true, onclick: () => source.stopSearching() }, "stop");
  const told = h("span", { class: "lab-search-told", role: "status" });
  const bar = h("div", { class: "lab-search" }, go, stop, more, told);

  async function begin() {
    go.disabled = true;
    told.textContent = "The kit is starting in this page…";
    await source.start();
    if (source.search()) stop.hidden = false;
    else draw({ text: "This protocol was written in the notebook: the kit searches it." });
  }

  function draw({ working, verdict, text, distinct, depth }) {
    go.disabled = Boolean(working);
    stop.hidden = !working;
    bar.dataset.verdict = verdict ?? "";
    told.textContent = working ? `${distinct.toLocaleString("en")} states, depth ${depth}…` : text;
  }

  source.on("change:search", () => draw(source.get("search")));
  return bar;
}
