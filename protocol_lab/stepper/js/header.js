// The header: what is stepped, what holds, and how near the next violation is.

const FEW_CONSTANTS = 5; // that are shown beside the title; more are folded
const FEW_INVARIANTS = 3; // that hold and are named in the presenter's view; more are counted

function drawHeader(view, near, ui, act) {
  const watched = view.invariants.filter((each) => each.watched);
  const others = view.invariants.filter((each) => !each.watched);
  const fails = others.filter((each) => !each.holds).length;
  const rest = view.constants.slice(FEW_CONSTANTS);
  return [
    h(
      "div",
      { class: "ls-about" },
      h("h2", { title: view.meaning }, view.title),
      view.constants.slice(0, FEW_CONSTANTS).map(drawConstant),
      rest.length
        ? more(ui, "constants", `+${rest.length}`, "More constants:", rest.map(drawConstant))
        : null,
    ),
    h(
      "div",
      { class: "ls-verdicts" },
      drawInvariants(watched),
      others.length
        ? more(
            ui,
            "invariants",
            `${others.length} more${fails ? `, ${fails} not holding` : ""}`,
            "Properties that count only when they are named:",
            h("ul", {}, others.map(drawInvariant)),
          )
        : null,
      drawNearest(view, near, act),
    ),
  ];
}

function drawConstant(each) {
  return h("span", { class: "ls-chip", title: each.meaning }, each.text);
}

function more(ui, key, label, title, content) {
  const inside = h("div", { class: "ls-unfolded" }, h("p", {}, title), content);
  return fold(ui, key, [label], [inside], "ls-more");
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

/** All by name; the presenter's view has room for those that fail, and counts many that hold. */
function drawInvariants(watched) {
  const holding = watched.filter((each) => each.holds).length;
  const look = holding > FEW_INVARIANTS ? "ls-many" : "";
  const count = h("li", { class: "ls-tally", "aria-hidden": "true" }, `✓ ${holding} invariants hold`);
  return h("ul", { class: look, "aria-label": "Invariants" }, count, watched.map(drawInvariant));
}

function drawInvariant(each) {
  return h(
    "li",
    { class: each.holds ? "ls-holds" : "ls-broken", title: each.meaning },
    h("b", {}, each.holds ? "✓ " : "✗ ", each.name),
    each.holds ? null : h("span", {}, ` violated: ${each.reason}`),
    each.values ? h("code", { class: "ls-values" }, each.values) : null,
    h("span", { class: "ls-unseen" }, each.holds ? " holds" : ""),
  );
}

/** How far the nearest violation is, of which invariant, and the switch that hides it. */
function drawNearest(view, near, act) {
  const aims = [["", "anything watched"], ...view.aims.map((each) => [each.name, each.label])];
  const aim = h(
    "select",
    {
      "data-key": "aim",
      "aria-label": "The violation that is looked for",
      title: "The violation that is looked for",
      onchange: () => act({ command: "aim", name: aim.value }),
    },
    aims.map(([name, label]) => h("option", { value: name, selected: name === view.aim }, label)),
  );
  const spoil = h(
    "button",
    {
      "data-key": "spoilers",
      "aria-pressed": String(view.spoilers),
      title: "Distances tell much: hide them to find out by yourself",
      onclick: () => act({ command: "spoilers", shown: !view.spoilers }),
    },
    view.spoilers ? "hide distances" : "show distances",
  );
  if (!view.spoilers) return h("span", { class: "ls-nearest" }, spoil);
  return h(
    "span",
    { class: "ls-nearest" },
    h("b", { class: "ls-near", title: near?.how ?? "" }, nearestText(near)),
    view.aims.length > 1 ? aim : null,
    spoil,
  );
}

function nearestText(near) {
  if (!near || near.working) return "nearest violation: searching…";
  if (near.notice) return near.notice;
  return `nearest violation: ${near.here}`;
}
