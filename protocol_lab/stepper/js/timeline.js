// The timeline: a dot a state, a lane a branch, drawn as SVG.

const STEP = 56;
const LANE = 44;
const LEFT = 26;
const TOP = 17;
const NAME = 7.5; // pixels for a letter of a branch's name

const x = (depth) => LEFT + (depth - 1) * STEP;
const y = (lane) => TOP + lane * LANE;

/** The depth of the dot nearest to a place on the drawing. */
const depthAt = (place) => Math.round((place - LEFT) / STEP) + 1;

/** The drawing; `goTo(branch, depth)` is called when a dot is clicked. */
function drawTimeline({ lanes, branch, depth, length }, goTo) {
  const last = (lane) => lane.depth + lane.moments.length;
  const end = (lane) => Math.max(last(lane), lane.depth + (lane.parent < 0 ? 1 : 0.5));
  const named = lanes.length > 1;
  const width = Math.max(...lanes.map((each) => x(last(each)))) + (named ? 60 + NAME * Math.max(...lanes.map((each) => each.name.length)) : 72);
  const height = y(lanes.length - 1) + 31;
  const drawing = s(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    lanes.map((lane, k) => drawRail(lane, k, end(lane), "ls-rail")),
    drawTrack(lanes, end),
    lanes.map((lane, k) => lane.moments.map((moment, n) => drawLoop(lanes, k, lane.depth + n + 1, moment))),
    lanes.map((lane, k) => lane.moments.map((_, n) => drawMoment(lane, k, n, branch, goTo))),
    named ? lanes.map((lane, k) => drawLaneName(lane, k, x(Math.max(last(lane), lane.depth)))) : [],
  );
  return drawing;
}

/** A lane's line up to a depth, from where it leaves the lane above. */
function drawRail(lane, k, end, look) {
  if (lane.parent < 0) return s("path", { class: look, d: `M${x(1)} ${y(k)}H${x(end)}` });
  const [from, bend] = [x(lane.depth), x(lane.depth) + STEP / 2];
  const [above, here] = [y(lane.parent), y(k)];
  const d = `M${from} ${above}C${bend} ${above} ${from} ${here} ${bend} ${here}H${x(end)}`;
  return s("path", { class: look, d });
}

/** The current branch from the start to its end, over the lanes that it shares. */
function drawTrack(lanes, end) {
  const parts = [];
  let k = lanes.findIndex((lane) => lane.current);
  let to = end(lanes[k]);
  while (k >= 0) {
    parts.push(drawRail(lanes[k], k, to, "ls-rail ls-current"));
    to = lanes[k].depth;
    k = lanes[k].parent;
  }
  return parts;
}

/** An arrow from a state back to the one that it is again, or to itself if the run stays there. */
function drawLoop(lanes, k, depth, moment) {
  if (!moment.loops_to) return null;
  let to = k;
  while (lanes[to].parent >= 0 && moment.loops_to <= lanes[to].depth) to = lanes[to].parent;
  const stays = moment.loops_to === depth;
  const [from, end] = [x(depth) + (stays ? 5 : 0), x(moment.loops_to) - (stays ? 5 : 0)];
  const [above, there] = [y(k) - 10, y(to) - 10];
  const bend = stays ? 12 : 0;
  const d = `M${from} ${above}C${from + bend} ${above - 11} ${end - bend} ${there - 11} ${end} ${there}`;
  return s(
    "g",
    { class: "ls-loop" },
    s("title", {}, moment.going_on),
    s("path", { d }),
    s("path", { class: "ls-loop-head", d: `M${end} ${there + 4}l-4 -6h8Z` }),
  );
}

function drawMoment(lane, k, n, branch, goTo) {
  const moment = lane.moments[n];
  const depth = lane.depth + n + 1;
  const broken = moment.broken.length > 0;
  const before = lane.moments[n - 1];
  const here = moment.place === "here";
  const label = labelOf(moment, before, depth);
  const words = [
    moment.slide ? `slide ${moment.slide}` : `state ${depth}`,
    moment.step,
    ...(moment.going_on ? [moment.going_on] : []),
    ...moment.broken.map((each) => `violated: ${each}`),
  ].join("\n");
  const classes = ["ls-moment", `ls-${moment.place}`, broken ? "ls-violated" : ""].join(" ");
  return s(
    "g",
    {
      class: classes,
      transform: `translate(${x(depth)} ${y(k)})`,
      "data-depth": depth,
      onclick: () => goTo(moment.place === "aside" ? lane.name : branch, depth),
    },
    s("title", {}, words),
    s("rect", { class: "ls-hit", x: -STEP / 2, y: -16, width: STEP, height: LANE - 4 }),
    here ? s("circle", { class: "ls-ring", r: broken ? 12 : 9.5 }) : null,
    broken ? s("path", { d: "M0 -8L8 0L0 8L-8 0Z" }) : s("circle", { r: 5 }),
    label ? s("text", { y: 25 }, label) : null,
    broken && !before?.broken.length ? s("text", { x: 10, y: -9, class: "ls-said" }, "violated") : null,
  );
}

/** Slide or state number; a slide's further steps go without. */
function labelOf(moment, before, depth) {
  if (moment.broken.length) return `${moment.slide || depth} ✗`;
  if (moment.place === "here") return moment.slide || String(depth);
  if (depth === 1) return "start";
  return moment.slide === before?.slide ? "" : moment.slide;
}

function drawLaneName(lane, k, end) {
  const at = end + (lane.moments.length ? 44 : STEP / 2 + 10);
  return s("text", { class: lane.current ? "ls-lane ls-current" : "ls-lane", x: at, y: y(k) + 4 }, lane.name);
}
