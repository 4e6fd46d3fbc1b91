// The states around the one shown, as protocol_lab/diagrams/state_graph.py finds them; placed in
// columns here, since a page has no Graphviz.

const MOST_DRAWN = 30; // states, where the depth is left open
const AT_MOST = 250;
const DRAWN_BEFORE = 3; // states of the walk before the one shown
const NODE_LINE = 15;
const NODE_GAP = 14;
const BETWEEN = 170; // columns, with room for the steps from here
const MOST_LABEL_LINES = 5;

/** What the Graph tab shows: a picture, or a sentence. `depth`: 0 for as deep as can be read. */
function graphOf(source, depth) {
  const states = depth ? statesAround(source, depth) : readableStates(source);
  if (states.length > AT_MOST) {
    return { svg: "", notice: `There are more than ${AT_MOST} states up to ${counted(depth, "step")} from here: choose fewer steps.` };
  }
  return { svg: graphSvg(source, states) };
}

/** As many columns of states as can be read; at least one. */
function readableStates(source) {
  let states = statesAround(source, 1);
  for (let depth = 2; ; depth++) {
    const more = statesAround(source, depth);
    if (more.length > MOST_DRAWN || more.length === states.length) return states;
    states = more;
  }
}

/**
 * The states up to some steps away, breadth first: { row, depth, shown, steps, more }. `steps` lead
 * there from here, `more`: its own steps are not followed.
 */
function statesAround({ recording, walk }, depth) {
  const { row, shown } = walk.moment;
  const found = new Map([[row, { row, depth: 0, shown, steps: [] }]]);
  for (const state of found.values()) {
    const recorded = recording.state(state.row);
    if (!recorded) {
      state.ends = true;
      continue;
    }
    if (found.size > AT_MOST) break;
    for (const { step, to, moment } of choicesOf(recorded)) {
      if (found.has(to)) continue;
      if (state.depth === depth) state.more = true;
      else found.set(to, { row: to, depth: state.depth + 1, shown: moment, steps: [...state.steps, step] });
    }
  }
  return [...found.values()];
}

const choicesOf = ({ can }) => can.flatMap(({ action, choices }) => choices.map((each) => ({ action, ...each })));

function graphSvg(source, states) {
  const { recording, walk, session } = source;
  const path = walk.path;
  const before = statesBefore(walk, states);
  const all = [...before, ...states];
  const visits = (row) => path.filter((each) => each.row === row).map((each) => each.depth);
  const base = recording.plain(walk.moment.row).leaves;
  const nodes = new Map(
    all.map((each) => {
      const broken = each.shown.invariants.filter(({ name, holds }) => !holds && session.watched.includes(name));
      const lines = [
        ...broken.map(({ name }) => `✗ ${name}`),
        ...(each.depth === 0 ? ["▶ you are here"] : walkedLines(visits(each.row))),
        ...changedLeaves(base, recording.plain(each.row).leaves),
        ...(each.more ? ["…"] : []),
        ...(each.ends ? ["recorded up to here"] : []),
      ];
      const width = Math.max(40, ...lines.map((line) => 6.9 * line.length)) + 14;
      return [each.row, { ...each, lines, width, height: NODE_LINE * Math.max(1, lines.length) + 8, broken: broken.length > 0, visits: visits(each.row) }];
    }),
  );
  const edges = edgesBetween(recording, nodes, before);
  const [width, bottom] = placeNodes([...nodes.values()], edges);
  const heads = [...new Set(all.map((each) => each.depth))].map((depth) => {
    const name = depth ? `${counted(Math.abs(depth), "step")}${depth < 0 ? " before" : ""}` : "here";
    const first = [...nodes.values()].find((each) => each.depth === depth);
    return words(first.x, 62, name, { fill: MUTED });
  });
  const count = `${counted(states.length, "state")} around this one; faint lines lead back or sideways.`;
  return picture(
    Math.max(width, 480),
    bottom + 14,
    `${recording.about.title}: the states around this one`,
    words(14, 24, `${recording.about.title}: the states around this one`, { "font-size": 14, "font-weight": 650 }),
    words(14, 42, count, { fill: MUTED }),
    heads,
    edges.map((each) => drawEdge(each)),
    [...nodes.values()].map(drawNode),
    edges.flatMap(edgeLabel),
  );
}

/** The last states of the walk that led here and are not among those around. */
function statesBefore(walk, states) {
  const known = new Set(states.map((each) => each.row));
  const before = [];
  for (let each = walk.moment.previous; each && before.length < DRAWN_BEFORE; each = each.previous) {
    if (known.has(each.row)) break;
    known.add(each.row);
    before.unshift({ row: each.row, depth: -before.length - 1, shown: each.shown, steps: null });
  }
  return before;
}

const walkedLines = (depths) => (depths.length ? [`visited: state${depths.length > 1 ? "s" : ""} ${depths.join(", ")}`] : []);

/** The parts of a state that differ from another's, in a few lines; see `state_leaves`. */
function changedLeaves(base, leaves) {
  const known = new Map(base.map(([name, ...value]) => [name, value.join()]));
  const lines = leaves.filter(([name, ...value]) => known.get(name) !== value.join()).map(([name, text]) => `${name} ${text}`);
  if (lines.length <= MOST_LABEL_LINES) return lines;
  return [...lines.slice(0, MOST_LABEL_LINES - 1), `and ${lines.length - MOST_LABEL_LINES + 1} more`];
}

/** The lines between the states, each with the steps that it stands for; of the walk also those before. */
function edgesBetween(recording, nodes, before) {
  const edges = new Map();
  const earlier = new Set(before.map((each) => each.row));
  for (const from of nodes.values()) {
    const followed = from.more ? [] : choicesOf(recording.state(from.row) ?? { can: [] });
    for (const { action, label, step, to } of followed) {
      const target = nodes.get(to);
      if (!target || to === from.row) continue;
      if (earlier.has(from.row) && target.depth !== from.depth + 1) continue;
      const key = `${from.row} ${to}`;
      if (!edges.has(key)) edges.set(key, { from, to: target, steps: [], labels: [] });
      edges.get(key).steps.push(step);
      edges.get(key).labels.push([action.replaceAll("_", " "), step.includes("()") ? "" : label]);
    }
  }
  return [...edges.values()];
}

/** Gives each state its place: a column for each number of steps, in the order of what leads there. */
function placeNodes(nodes, edges) {
  const depths = [...new Set(nodes.map((each) => each.depth))].sort((one, other) => one - other);
  const columns = depths.map((depth) => nodes.filter((each) => each.depth === depth));
  const heightOf = (column) => column.reduce((sum, each) => sum + each.height + NODE_GAP, 0);
  const tallest = Math.max(...columns.map(heightOf));
  let x = 14;
  for (const column of columns) {
    const rank = (node) => {
      const from = edges.filter((each) => each.to === node && each.from.depth < node.depth).map((each) => each.from.y);
      return from.reduce((sum, each) => sum + each, 0) / (from.length || 1);
    };
    const ranks = new Map(column.map((each) => [each, rank(each)]));
    column.sort((one, other) => ranks.get(one) - ranks.get(other));
    let y = 74 + (tallest - heightOf(column)) / 2;
    for (const node of column) {
      Object.assign(node, { x, top: y, y: y + node.height / 2 });
      y += node.height + NODE_GAP;
    }
    x += Math.max(...column.map((each) => each.width)) + BETWEEN;
  }
  return [x - BETWEEN + 14, 74 + tallest];
}

function drawNode(node) {
  const { x, top, width, height, lines, broken, visits, depth } = node;
  const isHere = depth === 0;
  const marked = isHere ? "lab-here" : visits.length ? "lab-moment" : node.steps ? "lab-reach" : "";
  const leads = visits.length && !isHere ? { "data-depth": visits.at(-1) } : node.steps && !isHere ? { "data-steps": JSON.stringify(node.steps) } : {};
  const stroke = broken ? BAD : isHere || visits.length ? ACCENT : MUTED;
  const fill = broken ? "var(--lab-bad-paper, #fdecea)" : visits.length ? HERE : "var(--lab-paper, #ffffff)";
  return s(
    "g",
    { class: `lab-node ${marked}`, ...leads },
    s("title", {}, lines.join("\n")),
    s("rect", { x, y: top, width, height, rx: 6, fill, stroke, "stroke-width": isHere ? 2.4 : 1.4 }),
    lines.map((text, k) => words(x + 7, top + 15 + NODE_LINE * k, text, text.startsWith("✗") ? { fill: BAD, "font-weight": 600 } : {})),
  );
}

function drawEdge({ from, to, steps }) {
  const isForward = to.depth > from.depth;
  const isWalked = from.visits.some((depth) => to.visits.includes(depth + 1));
  const [x1, x2] = isForward ? [from.x + from.width, to.x] : [from.x, to.x + (to.depth === from.depth ? 0 : to.width)];
  const bend = isForward ? Math.max(40, (x2 - x1) / 2) : -40;
  const end = isForward ? x2 - 7 : x2 + (to.depth === from.depth ? -7 : 7);
  const curve = `M${x1} ${from.y}C${x1 + bend} ${from.y} ${end + (to.depth < from.depth ? 40 : -Math.abs(bend))} ${to.y} ${end} ${to.y}`;
  const head = `M${x2} ${to.y}l${to.depth < from.depth ? 8 : -8} -4v8z`;
  return s(
    "g",
    { class: "lab-edge", opacity: isForward ? 1 : 0.35 },
    s("title", {}, steps.join("\n")),
    s("path", { d: curve, fill: "none", stroke: isWalked ? ACCENT : MUTED, "stroke-width": isWalked ? 3 : 1.3 }),
    s("path", { d: head, fill: isWalked ? ACCENT : MUTED }),
  );
}

/** The steps from here, before the state that they lead to: the action above the line, its parameters below. */
function edgeLabel({ from, to, labels }) {
  if (from.depth !== 0 || to.depth !== 1) return [];
  const [action, choice] = labels[0];
  const more = labels.length > 1 ? `and ${labels.length - 1} more` : "";
  return [action, [choice, more].filter(Boolean).join(" ")].map((text, k) =>
    words(to.x - 14, to.y - 5 + 18 * k, shortened(text, 27), {
      "text-anchor": "end",
      stroke: "var(--lab-paper, #ffffff)",
      "stroke-width": 4,
      "paint-order": "stroke",
    }),
  );
}
