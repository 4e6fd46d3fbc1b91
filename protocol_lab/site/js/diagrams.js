// The diagrams of a whole walk, which can't be recorded state by state: who sent what to whom, and
// which invariant held where. Drawn as protocol_lab/diagrams draws them, with fewer details.

const INK = "var(--lab-ink, #1c2733)";
const MUTED = "var(--lab-muted, #5c6b79)";
const GRID = "var(--lab-grid, #e9edf1)";
const ACCENT = "var(--lab-accent, #1f5fbf)";
const BAD = "var(--lab-bad, #b3261e)";
const GOOD = "var(--lab-good, #1b7a43)";
const PAPER = "var(--lab-paper, #ffffff)";
const PANEL = "var(--lab-panel, #f5f7f9)";
const HERE = "var(--lab-accent-paper, #eff5ff)";

const MOST_ROWS = 30;
const MOST_STATES = 40;
const STEP_COLUMN = 190;
const ROW = 26;

const line = (x1, y1, x2, y2, more = {}) => s("line", { x1, y1, x2, y2, stroke: MUTED, "stroke-width": 1.3, ...more });
const words = (x, y, text, more = {}) => s("text", { x, y, "font-size": 11, fill: INK, ...more }, text);

function picture(width, height, title, ...parts) {
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", style: "max-width: 100%; height: auto" };
  return s("svg", { ...size, "font-family": "system-ui, sans-serif" }, s("title", {}, title), parts).outerHTML;
}

const column = (depth, title, ...parts) =>
  s("g", { class: "lab-moment", "data-depth": depth }, s("title", {}, title), parts);

// --- The sequence ---

function sequenceSvg({ recording: { about }, walk, session }) {
  const moments = walk.pathTo(walk.moment).slice(1);
  const shownMoments = moments.slice(-MOST_ROWS);
  const told = moments.flatMap((each) => each.shown.events);
  const named = told.flatMap((each) => ("at" in each ? [each.at] : [each.source, each.dest]));
  const names = [...new Set([...about.lifelines, ...named.filter(Boolean)])];
  const pitch = Math.max(96, (690 - STEP_COLUMN) / names.length);
  const x = (name) => {
    const at = names.indexOf(name);
    return STEP_COLUMN + pitch * ((at < 0 ? (names.length - 1) / 2 : at) + 0.5);
  };
  const width = STEP_COLUMN + pitch * names.length + 12;
  const parts = [];
  const sent = new Map(); // the messages under way, by identity: where each was sent
  let y = 52;
  const bands = [];
  let broken = new Set();
  for (const moment of moments) {
    const isShown = shownMoments.includes(moment);
    const top = y;
    const fails = moment.shown.invariants.filter((each) => !each.holds && session.watched.includes(each.name));
    const newly = fails.filter((each) => !broken.has(each.name));
    broken = new Set(fails.map((each) => each.name));
    for (const event of moment.shown.events) {
      const at = isShown ? y + 18 : 46;
      const drawn = drawEvent(event, at, x, sent, isShown);
      if (isShown) parts.push(...drawn);
      if (isShown) y += ROW;
    }
    if (!isShown) continue;
    y += Math.max(8, 26 + 14 * newly.length - (y - top));
    const here = moment === walk.moment;
    bands.push(s("rect", { x: 4, y: top, width: width - 8, height: y - top, rx: 5, fill: here ? HERE : "transparent" }));
    const name = moment.step.split("(")[0].replaceAll("_", " ");
    parts.push(
      column(
        moment.depth,
        `state ${moment.depth}: ${moment.step}`,
        s("rect", { x: 4, y: top, width: STEP_COLUMN - 8, height: y - top, fill: "transparent" }),
        words(34, top + 18, `${here ? "▶ " : ""}${moment.depth}`, { "text-anchor": "end", fill: here ? ACCENT : MUTED }),
        words(42, top + 18, shortened(name, 26)),
        newly.map((each, k) => words(42, top + 32 + 14 * k, shortened(`✗ ${each.name}`, 26), { fill: BAD, "font-weight": 600 })),
      ),
    );
  }
  for (const { event, from } of [...sent.values()].flat()) {
    if (!event.dest) continue;
    const [x1, x2] = [x(event.source), (x(event.source) + x(event.dest)) / 2];
    parts.push(line(x1, from, x2, y + 4, { "stroke-dasharray": "2 4" }));
    parts.push(s("circle", { cx: x2, cy: y + 4, r: 4, fill: "none", stroke: MUTED }));
  }
  const lifelines = names.map((name) => [
    line(x(name), 42, x(name), y + 8),
    s("rect", { x: x(name) - pitch / 2 + 5, y: 12, width: pitch - 10, height: 30, rx: 5, fill: PANEL, stroke: GRID }),
    words(x(name), 31, shortened(name, Math.floor(pitch / 7)), { "text-anchor": "middle", "font-weight": 600 }),
  ]);
  const hidden = moments.length - shownMoments.length;
  const foot = [
    ...(moments.length ? [] : ["Nothing has happened yet."]),
    ...(hidden ? [`states 1 to ${hidden + 1} are above, not shown`] : []),
    "● sent · ▶ arrives · ✗ lost · ○ still under way",
  ].map((text, k) => words(12, y + 30 + 16 * k, text, { fill: MUTED }));
  return picture(width, y + 30 + 16 * foot.length, `${about.title}: sequence diagram so far`, bands, lifelines, parts, foot);
}

/** What is drawn of an event; a message that is sent is kept until it arrives or is lost. */
function drawEvent(event, y, x, sent) {
  const label = (at, text, anchor, fill = INK) =>
    words(at, y - 5, text, { "text-anchor": anchor, fill, "font-size": 10.5 });
  if ("at" in event) {
    const mark = { crash: "✗ ", restart: "↻ " }[event.kind] ?? "";
    const tone = { crash: BAD, restart: GOOD }[event.kind] ?? MUTED;
    const width = 6.2 * (event.text.length + mark.length) + 12;
    return [
      s("rect", { x: x(event.at) - width / 2, y: y - 13, width, height: 19, rx: 9, fill: PANEL, stroke: tone }),
      words(x(event.at), y, mark + event.text, { "text-anchor": "middle", "font-size": 10.5 }),
    ];
  }
  const waiting = sent.get(event.identity) ?? [];
  const [x1, x2] = [x(event.source), x(event.dest)];
  const side = x2 >= x1 ? "start" : "end";
  const beside = x1 + (x2 >= x1 ? 9 : -9);
  if (event.kind === "sent") {
    sent.set(event.identity, [...waiting, { event, from: y }]);
    return [s("circle", { cx: x1, cy: y, r: 3.5, fill: ACCENT }), label(beside, event.text, side)];
  }
  const origin = event.kind === "at once" ? null : waiting.shift();
  const from = origin?.from ?? y;
  if (event.kind === "lost") {
    const end = x1 + 0.6 * (x2 - x1);
    const cross = `M${end - 5} ${y - 5}l10 10m0 -10l-10 10`;
    return [
      line(x1, from, end, y, { stroke: BAD, "stroke-dasharray": "6 4" }),
      s("path", { d: cross, stroke: BAD, "stroke-width": 2.4, fill: "none" }),
      label(end + 9, `lost: ${event.text}`, "start", BAD),
    ];
  }
  const turn = (Math.atan2(y - from, x2 - x1) * 180) / Math.PI;
  return [
    line(x1, from, x2, y, { stroke: ACCENT, "stroke-width": 1.5 }),
    s("path", { d: "M0 0l-9 -4v8z", fill: ACCENT, transform: `translate(${x2} ${y}) rotate(${turn})` }),
    event.kind === "at once" || !origin ? label((x1 + x2) / 2, event.text, "middle") : null,
  ].filter(Boolean);
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// --- The invariants over time ---

function invariantsSvg({ recording: { about }, walk, session }) {
  const { path } = walk;
  const first = Math.max(0, Math.min(walk.moment.depth - MOST_STATES / 2, path.length - MOST_STATES));
  const moments = path.slice(first, first + MOST_STATES);
  const cell = Math.min(30, 470 / moments.length);
  const names = session.watched;
  const bottom = 50 + 30 * names.length;
  const x = (k) => 222 + k * cell;
  const columns = moments.map((moment, k) => {
    const found = names.map((name) => moment.shown.invariants.find((each) => each.name === name));
    const fails = found.filter((each) => each && !each.holds).map((each) => `✗ ${each.reason}`);
    const title = [`state ${moment.depth}: ${moment.step ?? "the initial state"}`, ...fails].join("\n");
    const cells = found.map((each, row) => {
      const [sign, fill] = !each ? ["–", MUTED] : each.holds ? ["✓", GOOD] : ["✗", BAD];
      return words(x(k) + cell / 2, 63 + 30 * row, sign, { "text-anchor": "middle", fill, "font-size": Math.min(13, cell) });
    });
    const number = k === 0 || cell >= 17 || moment.depth % 5 === 0 ? String(moment.depth) : "";
    return column(
      moment.depth,
      title,
      s("rect", { x: x(k), y: 12, width: cell, height: bottom - 12, fill: "transparent" }),
      words(x(k) + cell / 2, 26, number, { "text-anchor": "middle", fill: MUTED }),
      cells,
    );
  });
  const here = x(walk.moment.depth - 1 - first);
  const frame = s("rect", { x: here, y: 12, width: cell, height: bottom - 12, rx: 4, fill: "none", stroke: ACCENT, "stroke-width": 2 });
  const named = names.map((name, k) => words(12, 63 + 30 * k, shortened(name, 34), { "font-weight": 600 }));
  const paper = s("rect", { width: 214, height: bottom, fill: PAPER }); // over columns that are scrolled below it
  const labels = s("g", { "data-part": "names" }, paper, words(12, 26, "state", { fill: MUTED }), named);
  const foot = words(12, bottom + 18, "✓ holds · ✗ fails · – not applicable: it compares a state with the one before", { fill: MUTED });
  return picture(700, bottom + 30, `${about.title}: invariants over time`, columns, frame, labels, foot);
}
