// The timeline: a dot a state, a lane a branch, drawn as SVG.

const [NEAR, FAR] = [40, 180]; // pixels from dot to dot, as its room allows
const LANE = 16;
const LEFT = 26;
const END = 30; // pixels after the last dot, for what is written under it
const [TOP, BELOW] = [14, 29]; // of a single lane
const [TOP_OF_SEVERAL, BELOW_SEVERAL] = [9, 21]; // two take as little room as one
const NAME = 7.5; // pixels for a letter of a branch's name
const WORD = 20; // pixels for half of what is written under a dot

/** From dot to dot, so that all of the current branch can be seen if there is room. */
const stepOf = ({ length }, room) => Math.min(FAR, Math.max(NEAR, Math.floor((room - LEFT - END) / Math.max(1, length - 1))));

/** The depth of the dot nearest to a place on the drawing. */
const depthAt = (place, step) => Math.round((place - LEFT) / step) + 1;

/** The drawing for a room of this width; `goTo(branch, depth)` is called when a dot is clicked. In a
 * challenge that is won what breaks was the aim. */
function drawTimeline({ lanes, branch, depth, length }, room, isWon, goTo) {
  const step = stepOf({ length }, room);
  const x = (depth) => LEFT + (depth - 1) * step;
  const last = (lane) => lane.depth + lane.moments.length;
  const end = (lane) => Math.max(last(lane), lane.depth + (lane.parent < 0 ? 1 : 0.5));
  const named = lanes.length > 1;
  const y = (lane) => (named ? TOP_OF_SEVERAL : TOP) + lane * LANE;
  const width = Math.max(...lanes.map((each) => x(last(each)))) + (named ? 60 + NAME * Math.max(...lanes.map((each) => each.name.length)) : END);
  const height = y(lanes.length - 1) + (named ? BELOW_SEVERAL : BELOW);
  const nameAt = (lane) => x(Math.max(last(lane), lane.depth)) + (lane.moments.length ? 44 : step / 2 + 10);
  const isAboveName = (lane, at) =>
    lane && nameAt(lane) - WORD < x(at) && x(at) < nameAt(lane) + NAME * lane.name.length + WORD;
  const isAboveAnother = (k, at) =>
    lanes.slice(k + 1).some((lane) => lane.depth <= at && at <= last(lane)) || isAboveName(lanes[k + 1], at);
  const slideHere = lanes.flatMap((lane) => lane.moments).find((each) => each.place === "here")?.slide;
  return s(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", "data-step": step },
    lanes.map((lane, k) => drawRail(lane, k, { x, y }, end(lane), "ls-rail")),
    drawTrack(lanes, { x, y }, Infinity, "ls-rail ls-current"),
    drawTrack(lanes, { x, y }, depth, "ls-rail ls-walked"),
    lanes.map((lane, k) => lane.moments.map((moment, n) => drawLoop(lanes, k, { x, y }, lane.depth + n + 1, moment))),
    lanes.map((lane, k) =>
      lane.moments.map((_, n) => {
        const shape = { along: x(lane.depth + n + 1), above: y(k), step, isNarrow: named, isCovered: isAboveAnother(k, lane.depth + n + 1) };
        return drawMoment(lane, n, { ...shape, slideHere, sign: isWon ? "✓" : "✗" }, branch, goTo);
      }),
    ),
    named ? lanes.map((lane, k) => drawLaneName(lane, nameAt(lane), y(k))) : [],
  );
}

/** A lane's line up to a depth, from where it leaves the lane above. */
function drawRail(lane, k, { x, y }, end, look) {
  if (lane.parent < 0) return s("path", { class: look, d: `M${x(1)} ${y(k)}H${x(end)}` });
  const [from, bend] = [x(lane.depth), x(lane.depth + 0.5)];
  const [above, here] = [y(lane.parent), y(k)];
  const d = `M${from} ${above}C${bend} ${above} ${from} ${here} ${bend} ${here}H${x(end)}`;
  return s("path", { class: look, d });
}

/** The current branch from the start to a depth or to its end, over the lanes that it shares. */
function drawTrack(lanes, places, to, look) {
  const parts = [];
  for (let k = lanes.findIndex((lane) => lane.current); k >= 0; k = lanes[k].parent) {
    const end = Math.min(to, lanes[k].depth + Math.max(lanes[k].moments.length, 0.5));
    if (end > lanes[k].depth) parts.push(drawRail(lanes[k], k, places, end, look));
    to = Math.min(to, lanes[k].depth);
  }
  return parts;
}

/** An arrow from a state back to the one that it is again, or to itself if the run stays there. */
function drawLoop(lanes, k, { x, y }, depth, moment) {
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

/** A state. Between lanes there is no room for words: the current state is named beside its dot, and
 * one that a lane below covers only by its title. */
function drawMoment(lane, n, { along, above, step, isNarrow, isCovered, slideHere, sign }, branch, goTo) {
  const moment = lane.moments[n];
  const depth = lane.depth + n + 1;
  const broken = moment.broken.length > 0;
  const before = lane.moments[n - 1];
  const here = moment.place === "here";
  const label = labelOf(moment, before, depth, slideHere, sign);
  const words = [
    moment.slide ? `slide ${moment.slide}` : `state ${depth}`,
    moment.step,
    ...(moment.going_on ? [moment.going_on] : []),
    ...(broken ? moment.broken.map((each) => `violated: ${each}`) : []),
  ].join("\n");
  const classes = ["ls-moment", `ls-${moment.place}`, broken ? "ls-violated" : ""].join(" ");
  return s(
    "g",
    {
      class: classes,
      transform: `translate(${along} ${above})`,
      "data-depth": depth,
      onclick: () => goTo(moment.place === "aside" ? lane.name : branch, depth),
    },
    s("title", {}, words),
    s("rect", { class: "ls-hit", x: -step / 2, y: isNarrow ? -LANE / 2 : -16, width: step, height: isNarrow ? LANE : 40 }),
    here ? s("circle", { class: "ls-ring", r: broken ? 12 : 9.5 }) : null,
    broken ? s("path", { d: "M0 -8L8 0L0 8L-8 0Z" }) : s("circle", { r: 5 }),
    label && !isCovered && !(isNarrow && here) ? s("text", { y: isNarrow ? 19 : 25 }, label) : null,
    label && here && (isCovered || isNarrow) ? s("text", { class: "ls-beside", x: 28, y: 4 }, label) : null,
  );
}

/** Slide or state number. Of a slide with several steps only one has it: the current state, or else
 * the first. */
function labelOf(moment, before, depth, slideHere, sign) {
  const isHere = moment.place === "here";
  const isTold = !isHere && moment.slide && [slideHere, before?.slide].includes(moment.slide);
  if (moment.broken.length) return isTold ? sign : `${moment.slide || depth} ${sign}`;
  if (isHere) return moment.slide || String(depth);
  if (depth === 1) return "start";
  return isTold ? "" : moment.slide;
}

function drawLaneName(lane, at, above) {
  return s("text", { class: lane.current ? "ls-lane ls-current" : "ls-lane", x: at, y: above + 4 }, lane.name);
}

// The buttons under the picture.

/** `does` holds what the buttons call: act, show, present, print. */
function drawControls(view, ui, does) {
  const { timeline } = view;
  const atStart = timeline.depth === 1;
  const atEnd = timeline.depth === timeline.length;
  const opener = (key, label, title) =>
    button(key, label, () => does.show(key), { title, "aria-expanded": String(ui.drawer === key) });
  const go = (command) => () => does.act({ command });
  return [
    h(
      "span",
      { class: "ls-group" },
      button("first", "|←", go("first"), { words: "To the start (Home)", disabled: atStart }),
      button("last", "→|", go("last"), { words: "To the end (End)", disabled: atEnd }),
    ),
    h(
      "span",
      { class: "ls-group" },
      button("take-over", "take over", go("take_over"), { words: "Leave what lies ahead, and go your own way", disabled: atEnd }),
      opener("fork", "fork", "Start a branch with a name of your own"),
      drawBranches(timeline, does.act),
    ),
    h(
      "span",
      { class: "ls-group ls-end" },
      opener("find", "find…", "The shortest way to a state that you describe"),
      opener("load", "load…", "Load a scenario, or paste a trace"),
      opener("export", "export…", "The steps so far as text, link, picture or film"),
      ui.lesson ? button("print", "print", does.print, { words: "A page with a picture a beat, to print or to keep as PDF" }) : null,
      button("present", "present", does.present, { words: "One large picture, by keyboard alone (p; Escape ends it)" }),
      opener("keys", "?", "The keys"),
    ),
  ];
}

/** Back and next stand on the first level, at the ends of the timeline, and never move. */
function drawBackButton({ timeline }, act) {
  return button("undo", "← Back", () => act({ command: "undo" }), { class: "ls-back", words: "One step back (left arrow)", disabled: timeline.depth === 1 });
}

function drawNextButton({ timeline, can, challenge, scenario }, act, sheet) {
  const atEnd = timeline.depth === timeline.length;
  const count = can.reduce((sum, each) => sum + each.choices.length, 0);
  const isOpen = !scenario || timeline.lanes.length > 1 || challenge; // no story has ended here
  const [label, words] = !atEnd
    ? ["Next →", "One step ahead (right arrow)"]
    : count && isOpen && !challenge?.solved
      ? ["Choose a step", "What is next is your choice"]
      : ["At the end", "Nothing lies ahead"];
  return [
    button("sheet", `Choices ${count}`, () => sheet(), { class: "ls-choose" }),
    button("redo", label, () => act({ command: "redo" }), { class: "ls-next", words, disabled: atEnd }),
  ];
}

/** Where the walk is. A scenario's title would tell how it ends: only its slides are named. */
function whereabouts({ scenario, timeline }) {
  const slides = scenario?.title.match(/\((slides? [^)]+)\)/)?.[1];
  return [slides, `state ${timeline.depth} of ${timeline.length}`].filter(Boolean).join(" · ");
}

function drawBranches(timeline, act) {
  const names = timeline.lanes.map((each) => each.name);
  const branches = select("branch", names, timeline.branch, {
    "aria-label": "Branch",
    title: "Go to the end of a branch",
    disabled: names.length < 2,
    onchange: () => act({ command: "switch", branch: branches.value }),
  });
  return branches;
}
