// The header: what is stepped, what holds, and how near the next violation is.

function drawHeader(view, near, ui, act, tools) {
  return [
    h(
      "div",
      { class: "ls-about" },
      h("h2", { title: view.meaning }, ui.lesson ? ui.lesson.values.title : view.title),
      h("span", { class: "ls-where" }, ui.lesson ? ui.lesson.whereabouts : whereabouts(view)),
      fold(ui, "constants", view.constants.map((each) => each.text).join(" · ") || "no constants", drawConstants(view), "ls-more"),
    ),
    h("div", { class: "ls-verdicts" }, drawVerdicts(view, ui), drawNearest(view, near, act)),
    button("tools", ui.tools ? "Tools ▴" : "Tools ▾", tools, {
      class: "ls-tools", "aria-expanded": String(ui.tools), title: "Other views, branches, finding, loading, exporting",
    }),
  ];
}

/** One line that says whether anything is violated; it opens to all invariants, each by itself. */
function drawVerdicts(view, ui) {
  const watched = view.invariants.filter((each) => each.watched);
  const others = view.invariants.filter((each) => !each.watched);
  const fails = watched.filter((each) => !each.holds);
  const [first] = fails;
  const summary = first
    ? h("span", { class: "ls-broken", title: `${first.name}: ${first.reason}` }, "✗ ", h("span", { class: "ls-kind" }, "Broken promise: "), first.reason)
    : h(
        "span",
        { class: "ls-tally", title: watched.map((each) => each.name).join(", ") },
        watched.length ? "✓ Every promise kept" : "nothing is checked",
      );
  const inside = [
    h("ul", { "aria-label": "Invariants" }, watched.map(drawInvariant)),
    others.length ? h("p", {}, "Checked only when they are named:") : null,
    others.length ? h("ul", {}, others.map(drawInvariant)) : null,
  ];
  return fold(ui, "invariants", [summary], [h("div", { class: "ls-unfolded" }, inside)], "ls-more ls-state");
}

function drawConstants({ meaning, constants }) {
  const drawn = constants.map((each) => h("li", {}, h("span", { class: "ls-chip", title: each.meaning }, each.text), " ", each.meaning));
  return h("div", { class: "ls-unfolded" }, h("p", {}, meaning), h("ul", {}, drawn));
}

/** Something that unfolds, and stays as it is while the rest is drawn anew. */
function fold(ui, key, summary, content, look = "") {
  const element = h(
    "details",
    { class: look, open: ui.unfolded.has(key) },
    h("summary", { "data-key": key }, summary),
    content,
  );
  element.addEventListener("toggle", () => ui.unfolded[element.open ? "add" : "delete"](key));
  return element;
}

function drawInvariant(each) {
  const verdict = each.holds ? " is not violated" : each.watched ? " violated: " : " does not hold here: ";
  return h(
    "li",
    { class: each.holds ? "ls-holds" : each.watched ? "ls-fails" : "" },
    h("b", {}, each.holds ? "✓ " : "✗ ", each.name),
    h("span", {}, verdict, each.reason),
    each.values ? h("code", { class: "ls-values" }, each.values) : null,
    h("span", { class: "ls-meaning" }, each.meaning),
  );
}

/** How near the goal or the next violation is: on request only, since it tells much. */
function drawNearest(view, near, act) {
  const goal = view.challenge ? "goal" : "violation";
  const turn = () => act({ command: "spoilers", shown: !view.spoilers });
  const spoil = button("spoilers", view.spoilers ? "hide" : "how near am I?", turn, {
    "aria-pressed": String(view.spoilers),
    title: `How many steps the nearest ${goal} is away, from here and after each step: it gives much away`,
  });
  if (!view.spoilers) return h("span", { class: "ls-nearest" }, spoil);
  const aims = [["", "anything watched"], ...view.aims.map((each) => [each.name, each.label])];
  const title = "The violation that is looked for";
  const aim = select("aim", aims, view.aim, { "aria-label": title, title, onchange: () => act({ command: "aim", name: aim.value }) });
  return h(
    "span",
    { class: "ls-nearest" },
    h("b", { class: "ls-near", title: near?.how ?? "" }, nearestText(near, goal)),
    view.aims.length > 1 && !view.challenge ? aim : null,
    spoil,
  );
}

function nearestText(near, goal) {
  if (!near || near.working || (!near.here && !near.notice)) return `nearest ${goal}: searching…`;
  return near.notice || `nearest ${goal}: ${near.here}`;
}
