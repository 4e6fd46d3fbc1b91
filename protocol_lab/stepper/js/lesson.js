// The lesson player: one beat at a time beside the picture, and questions that stand as gates in the
// timeline. What is asked, and what is right, comes from Python (protocol_lab/lessons).

const BEAT = [13, 44]; // pixels from beat to beat, as the room allows
const WORDS = 64; // pixels of a picture that stand beside a line
const SHORT = 10; // letters: such choices stand side by side
const NUMBER_KEY = /^[0-9]$/;

/** A lesson as it is played here: where the reader is, and what was answered. */
class Lesson {
  constructor(values, place, at) {
    this.values = values;
    this.key = `answers ${place} ${values.name}`;
    this.at = this.heard = at; // where the reader is, and where Python last was
    this.wanted = null; // where Python was asked to go
    this.answers = this.recalled(); // by beat: { chosen }, the number of a choice, or null if given up
    this.skipped = new Set();
    this.picked = new Set(); // the lanes that are pressed, where an answer may be several nodes
    this.placed = null; // where the reader has put a line, before it is answered
    this.card = null; // of the question here
    this.isAside = false; // is the reader going another way, in the stepper?
    this.showsNotes = this.showsCode = false;
    this.showsBoard = values.board;
  }

  get beats() {
    return this.values.beats;
  }

  get beat() {
    return this.beats[this.at];
  }

  get ask() {
    return this.beat.ask;
  }

  get whereabouts() {
    const slide = this.beat.slide ? `slide ${this.beat.slide} · ` : "";
    return `${slide}beat ${this.at + 1} of ${this.beats.length}`;
  }

  /** Has a question been answered, and is the run's answer there? */
  isSettled(beat = this.beat) {
    return Boolean(beat.ask && this.answers[beat.ask.number] && beat.ask.right !== null);
  }

  /** Was a question answered on an earlier day, and is the run's answer not computed yet? */
  get isUnsettled() {
    return Boolean(this.ask && this.answers[this.ask.number] && this.ask.right === null);
  }

  /** Is who has said what shown beside the picture? A question about it opens it. */
  get hasBoard() {
    return this.showsBoard || this.ask?.kind === "cell";
  }

  /** Is a question asked here whose answer is not shown yet? */
  get isOpen() {
    return Boolean(this.ask) && !this.isSettled();
  }

  /** Does a question stop the reader here? */
  isGate(at = this.at) {
    const { ask } = this.beats[at];
    return Boolean(ask) && !this.answers[ask.number] && !this.skipped.has(at);
  }

  /** How far a reader may jump: to the first question without an answer, or one beat on if a link led
   * beyond that. */
  get farthest() {
    const gate = this.beats.findIndex((_, at) => this.isGate(at));
    const last = this.beats.length - 1;
    return gate < 0 ? last : Math.max(gate, Math.min(this.at + !this.isGate(), last));
  }

  isRight(ask) {
    return ask.right !== null && this.answers[ask.number]?.chosen === ask.right;
  }

  /** May an answer be several nodes, whose lanes are pressed one after the other? */
  get isPicking() {
    return Boolean(this.ask?.options.some((each) => each.nodes.length > 1));
  }

  /** The choice that names just the lanes that are pressed; -1 if none does. */
  get pickedOption() {
    const picked = String([...this.picked].sort());
    return this.ask.options.findIndex((each) => each.nodes.length && String(each.nodes) === picked);
  }

  /** Asks for a beat, and goes there without waiting for the picture. */
  leadTo(at) {
    this.go(at);
    this.wanted = at === this.heard ? null : at;
  }

  /** To a beat; what was begun and not answered is dropped. */
  go(at) {
    this.at = at;
    this.picked.clear();
    this.placed = this.card = null;
  }

  /** Follows the walk, where it was moved by other means. */
  follow({ part, beat, timeline }) {
    const isElsewhere = beat !== this.heard && this.wanted === null && beat !== this.at;
    if (beat === this.wanted) this.wanted = null;
    this.heard = beat;
    if (isElsewhere) return this.go(beat);
    const isHere = this.beat.part === part && this.beat.depth === timeline.depth;
    if (isHere || this.isAside || this.wanted !== null) return;
    const before = this.beats.findLastIndex((each) => !each.ask && each.part === part && each.depth <= timeline.depth);
    if (before >= 0) this.go(before);
  }

  answer(chosen) {
    this.answers[this.ask.number] = { chosen };
    this.skipped.delete(this.at);
    remember(this.key, JSON.stringify(this.answers));
  }

  forget() {
    this.answers = {};
    this.skipped.clear();
    remember(this.key, "{}");
  }

  recalled() {
    try {
      return JSON.parse(recall(this.key, "{}"));
    } catch {
      return {}; // of another version
    }
  }
}

// --- Beside the picture ---

/** The beat before, the current one, and its question. `does`: choose, pick, done, skip, aside, notes,
 * code, option, again. */
function drawBeats(lesson, view, ui, does) {
  const { at, beats, beat } = lesson;
  const told = (each) => each.text || (each === beats[0] ? lesson.values.description.join(" ") : "");
  const older = beats.slice(0, at).findLast((each) => !each.ask && each.part === beat.part && told(each));
  const part = lesson.values.parts[beat.part];
  const own = beat.ask ? drawGate(lesson, does) : h("p", { class: "ls-beat" }, inline(opening(told(beat)) || view.told));
  return [
    part ? h("p", { class: "ls-part" }, part) : null,
    older ? h("p", { class: "ls-older" }, inline(told(older))) : null,
    own,
    lesson.hasBoard && !lesson.isOpen ? drawContradictions(view.board?.marks ?? []) : null,
    at === beats.length - 1 && !lesson.isGate() ? drawSum(lesson, does) : null,
    lesson.showsNotes && beat.notes ? h("p", { class: "ls-notes" }, h("b", {}, "Notes: "), inline(beat.notes)) : null,
    lesson.showsCode && view.code ? drawCode(view.code, does.option) : null,
  ];
}

/** Below the beats: what leads away from them, and what can be shown beside them. */
function drawTray(lesson, view, does) {
  const toggle = (key, isOn, title, label, press) => button(key, label, press, { title, "aria-pressed": String(isOn) });
  if (lesson.isAside) return button("what-if", "← Back to the lesson", does.aside, { title: "To the beat where you left (w)" });
  return [
    button("what-if", "What if…", does.aside, { title: "Leave the lesson here, and take steps of your own (w)" }),
    view.board ? toggle("lesson-board", lesson.hasBoard, "Who has said what (b)", "Board", does.board) : null,
    toggle("lesson-code", lesson.showsCode, "The code of this step (k)", "Code", does.code),
    toggle("lesson-notes", lesson.showsNotes, "The speaker’s notes (n)", "Notes", does.notes),
  ];
}

/** The question here: the card of every question (teaching/js/question_card.js), and what this lesson
 * adds to it. It is made once for a beat: what is pressed keeps the focus, and a poll its hands. */
function drawGate(lesson, does) {
  const { ask } = lesson;
  if (lesson.card?.number !== ask.number) {
    const host = h("div", { class: "ls-card" });
    const choices = ask.options.map((each) => each.label);
    const card = questionCard(host, { name: `${lesson.values.name} ${ask.number}`, question: ask.question, choices, choose: does.choose, giveUp: () => does.choose(null) });
    card.element.querySelectorAll("button").forEach((each, k) => (each.dataset.key = `card-${k}`));
    lesson.card = { number: ask.number, host, show: card.show, buttons: [...card.element.querySelectorAll(".lq-choices button")] };
  }
  const settled = lesson.isSettled();
  const isShort = !settled && ask.options.every((each) => each.label.length <= SHORT);
  lesson.card.host.classList.toggle("ls-short", isShort);
  if (settled) {
    const { chosen } = lesson.answers[ask.number];
    const because = chosen === null ? "" : ask.options[chosen].counter;
    lesson.card.show({ chosen, right: ask.right, why: reasonsOf(ask).join(" "), because });
  } else if (ask.failed) lesson.card.show({ failed: ask.failed });
  return h(
    "div",
    { class: "ls-gate" },
    lesson.card.host,
    settled
      ? drawHeard(lesson)
      : h("p", { class: "ls-hint" }, hintOf(lesson), " ", button("skip", "Skip it", does.skip, { title: "Go on without the answer; the question stays marked (space)" })),
    lesson.isPicking && !settled ? button("answer", "That is my answer", does.done, { class: "ls-answer", disabled: lesson.pickedOption < 0 }) : null,
  );
}

/** How this question can be answered. */
function hintOf(lesson) {
  const { ask } = lesson;
  const keys = `1 to ${Math.min(ask.options.length, 9)}`;
  if (ask.kind === "where") return `Put the line in the picture, or press ${ask.options.map((each) => each.label).join(" / ")}.`;
  if (ask.kind === "cell") return `Press the cells of the board, then “That is my answer”; or ${keys}.`;
  if (lesson.isPicking) return `Press the lanes in the picture, then “That is my answer”; or ${keys}.`;
  return ask.options.some((each) => each.nodes.length) ? `Press a lane in the picture, or ${keys}.` : `Press a choice, or ${keys}.`;
}

/** The reason of the run, such as a guard's, and that of the lesson. */
const reasonsOf = ({ kind, reason, why }) => [reason ? closed(`${kind === "last" ? "Broken" : "Refused"}: ${reason}`) : "", why].filter(Boolean);

/** What a screen reader says of this beat; the card says itself who was right. */
function spoken(lesson, view) {
  const { ask } = lesson;
  if (!ask) return opening(lesson.beat.text) || view.told;
  if (!lesson.isSettled()) return `Question: ${ask.question} ${ask.options.map((each, k) => `${k + 1}: ${each.label}.`).join(" ")}`;
  const { chosen } = lesson.answers[ask.number];
  return [chosen === null ? "" : ask.options[chosen].counter, ...reasonsOf(ask)].filter(Boolean).join(" ");
}

/** What the node heard last, for whoever was wrong about it. */
function drawHeard(lesson) {
  const { ask } = lesson;
  const { chosen } = lesson.answers[ask.number];
  return chosen !== null && !lesson.isRight(ask) && ask.heard ? h("p", { class: "ls-heard" }, opening(ask.heard)) : null;
}

/** What the reader has answered, at the end. */
function drawSum(lesson, does) {
  const asks = lesson.beats.map((each) => each.ask).filter(Boolean);
  const answered = asks.filter((each) => lesson.answers[each.number]);
  const right = answered.filter((each) => lesson.isRight(each));
  const text = answered.some((each) => lesson.answers[each.number].chosen !== null)
    ? `The end. ${right.length} of ${asks.length} questions were answered as the run does.`
    : "The end.";
  return h("div", { class: "ls-because" }, h("p", {}, text), answered.length ? button("again", "Start again", does.again) : null);
}

// --- In the picture ---

/** The lanes of a picture from top to bottom, and the places between its columns. */
function fieldsOf(svg) {
  const number = (each, name) => Number(each.getAttribute(name));
  const lanes = [...svg.querySelectorAll('rect[rx="10"]')].map((each) => ({ x: number(each, "x"), y: number(each, "y"), width: number(each, "width"), height: number(each, "height") }));
  return lanes.map((lane) => {
    const inside = [...svg.querySelectorAll("line")].filter(
      (each) => !each.closest("g") && number(each, "x1") === number(each, "x2") && number(each, "y1") > lane.y - 1 && number(each, "y2") < lane.y + lane.height + 1,
    );
    const top = Math.min(...inside.map((each) => number(each, "y1"))); // of the log, below the lane's head
    return { ...lane, top, places: [...new Set(inside.map((each) => number(each, "x1")))].sort((one, other) => one - other) };
  });
}

/** All lanes as one, for a line through the cluster; clients have no columns. */
function wholeOf(fields) {
  const [first, ...others] = fields.filter((each) => each.places.length);
  const last = others.at(-1) ?? first;
  return first && { ...first, height: last.y + last.height - first.y };
}

/** Lets a question be answered in the picture, and shows the answer there. `does` as in drawBeats. */
function drawAnswering(lesson, svg, does) {
  const { ask } = lesson;
  if (!svg || !ask) return;
  const fields = fieldsOf(svg);
  const settled = lesson.isSettled();
  globalThis.labRoom?.picture(`${lesson.values.name} ${ask.number}`, ask, svg, fields);
  if (!settled) svg.setAttribute("role", "group"); // an image can't have parts to press
  const field = ask.node ? fields[ask.node - 1] : wholeOf(fields);
  if (ask.kind === "where" && field?.places.length > 1) {
    if (!ask.when && !settled) hideFlags(svg, field, ask.node);
    svg.append(settled ? drawLines(lesson, field) : drawPlacing(lesson, field, does));
    return;
  }
  fields.forEach((lane, k) => {
    const named = ask.options.some((each) => each.nodes.includes(k + 1));
    if (named) svg.append(...contents([drawLane(lesson, k + 1, lane, settled, does)]));
  });
}

/** A lane that can be pressed, or that shows that it was right or wrong. */
function drawLane(lesson, node, { x, y, width, height }, settled, does) {
  const { ask } = lesson;
  const chosen = lesson.answers[ask.number]?.chosen ?? null;
  const mine = chosen === null ? lesson.picked.has(node) : ask.options[chosen].nodes.includes(node);
  const isRight = settled && ask.options[ask.right].nodes.includes(node);
  const look = settled ? (isRight ? "ls-is-right" : mine ? "ls-is-wrong" : "") : mine ? "ls-is-picked" : "";
  const box = s("rect", { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 10 });
  if (settled) {
    if (!look) return null;
    const sign = s("text", { x: x + width - 14, y: y + 24, "text-anchor": "end", "font-size": 16, "font-weight": 650 }, look === "ls-is-right" ? "✓ the run" : "✗ yours");
    return s("g", { class: `ls-lane-choice ${look}` }, box, sign);
  }
  const choose = () => does.pick(node);
  const group = s(
    "g",
    {
      class: `ls-lane-choice ls-open ${look}`,
      role: "button",
      tabindex: "0",
      "data-key": `lane-${node}`,
      "aria-label": `Answer: ${ask.options.find((each) => String(each.nodes) === String(node))?.label ?? `lane ${node}`}`,
      "aria-pressed": String(mine),
      onclick: choose,
    },
    box,
  );
  group.labKeys = { Enter: choose, " ": choose };
  return group;
}

/** While a line is to be placed, the picture does not say where it is. */
function hideFlags(svg, { y, height }, node) {
  const desc = svg.querySelector("desc");
  for (const each of svg.querySelectorAll('[data-kind="mark"]')) {
    const line = each.querySelector("line");
    const at = Number(line?.getAttribute("y1"));
    if (!line || at < y || at > y + height) continue;
    const words = each.querySelector(":scope > text")?.textContent ?? "";
    if (desc && words) desc.textContent = desc.textContent.replace(new RegExp(`(\\b\\w+ ${node}: .*?)${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`), "$1");
    each.remove();
  }
}

const labelled = (option, k) => ({ ...option, k });

/** A line that the reader puts into a lane: by dragging, by pressing a place, or with the arrow keys. */
function drawPlacing(lesson, lane, does) {
  const { ask } = lesson;
  const options = ask.options.map(labelled).filter((each) => lane.places[each.place] !== undefined);
  const at = lesson.placed ?? options.at(-1).place; // the end: the start is often the answer
  const { x, y, width, height, top } = lane;
  const line = s("g", { class: "ls-placed" }, s("line", { x1: 0, x2: 0, y1: top + 5, y2: y + height - 5 }), s("text", { y: y + height - 8, "font-size": 14, "font-weight": 650 }));
  const group = s(
    "g",
    {
      class: "ls-placing",
      role: "slider",
      tabindex: "0",
      "data-key": "placing",
      "aria-label": `${ask.question} Move the line with the arrow keys; Enter answers.`,
      "aria-valuemin": options[0].label,
      "aria-valuemax": options.at(-1).label,
    },
    s("rect", { class: "ls-ground", x, y, width, height, rx: 10 }),
    options.map((each) => s("line", { class: "ls-place-here", x1: lane.places[each.place], x2: lane.places[each.place], y1: top + 5, y2: y + height - 5 })),
    line,
  );
  let now = options.findIndex((each) => each.place === at);
  const show = (k) => {
    now = Math.min(Math.max(k, 0), options.length - 1);
    lesson.placed = options[now].place;
    line.setAttribute("transform", `translate(${lane.places[options[now].place]} 0)`);
    const isLast = lane.places[options[now].place] + WORDS > x + width; // its words stand before it
    const words = line.querySelector("text");
    words.setAttribute("x", isLast ? -6 : 6);
    words.setAttribute("text-anchor", isLast ? "end" : "start");
    words.textContent = `here? ${options[now].label}`;
    group.setAttribute("aria-valuenow", options[now].label);
  };
  const nearest = (event) => {
    const box = group.ownerSVGElement.getScreenCTM();
    const along = (event.clientX - box.e) / box.a;
    const far = options.map((each) => Math.abs(lane.places[each.place] - along));
    return far.indexOf(Math.min(...far));
  };
  group.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    group.focus?.({ preventScroll: true });
    group.setPointerCapture(event.pointerId);
    show(nearest(event));
  });
  group.addEventListener("pointermove", (event) => event.buttons & 1 && show(nearest(event)));
  group.addEventListener("pointerup", (event) => {
    show(nearest(event));
    choose();
  });
  const [down, up, choose] = [() => show(now - 1), () => show(now + 1), () => lesson.card.buttons[options[now].k].click()];
  group.labKeys = { ArrowLeft: down, ArrowDown: down, ArrowRight: up, ArrowUp: up, Enter: choose, " ": choose };
  show(Math.max(now, 0));
  return group;
}

/** The run's line, and the reader's beside it where that is another one. */
function drawLines(lesson, { places, y, height, top }) {
  const { ask } = lesson;
  const { right } = ask;
  const mine = lesson.answers[ask.number].chosen ?? right;
  const line = (k, words, look, up) => {
    const x = places[ask.options[k].place];
    return x === undefined
      ? null
      : s("g", { class: `ls-placed ${look}` }, s("line", { x1: x, x2: x, y1: top + 5, y2: y + height - 5 }), s("text", { x: x + 6, y: top + up, "font-size": 14, "font-weight": 650 }, `${words}: ${ask.options[k].label}`));
  };
  return s("g", {}, line(right, "the run", "ls-is-right", 18), mine === right ? null : line(mine, "yours", "ls-is-wrong", 36));
}

// --- The timeline ---

/** All beats in a line: a dot a state, a ? a question; `go(at)` is called when one is pressed. */
function drawBeatLine(lesson, room, go) {
  const { beats, at, farthest } = lesson;
  const gaps = beats.map((each, k) => (k && each.part !== beats[k - 1].part ? 1 : 0));
  const units = beats.length - 1 + gaps.reduce((sum, each) => sum + each, 0) * 0.6;
  const step = Math.min(BEAT[1], Math.max(BEAT[0], (room - 44) / Math.max(1, units)));
  let x = 20;
  const xs = beats.map((_, k) => (x += k ? step * (1 + 0.6 * gaps[k]) : 0));
  const drawing = s(
    "svg",
    { width: xs.at(-1) + 24, height: 44, viewBox: `0 0 ${xs.at(-1) + 24} 44`, "aria-hidden": "true" },
    s("path", { class: "ls-rail", d: `M${xs[0]} 16H${xs.at(-1)}` }),
    s("path", { class: "ls-rail ls-walked", d: `M${xs[0]} 16H${xs[at]}` }),
    beats.map((each, k) => drawBeatDot(lesson, each, k, xs[k], step, k <= farthest ? () => go(k) : null)),
  );
  return { drawing, here: xs[at] };
}

function drawBeatDot(lesson, beat, k, x, step, go) {
  const { at } = lesson;
  const { ask } = beat;
  const place = k === at ? "ls-here" : k < at ? "ls-past" : "";
  const open = ask && !lesson.answers[ask.number];
  const words = ask ? ask.question : beat.text;
  const isNew = beat.slide && beat.slide !== lesson.beats[k - 1]?.slide;
  const label = k === at ? beat.slide || String(k + 1) : step > 30 && isNew ? beat.slide : "";
  const radius = ask ? (k === at ? 13 : Math.min(11, step / 2)) : 5;
  return s(
    "g",
    { class: `ls-moment ${place} ${ask ? "ls-ask" : ""} ${open ? "ls-open" : ""}`, transform: `translate(${x} 16)`, "data-beat": k, onclick: () => go?.() },
    s("title", {}, `${k <= lesson.farthest ? words || lesson.values.title : "Answer the question before it first"}`),
    s("rect", { class: "ls-hit", x: -step / 2, y: -16, width: step, height: 44 }),
    k === at && !ask ? s("circle", { class: "ls-ring", r: 9.5 }) : null,
    s("circle", { r: radius }),
    ask ? s("text", { class: "ls-mark", y: 5 }, "?") : null,
    label ? s("text", { y: 25 }, label) : null,
  );
}

function drawBeatBack({ at }, go) {
  return button("undo", "← Back", () => go(at - 1), { class: "ls-back", words: "The beat before (left arrow)", disabled: at === 0 });
}

/** At a question it leads to the choices: nothing passes a gate without a word of the reader's. */
function drawBeatNext(lesson, go, answer) {
  const { at, beats } = lesson;
  const isLast = at === beats.length - 1;
  const [label, words] = lesson.isGate()
    ? ["Answer first", "Answer the question first; space skips it"]
    : isLast
      ? ["At the end", "This was the last beat"]
      : ["Next →", "The next beat (right arrow)"];
  const press = () => (lesson.isGate() ? answer() : go(at + 1));
  return button("redo", label, press, { class: `ls-next ${lesson.isGate() ? "ls-waits" : ""}`, words, disabled: isLast && !lesson.isGate() });
}

// --- On paper ---

/** Prints a page that Python has written, in a frame of its own. */
function printPage(html) {
  document.querySelector("iframe.ls-print")?.remove();
  const frame = h("iframe", { class: "ls-print", title: "The lesson, to print", srcdoc: html });
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0";
  frame.addEventListener("load", () => frame.contentWindow.print());
  document.body.append(frame);
}
