// The tabs and their content.

const TABS = [
  ["cluster", "Cluster"],
  ["board", "Board"], // who has said what
  ["sequence", "Sequence"],
  ["state", "State"],
  ["graph", "Graph"],
  ["code", "Code"],
  ["compare", "Compare"],
];

function drawTabs(view, act) {
  return TABS.filter(([name]) => view.tabs.includes(name)).map(([name, label]) =>
    button(`tab-${name}`, label, () => act({ command: "open", tab: name }), {
      role: "tab",
      "aria-selected": String(view.tab === name),
      tabindex: view.tab === name ? "0" : "-1",
      title: name === "board" ? "Who has said what" : null,
    }),
  );
}

/** The tab `by` places further, round the ends. */
function neighbour({ tab: name, tabs: names }, by) {
  return names[(names.indexOf(name) + by + names.length) % names.length];
}

function drawPanel(view, graph, ui, act) {
  const choose = (options) => act({ command: "choose", ...options });
  switch (view.tab) {
    case "board":
      return drawBoard(view.panel, ui);
    case "state":
      return drawState(view.panel, choose);
    case "graph":
      return drawGraph(view, graph, ui, act);
    case "sequence":
      return drawViewer("sequence", ui, withWays(drawSvg(view.panel.svg), view, act));
    case "code":
      return drawCode(view.panel, choose);
    case "compare":
      return drawComparison(view.panel, ui, choose);
    default:
      return drawCluster(view, ui);
  }
}

/** A drawing that is scrolled where it would be too small to be read. */
function readable(drawing) {
  const svg = drawing.querySelector("svg");
  if (svg) svg.style.minWidth = `${Math.ceil(readableScale(svg) * ownSize(svg)[0])}px`;
  return drawing;
}

/** A drawing in which a place that belongs to a state leads there. */
function withWays(drawing, view, act) {
  const leads = (each, message) => {
    each.style.cursor = "pointer";
    each.addEventListener("click", () => act(message));
  };
  for (const each of drawing.querySelectorAll(".lab-moment")) {
    leads(each, { command: "go_to", branch: view.timeline.branch, depth: Number(each.dataset.depth) });
  }
  for (const each of drawing.querySelectorAll(".lab-reach")) {
    leads(each, { command: "go_along", steps: JSON.parse(each.dataset.steps) });
  }
  return drawing;
}

const LARGEST = 1.5; // times its own size, as in stage.py

/** The cluster, at the scale that all states of the walk have room in; its legend unfolds. */
function drawCluster(view, ui) {
  const panel = scrolling(view.tab, drawSvg(view.panel.svg));
  const svg = panel.querySelector("svg");
  const { width, height } = view.panel;
  if (!svg || !width) return panel;
  const [left, top] = svg.getAttribute("viewBox").split(" ");
  svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "xMidYMin meet");
  panel.classList.add("ls-staged");
  const { legend } = svg.dataset;
  if (!legend) return panel;
  return h("div", { class: "ls-stage" }, panel, fold(ui, "legend", ["legend"], [h("p", {}, legend)], "ls-key"));
}

/** Gives the cluster its size: as large as its room, but never so small that it can't be read. */
function layCluster(panel, ui, [across, down]) {
  const field = panel.querySelector(".ls-staged");
  const svg = field?.querySelector("svg");
  if (!svg) return;
  const [width, height] = ownSize(svg);
  const most = ui.presenting ? Infinity : LARGEST;
  const whole = down - 1; // a browser may have rounded it up
  const fits = Math.min(across / width, ui.tall ? Infinity : whole / height, most);
  const scale = Math.max(fits, readableScale(svg));
  svg.style.width = `${Math.floor(scale * width)}px`;
  svg.style.height = `${Math.floor(scale * height)}px`;
  svg.style.maxWidth = "none";
  field.style.overflowX = scale * width <= across ? "hidden" : ""; // or a vertical bar calls for one
  fitHighlights(svg);
}

/** As wide as the text is in this reader's font; the kernel knows only how wide it is at most. */
function fitHighlights(svg) {
  const changed = [...svg.querySelectorAll(".lab-changed")];
  const widths = changed.map((each) => each.nextElementSibling?.getBBox?.().width);
  changed.forEach((each, k) => widths[k] && each.querySelector("rect").setAttribute("width", widths[k] + 8));
}

/** The only markup that is taken as it is: the kit's own drawings, made in the learner's kernel. */
function drawSvg(svg) {
  const holder = h("div", { class: "ls-picture" });
  holder.innerHTML = svg;
  return holder;
}

function scrolling(name, ...content) {
  return h("div", { class: `ls-scroll ls-${name}`, tabindex: "0", "data-key": name, "data-scroll": name }, content);
}

function picker(key, label, options, chosen, onpick) {
  return h("label", {}, `${label} `, select(key, options, chosen, { onchange: ({ target }) => onpick(target.value) }));
}

// --- State ---

function drawState(panel, choose) {
  const bases = panel.bases.map((each) => [each.value, each.label]);
  return scrolling(
    "state",
    h(
      "div",
      { class: "ls-options" },
      picker("base", "What differs from", bases, panel.base, (base) => choose({ base })),
    ),
    h("table", {}, h("tbody", {}, panel.lines.map(drawVariable))),
    panel.tables.map(drawTable),
  );
}

const differs = (value) => value.some((piece) => piece.mark);

function drawVariable({ name, value }) {
  const [look, mark] = differs(value) ? ["ls-differs", "● "] : ["", ""];
  return h("tr", { class: look }, h("th", { scope: "row" }, mark, name), h("td", {}, value.map(drawPiece)));
}

/** The variables that every node has, a column a node; or the items of one variable, a row an item. */
function drawTable(table) {
  const cell = (value) => h("td", { class: differs(value) ? "ls-differs" : "" }, differs(value) ? "● " : "", value.map(drawPiece));
  return h(
    "table",
    { class: "ls-nodes" },
    h("thead", {}, h("tr", {}, h(table.name ? "th" : "td", {}, table.name), table.heads.map((each) => h("th", { scope: "col" }, each)))),
    h(
      "tbody",
      {},
      table.rows.map(([name, cells]) => h("tr", {}, h("th", { scope: "row" }, name), cells.map(cell))),
    ),
  );
}

function drawPiece(piece) {
  if (piece.mark === "changed") {
    return h("span", {}, h("del", {}, piece.was), " ", h("ins", {}, piece.text));
  }
  if (piece.mark === "added") return h("ins", {}, `+ ${piece.text}`);
  if (piece.mark === "removed") return h("del", {}, `− ${piece.text}`);
  return h("span", {}, piece.text);
}

// --- Graph ---

function drawGraph(view, graph, ui, act) {
  const fits = graph?.number === view.number;
  const depths = [["0", "as many as can be read"], "1", "2", "3", "4", "5", "6"];
  const choose = (depth) => act({ command: "choose", depth: Number(depth) });
  const drawing = graph?.svg && fits ? withWays(drawSvg(graph.svg), view, act) : null;
  return drawViewer(
    "graph",
    ui,
    drawing,
    picker("depth", "Steps from here", depths, String(view.panel.depth), choose),
    h("span", { class: "ls-working" }, !fits || graph.working ? "drawing…" : ""),
    fits && graph.notice ? h("p", {}, graph.notice) : null,
  );
}

// --- Code ---

const MARKS = { ran: "▌", returned: "◀", skipped: "" };
const SPOKEN = { ran: "ran", returned: "returned here", skipped: "did not run" };

function drawCode(panel, choose) {
  const verdict = panel.refused ? `refused: ${panel.reason}` : "";
  return scrolling(
    "code",
    h("p", {}, h("b", {}, panel.title), " ", h("span", { class: "ls-why" }, verdict)),
    panel.notice ? h("p", {}, panel.notice) : null,
    panel.values ? h("p", {}, "because ", h("code", { class: "ls-values" }, panel.values)) : null,
    panel.lines.length
      ? h(
          "div",
          { class: "ls-options" },
          h("span", { class: "ls-legend" }, "▌ ran   ◀ returned here   (faint: did not run)"),
          button("tla", "TLA+", () => choose({ tla: !panel.tla }), {
            "aria-expanded": String(Boolean(panel.tla)), title: "The same action in TLA+, as the kit translates it",
          }),
        )
      : null,
    h(
      "div",
      { class: "ls-languages" },
      panel.tla ? drawTla(panel.tla) : null,
      h(
        "ol",
        { class: "ls-lines" },
        panel.lines.map((line) =>
          h(
            "li",
            { class: `ls-line-${line.state}`, value: line.number },
            h("span", { class: "ls-mark", "aria-label": SPOKEN[line.state] ?? "" }, MARKS[line.state] ?? ""),
            h("span", { class: "ls-source" }, line.text || " "),
          ),
        ),
      ),
    ),
  );
}

const drawTla = ({ text, reason }) =>
  text ? h("pre", { class: "ls-tla" }, text) : h("p", { class: "ls-tla" }, `No TLA+: ${reason}`);

// --- Two branches ---

function drawComparison(panel, ui, choose) {
  if (panel.branches.length < 2) {
    const text =
      "There is one branch so far. Fork, or take another step somewhere on the way: the two can be compared here.";
    return scrolling("compare", h("p", {}, text));
  }
  const go = (key, label, at, disabled) => button(key, label, () => choose({ at }), { disabled });
  const after = panel.at === 1 ? "1 step" : `${panel.at} steps`;
  return scrolling(
    "compare",
    h(
      "div",
      { class: "ls-options" },
      picker("left", "Left", panel.branches, panel.left, (left) => choose({ left })),
      picker("right", "Right", panel.branches, panel.right, (right) => choose({ right })),
      go("compare-back", "← back", panel.at - 1, panel.at <= 0),
      h("span", {}, `${after} after they part (of ${panel.last})${panel.equal ? ": the same state" : ""}`),
      go("compare-on", "on →", panel.at + 1, panel.at >= panel.last),
    ),
    panel.differences.length ? h("p", {}, "Differences of the right state from the left one:") : null,
    h("table", {}, h("tbody", {}, panel.differences.map(drawVariable))),
    h("div", { class: "ls-two" }, panel.sides.map(drawSide)),
    fold(
      ui,
      "aligned",
      ["the steps side by side"],
      h("table", { class: "ls-nodes" }, h("tbody", {}, panel.steps.map((pair, k) => drawPair(pair, k, panel)))),
    ),
  );
}

function drawSide(side) {
  const drawing = readable(drawSvg(side.picture));
  const figure = h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, side.name), ` state ${side.depth}: ${side.caption}`),
    drawing,
  );
  figure.style.flexBasis = drawing.querySelector("svg")?.style.minWidth; // narrower, they stand below each other
  return figure;
}

const KINDS = { shared: "", same: "=", elsewhere: "↕", "only here": "≠" };
const KIND_WORDS = {
  shared: "before they part",
  same: "the same step on both sides",
  elsewhere: "the other side takes it at another place",
  "only here": "only on this side",
};

function drawPair(pair, k, panel) {
  const cell = (step) =>
    h("td", { title: step ? KIND_WORDS[step.kind] : "" }, step ? `${KINDS[step.kind]} ${step.text}` : "");
  const here = k + 2 === panel.fork + panel.at;
  return h("tr", { class: here ? "ls-differs" : "" }, h("th", { scope: "row" }, `${here ? "● " : ""}${k + 2}`), pair.map(cell));
}

// --- Who has said what ---

/** A row for each claim, a column for each node, and how far the claim is; what contradicts is marked. A
 * question about a row is answered by pressing its cells. */
function drawBoard({ columns, rows, marks, told }, ui) {
  const ask = ui.lesson?.isOpen && ui.lesson.ask.kind === "cell" ? ui.lesson.ask : null;
  const isMarked = (row, node) => marks.some((each) => each.rows.includes(row) && each.node === node);
  const cell = (row, each, k, at) => {
    const node = k + 1;
    const said = h("span", { class: `ls-said ls-said-${each.kind.replaceAll(" ", "-") || "nothing"}` }, each.text);
    const isAsked = ask?.claim === row.name;
    const picked = isAsked && ui.lesson.picked.has(node);
    const content = isAsked
      ? button(`cell-${node}`, picked ? "✓ yes?" : "yes?", () => ui.pick(node), { "aria-pressed": String(picked) })
      : said;
    return h("td", { class: isMarked(at, node) ? "ls-clash" : "" }, content);
  };
  const isSilent = (row) => row.cells.every((each) => !each.kind);
  const isAllSilent = rows.every(isSilent);
  const isShown = (row) => (told ? told.includes(row.name) : isAllSilent || !isSilent(row)); // what somebody has said something about
  const count = (row) => [
    h("b", {}, row.goal ? `${row.count} of ${row.goal}${row.full ? " ✓" : ""}` : "–"),
    row.full || row.open ? null : h("small", {}, " can’t be filled"),
  ];
  const drawClaim = (row, at) =>
    h("tr", {}, h("th", { scope: "row" }, opening(row.title)), row.cells.map((each, k) => cell(row, each, k, at)), h("td", {}, ask?.claim === row.name ? "?" : count(row)));
  return scrolling(
    "board",
    h(
      "table",
      { class: "ls-board" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "claim"), columns.map((each) => h("th", { scope: "col" }, each)), h("th", { scope: "col" }, "how far"))),
      h("tbody", {}, rows.map((row, at) => (isShown(row) ? drawClaim(row, at) : null))),
    ),
    told ? null : drawContradictions(marks),
  );
}

const drawContradictions = (marks) => marks.map((each) => h("p", { class: "ls-contradiction", role: "status" }, each.why));

// --- Under the panel ---

function drawCaption({ caption, told, timeline }) {
  const place = caption.slide ? `Slide ${caption.slide}` : `State ${timeline.depth}`;
  const title = [caption.step, caption.is_written ? told : caption.text].filter(Boolean).join(": ");
  return [h("p", { title }, h("b", { class: "ls-place" }, place), " ", h("span", {}, narration(caption, told)))];
}

/** The author's sentence, or what the step did. Both, the fact first, where the author only adds to it: that
 * is no sentence, which begins with a capital or a name such as w1. */
function narration({ is_written, text }, told) {
  const own = closed(opening(text));
  if (!told || told === own) return own;
  if (!is_written) return told;
  return SENTENCE.test(text) ? own : `${told} ${own}`;
}

const SENTENCE = /^([^a-z]|[a-z]+\d)/;

/** With a capital, unless it begins with a short name as b1 or w2. */
const opening = (text) => (/^[a-z]+\b/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

/** With a full stop, unless it has an end already. */
const closed = (text) => (/[.!?…:*)]$/.test(text) ? text : `${text}.`);
