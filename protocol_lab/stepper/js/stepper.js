// The widget: builds its frame once, redraws the regions when the kernel sends something new, and
// sends the learner's commands.

const PATIENCE = 2500; // after this long without an answer it says that it waits for the kernel
const LEISURE = 1500; // after this long a kernel that has nothing to do does not know the stepper

const NARROW = 640; // pixels of the stepper: there the picture is as high as it needs to be
const TALL = 2000;
const SETTLED = 300;

const WAITING =
  "The kernel does not answer yet: wait if it is busy; if it has stopped or was restarted, run this cell again.";
const LOST = "This is where you were; the kernel that knew it has ended.";

function render({ model: widget, el }) {
  const model = answering(widget);
  const ui = {
    drawer: null,
    format: null,
    unfolded: new Set(),
    tools: recall("tools", "") === "open",
  };
  const region = (name, attributes = {}, ...inside) => h("div", { class: `ls-${name}`, ...attributes }, inside);
  const parts = {
    header: h("header", {}),
    challenge: region("challenge"),
    tabs: region("tabs", { role: "tablist", "aria-label": "Views of the walk" }),
    panel: region("panel", { role: "tabpanel" }),
    claims: region("claims"),
    caption: region("caption", { "aria-live": "polite" }),
    spoken: region("unseen", { "aria-live": "polite" }),
    can: region("can"),
    cannot: region("cannot"),
    tray: region("tray"),
    notice: region("notice", { role: "alert" }),
    offer: region("offer", { role: "status", hidden: true }),
    back: h("span", {}),
    next: h("span", {}),
    controls: region("controls", { role: "group", "aria-label": "Tools" }),
    timeline: region("timeline", { role: "slider", tabindex: "0", "data-key": "timeline" }),
    drawer: region("drawer"),
  };
  parts.right = region("right", {}, region("lists", { "data-scroll": "lists" }, parts.can, parts.cannot), parts.tray);
  parts.over = region("over", {}, parts.offer, parts.notice, parts.drawer);
  const root = h(
    "section",
    { class: "lab-stepper", tabindex: "-1" },
    parts.header,
    parts.spoken,
    parts.challenge,
    h(
      "div",
      { class: "ls-main" },
      h("div", { class: "ls-left" }, h("div", { class: "ls-told" }, parts.caption), parts.tabs, parts.panel, parts.claims),
      parts.right,
    ),
    h("footer", {}, parts.over, h("div", { class: "ls-bar" }, parts.back, parts.timeline, parts.next), parts.controls),
  );
  el.append(root);

  let waiting = null;

  // --- Speaking with the kernel ---

  let isLost = false; // the kernel, or its memory of this stepper

  function send(message) {
    clearTimeout(waiting);
    parts.offer.hidden = true;
    if (isLost) {
      goOn(message);
      return;
    }
    waiting = setTimeout(miss, LEISURE, LEISURE);
    model.send(message);
  }

  /** No answer has come so long; says so if it was the learner who asked. */
  function miss(waited, asked = true) {
    if (model.isUnheard()) {
      lose();
      return;
    }
    if (asked && waited >= PATIENCE) tell(WAITING);
    waiting = setTimeout(miss, LEISURE, waited + LEISURE, asked);
  }

  function lose() {
    clearTimeout(waiting);
    isLost = true;
    setTimeout(model.keepWithNotebook, SETTLED); // after JupyterLab has noticed as well
    offer(LOST, "go on from here", () => goOn());
  }

  /** Has the kernel begin another stepper where this one stands, and do there what was wanted. */
  async function goOn(message = { command: "shown" }) {
    offer("Taking the steps again…");
    const { tab, spoilers } = model.get("view");
    const refusal = await model.revive(savedWalk(model.get("view"))).catch((error) => String(error));
    parts.offer.hidden = true;
    if (refusal) {
      offer(refusal, "try again", () => goOn(message));
      return;
    }
    isLost = false;
    model.send({ command: "open", tab });
    if (spoilers) model.send({ command: "spoilers", shown: true });
    if (room) model.send({ command: "room", ...room });
    model.send({ command: "shown" });
    if (message.command !== "shown") send(message);
  }

  /** A sentence with a button, which stays until something is done. */
  function offer(sentence, label, accept) {
    put(parts.offer, h("span", {}, sentence), label ? button("offer", label, accept) : null);
    parts.offer.hidden = false;
  }

  /** Offers to go on where this reader was, before the cell was run again. */
  function offerKept() {
    const view = model.get("view");
    const kept = !lesson && view.origin && view.answers === 0 && keptWalk(model.place, view);
    if (!kept) return;
    const { depth, length } = kept.timeline;
    offer(`You were at state ${depth} of ${length} here.`, "go on from there", () =>
      act({ command: "resume", saved: kept }),
    );
  }

  /** A command of the learner's. */
  function act(message) {
    if (message.command === "take" && root.classList.contains("ls-sheet")) sheet(false);
    send(message);
  }

  /** A command from a drawer, which closes once the command has worked. */
  function actAndClose(message) {
    ui.leaving = true;
    act(message);
  }

  function tell(sentence) {
    parts.notice.textContent = sentence;
    parts.notice.hidden = !sentence;
  }

  /** What was computed in the background, if it is about the state that is shown. */
  function current(trait) {
    const value = model.get(trait);
    return value?.number === model.get("view").number ? value : null;
  }

  const near = () => (model.get("view").spoilers ? current("near") : null);

  // --- A lesson ---

  let lesson = null; // the lesson that is played, if the stepper has one
  const isInLesson = () => Boolean(lesson && !lesson.isAside);

  function takeLesson() {
    const values = model.get("lesson");
    if (!values?.beats) lesson = null;
    else if (lesson?.values.name === values.name) lesson.values = values;
    else lesson = new Lesson(values, model.place, model.get("view").beat ?? 0);
  }

  function goToBeat(at) {
    if (at < 0 || at > lesson.farthest || (at > lesson.at && lesson.isGate())) return;
    lesson.leadTo(at);
    act({ command: "beat", at });
    if (lesson.isUnsettled) act({ command: "answered", at, chosen: lesson.answers[lesson.ask.number].chosen });
    draw(); // the words at once, the picture when it comes
  }

  function skip() {
    if (!lesson.isGate()) return false;
    lesson.skipped.add(lesson.at);
    goToBeat(lesson.at + 1);
    draw();
    return true;
  }

  /** Leaves the lesson for steps of the reader's own, or comes back to where it was left. */
  function stepAside() {
    lesson.isAside = !lesson.isAside;
    ui.place = null;
    act(lesson.isAside ? { command: "take_over" } : { command: "beat", at: lesson.at });
    draw();
  }

  function turnOn(name) {
    lesson[name] = !lesson[name];
    if (name === "showsCode") act({ command: "code", shown: lesson[name] });
    draw();
  }

  const inLesson = {
    /** The card's choice; null: given up. */
    choose(chosen) {
      lesson.answer(chosen);
      act({ command: "answered", at: lesson.at, chosen });
      draw();
    },
    /** A lane that is pressed: it is the answer, or one of several nodes. */
    pick(node) {
      lesson.picked[lesson.picked.has(node) ? "delete" : "add"](node);
      if (lesson.isPicking) draw();
      else inLesson.done();
    },
    done() {
      const k = lesson.pickedOption;
      lesson.picked.clear();
      if (k >= 0) lesson.card.buttons[k].click(); // a hand, while a room is polled
    },
    skip,
    aside: stepAside,
    board: () => turnOn("showsBoard"),
    notes: () => turnOn("showsNotes"),
    code: () => turnOn("showsCode"),
    option: (options) => act({ command: "choose", ...options }),
    again() {
      lesson.forget();
      goToBeat(0);
    },
  };

  // --- Presenting ---

  async function present() {
    const begins = root.classList.toggle("ls-presenting");
    ui.presenting = begins;
    ui.drawer = null;
    draw();
    root.focus({ preventScroll: true });
    try {
      if (begins) await root.requestFullscreen();
      else if (document.fullscreenElement) await document.exitFullscreen();
    } catch {
      // A page may keep full screen from its parts; the view then fills the page.
    }
  }

  function leaveFullscreen() {
    if (!document.fullscreenElement && root.classList.contains("ls-presenting")) present();
  }

  function show(drawer) {
    ui.tools = true;
    ui.drawer = ui.drawer === drawer ? null : drawer;
    draw();
    parts.drawer.querySelector("input, select, textarea")?.focus();
    if (ui.drawer === "export") act({ command: "export", format: ui.format ?? model.get("view").formats[0] });
  }

  // --- Drawing ---

  function draw() {
    const view = model.get("view");
    const { timeline } = view;
    ui.lesson = isInLesson() ? lesson : null;
    ui.pick = inLesson.pick;
    root.classList.toggle("ls-lesson", isInLesson());
    // Measured before anything changes: afterwards the browser would have to lay out the page for it.
    const { scrollLeft, clientWidth } = parts.timeline;
    const space = [parts.panel.clientWidth, parts.panel.clientHeight];
    const place = `${timeline.branch} ${timeline.depth}`;
    const elsewhere = ui.place !== place;
    const moved = elsewhere && view.tab === "cluster" && timeline.depth > ui.depth; // back nothing flies
    [ui.place, ui.depth] = [place, timeline.depth];
    let before = null;
    root.setAttribute("aria-label", lesson ? `Lesson: ${lesson.values.title}` : `Stepper: ${view.title}`);
    const isWon = Boolean(view.challenge?.solved); // also where the aim was the loss
    root.classList.toggle("ls-won", isWon);
    root.classList.toggle("ls-alarm", !isWon && view.invariants.some((each) => each.watched && !each.holds));
    root.classList.toggle("ls-with-tools", ui.tools);
    keepingPlace(root, () => {
      put(parts.challenge, drawChallenge(view, ui, act));
      parts.challenge.hidden = !view.challenge;
      put(parts.tabs, drawTabs(view, act));
      before = partsOf(parts.panel.querySelector(".ls-staged svg"));
      put(parts.panel, drawPanel(view, model.get("graph"), ui, act));
      layDrawing(parts.panel, ui);
      layCluster(parts.panel, ui, space);
      if (moved) moveParts(before, parts.panel.querySelector(".ls-staged svg"));
      if (isInLesson()) drawAnswering(lesson, parts.panel.querySelector(".ls-staged svg"), inLesson);
      const hasBoard = Boolean(lesson?.hasBoard && view.board);
      const tells = !ui.lesson?.isOpen; // a contradiction would answer the question
      put(parts.claims, hasBoard ? drawBoard({ ...view.board, marks: tells ? view.board.marks : [] }, ui) : null);
      parts.claims.hidden = !hasBoard;
      put(parts.caption, drawCaption(view));
      put(parts.cannot, isInLesson() ? null : drawCannot(view, ui, act));
      put(parts.tray, lesson ? drawTray(lesson, view, inLesson) : null);
      parts.tray.hidden = !lesson;
      put(parts.back, isInLesson() ? drawBeatBack(lesson, goToBeat) : drawBackButton(view, act));
      put(parts.next, isInLesson() ? drawBeatNext(lesson, goToBeat, () => lesson.card.buttons[0].focus()) : drawNextButton(view, act, sheet));
      put(parts.controls, drawControls(view, ui, { act, show, present, print: () => act({ command: "print" }) }));
      drawDistances(view);
      drawDrawer(view);
    });
    if (moved) revealChange(before, parts.panel.querySelector(".ls-staged"));
    const field = parts.panel.querySelector(".ls-field");
    if (view.tab === "sequence" && ui.seen !== `${view.tab} ${place}`) scrollTo(field, field.querySelector(`[data-depth="${timeline.depth}"]`));
    ui.seen = `${view.tab} ${place}`;
    const { svg } = model.get("graph");
    if (view.tab === "graph" && ui.graph !== svg) {
      ui.graph = svg; // another drawing: it is looked at from its middle
      scrollToHere(field);
    }
    const words = isInLesson() ? spoken(lesson, view) : "";
    if (parts.spoken.textContent !== words) parts.spoken.textContent = words;
    if (isInLesson()) {
      drawLessonLine(clientWidth);
      revealBeat();
    } else drawLine(timeline, view.caption, scrollLeft, clientWidth);
  }

  /** Opens what is on the second level, or closes it: the tabs, and the row of tools. */
  function tools() {
    ui.tools = !ui.tools;
    if (!ui.tools) ui.drawer = null;
    remember("tools", ui.tools ? "open" : "");
    draw();
  }

  /** On a telephone the choices are a sheet over the picture, above the buttons. */
  function sheet(opens = !root.classList.contains("ls-sheet")) {
    root.classList.toggle("ls-sheet", opens);
    if (opens) parts.over.append(parts.right);
    else root.querySelector(".ls-main").append(parts.right);
    draw();
  }

  /** JupyterLab scrolls to the next cell when one has run: the top of a new stepper is shown again. */
  function comeIntoView() {
    const { top, bottom } = root.getBoundingClientRect();
    const view = root.closest(".jp-WindowedPanel-outer, .jp-Notebook")?.getBoundingClientRect();
    if (view && top < view.top && bottom > view.top) root.scrollIntoView({ block: "start" });
  }

  // --- The room for the picture ---

  let room = null;
  let settling = null;

  /** Tells the kernel, which arranges the picture, once the room has stayed as it is for a moment. */
  function measure() {
    const { clientWidth: width, clientHeight } = parts.panel;
    const height = ui.tall ? TALL : clientHeight - 1; // as in layCluster
    if (room && root.classList.contains("ls-won")) return; // the banner makes the picture smaller, not another one
    const fits = (known, now) => known <= now && now < known + 12; // a larger picture would be cut
    const known = room && fits(room.width, width) && fits(room.height, height);
    if (!width || known || model.get("view").tab !== "cluster") return;
    room = { width, height, presenting: Boolean(ui.presenting) };
    model.send({ command: "room", ...room });
  }

  const resized = new ResizeObserver(() => {
    ui.tall = root.clientWidth <= NARROW && !ui.presenting;
    root.classList.toggle("ls-narrow", ui.tall);
    layCluster(parts.panel, ui, [parts.panel.clientWidth, parts.panel.clientHeight]);
    clearTimeout(settling);
    settling = setTimeout(measure, 120);
  });

  /** The parts that show distances: redrawn alone when the search has an answer. */
  function drawDistances(view) {
    put(parts.header, drawHeader(view, near(), ui, act, tools));
    put(parts.can, isInLesson() ? drawBeats(lesson, view, ui, inLesson) : drawCan(view, near(), ui, act));
  }

  function drawDrawer(view) {
    // What is being typed stays while the state changes underneath.
    const same = parts.drawer.dataset.shown === String(ui.drawer) && ui.drawer !== "export";
    if (same) return;
    parts.drawer.dataset.shown = String(ui.drawer);
    const drawers = {
      fork: () => drawFork(actAndClose),
      find: () => drawFind(view, model.get("find"), act),
      load: () => drawLoad(view, model.get("reading"), actAndClose, stopReading),
      export: () => drawExport(view, act, ui),
      keys: () => drawKeys(ui.lesson),
    };
    put(parts.drawer, ui.drawer ? drawers[ui.drawer]() : null);
    parts.drawer.hidden = !ui.drawer;
  }

  /** On a telephone what is told stands below the picture: it is brought above the buttons. */
  function revealBeat() {
    const shown = `${lesson.at} ${lesson.isSettled()}`;
    const isFirst = ui.beat === undefined;
    if (ui.tall && ui.beat !== shown && !isFirst) parts.can.scrollIntoView({ block: "nearest" });
    ui.beat = shown;
  }

  /** What a screen reader says of the line. */
  function describeLine(name, kind, now, max, text) {
    const said = { label: `${name}, walk with the arrow keys`, valuemin: 1, valuemax: max, valuenow: now, valuetext: `${kind} ${now} of ${max}: ${text}` };
    for (const [part, value] of Object.entries(said)) parts.timeline.setAttribute(`aria-${part}`, value);
  }

  function drawLessonLine(room) {
    const { drawing, here } = drawBeatLine(lesson, room, goToBeat);
    put(parts.timeline, drawing);
    const { ask, text } = lesson.beat;
    describeLine("Beats", "beat", lesson.at + 1, lesson.beats.length, ask ? `question: ${ask.question}` : text);
    parts.timeline.scrollLeft = here - room / 2;
  }

  function drawLine(timeline, caption, left, room) {
    const goTo = (branch, depth) => act({ command: "go_to", branch, depth });
    put(parts.timeline, drawTimeline(timeline, room, root.classList.contains("ls-won"), goTo));
    describeLine("Timeline", "state", timeline.depth, timeline.length, caption.text);
    const step = stepOf(timeline, room);
    const here = LEFT + (timeline.depth - 1) * step;
    const visible = here - left > 2 * step && left + room - here > 3 * step;
    if (room && !visible) parts.timeline.scrollLeft = here - room / 2;
  }

  // --- The pointer drags along the timeline ---

  function drag(event) {
    if (!(event.buttons & 1) || isInLesson()) return;
    const drawing = parts.timeline.querySelector("svg");
    const { depth, length, branch } = model.get("view").timeline;
    const wanted = Math.min(Math.max(depthAt(event.clientX - drawing.getBoundingClientRect().left, Number(drawing.dataset.step)), 1), length);
    if (wanted !== depth && wanted !== ui.dragged) act({ command: "go_to", branch, depth: wanted });
    ui.dragged = wanted;
  }

  // --- The keyboard ---

  const KEYS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last" };
  const OF_A_CLICKER = { PageUp: "ArrowLeft", PageDown: "ArrowRight" };

  function press(key) {
    const name = OF_A_CLICKER[key] ?? key;
    if (isInLesson()) return pressInLesson(name);
    if (lesson && name === "w") stepAside();
    else if (KEYS[name]) act({ command: KEYS[name] });
    else if (/^[1-9]$/.test(name)) parts.can.querySelector(`[data-number="${name}"]`)?.click();
    else if (name === "p") present();
    else if (name === "c") root.classList.toggle("ls-choosing");
    else if (name === "w") tellWhy();
    else if (name === "d") act({ command: "spoilers", shown: !model.get("view").spoilers });
    else if (name === "?") show("keys");
    else if (name === "[" || name === "]") turn(name === "]" ? 1 : -1);
    else return false;
    return true;
  }

  const BEAT_KEYS = {
    ArrowLeft: () => goToBeat(lesson.at - 1),
    ArrowRight: () => goToBeat(lesson.at + 1),
    Home: () => goToBeat(0),
    End: () => goToBeat(lesson.farthest),
    " ": () => skip() || goToBeat(lesson.at + 1),
    w: stepAside,
    b: () => model.get("view").board && inLesson.board(),
    k: inLesson.code,
    n: inLesson.notes,
    p: () => present(),
    "?": () => show("keys"),
  };

  /** A digit chooses: a place by its number, another choice by its order. */
  function pressInLesson(name) {
    if (BEAT_KEYS[name]) BEAT_KEYS[name]();
    else if (NUMBER_KEY.test(name) && lesson.ask) {
      const { kind, options } = lesson.ask;
      const k = kind === "where" ? options.findIndex((each) => each.label === name) : Number(name) - 1;
      if (options[k]) lesson.card.buttons[k].click();
    } else return false;
    return true;
  }

  /** Unfolds what can't happen, with the reasons; in the presenter's view beside what can. */
  function tellWhy() {
    const isTold = ui.unfolded.has("cannot") && (!ui.presenting || root.classList.contains("ls-choosing"));
    ui.unfolded[isTold ? "delete" : "add"]("cannot");
    if (ui.presenting) root.classList.toggle("ls-choosing", !isTold);
    draw();
    if (!isTold) parts.cannot.scrollIntoView({ block: "nearest" });
  }

  function turn(by) {
    act({ command: "open", tab: neighbour(model.get("view"), by) });
  }

  /** Arrow keys on a tab lead to its neighbour, and the focus goes along. */
  function turnAndFollow(by) {
    const next = neighbour(model.get("view"), by);
    const tab = parts.tabs.querySelector(`[data-key="tab-${next}"]`);
    tab.setAttribute("tabindex", "0");
    tab.focus();
    act({ command: "open", tab: next });
  }

  /** Heard before JupyterLab, whose own keys would scroll, or delete the cell. */
  function onKey(event) {
    if (!root.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.shiftKey) return;
    event.stopPropagation();
    const own = event.target.labKeys?.[event.key]; // of a place in the picture
    if (own) {
      event.preventDefault();
      own();
      return;
    }
    if (event.target.matches("[role=tab]") && /^Arrow(Left|Right)$/.test(event.key)) {
      event.preventDefault();
      turnAndFollow(event.key === "ArrowRight" ? 1 : -1);
      return;
    }
    const pressing = event.key === " " && event.target.matches("button, summary");
    if (event.key === "Escape" && root.classList.contains("ls-sheet")) sheet(false);
    else if (event.key === "Escape" && ui.drawer) show(ui.drawer);
    else if (event.key === "Escape" && root.classList.contains("ls-presenting")) present();
    else if (!event.target.matches("input, select, textarea") && !pressing && press(event.key)) {
      event.preventDefault();
    }
  }

  // --- What the kernel sends ---

  function onView() {
    clearTimeout(waiting);
    const view = model.get("view");
    const { notice } = view;
    takeLesson();
    lesson?.follow(view);
    if (view.export?.format === "print" && ui.printed !== view.answers) printPage(view.export.text, (ui.printed = view.answers));
    if (!lesson && view.origin && view.answers > 1) keepWalk(model.place, view);
    if (isLost) {
      isLost = false; // an answer after all
      parts.offer.hidden = true;
    }
    tell(notice);
    if (ui.leaving && !notice && !view.reading) ui.drawer = null;
    ui.leaving &&= view.reading;
    draw();
  }

  const onNear = () => keepingPlace(root, () => drawDistances(model.get("view")));
  const onGraph = () => model.get("view").tab === "graph" && draw();

  /** How far a search in the background is: it stands in the drawer from which it was begun. */
  const showing = (trait, stop) => () => {
    const place = parts.drawer.querySelector(`.ls-progress-${trait}`);
    if (place) put(place, drawProgress(model.get(trait), `${trait}-stop`, stop));
  };

  function onLesson() {
    takeLesson();
    draw();
  }

  const stopReading = () => send({ command: "stop_reading" });

  const heard = {
    "change:view": onView,
    "change:near": onNear,
    "change:graph": onGraph,
    "change:find": showing("find", () => act({ command: "stop_finding" })),
    "change:reading": showing("reading", stopReading),
    "change:lesson": onLesson,
  };
  for (const [event, answer] of Object.entries(heard)) model.on(event, answer);
  window.addEventListener("keydown", onKey, true);
  document.addEventListener("fullscreenchange", leaveFullscreen);
  parts.timeline.addEventListener("pointermove", drag);
  onView();
  resized.observe(parts.panel);
  offerKept();
  const unwatch = model.watch(lose);
  model.send({ command: "shown" });
  waiting = setTimeout(miss, LEISURE, LEISURE, false);
  const coming = setTimeout(comeIntoView, SETTLED);
  return () => {
    unwatch();
    clearTimeout(waiting);
    clearTimeout(settling);
    clearTimeout(coming);
    resized.disconnect();
    window.removeEventListener("keydown", onKey, true);
    document.removeEventListener("fullscreenchange", leaveFullscreen);
    for (const [event, answer] of Object.entries(heard)) model.off(event, answer);
  };
}

/** Settings that belong to the reader rather than to the walk. */
function recall(name, otherwise) {
  try {
    return localStorage.getItem(`lab-stepper-${name}`) ?? otherwise;
  } catch {
    return otherwise; // pages may be kept from storing
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`lab-stepper-${name}`, value);
  } catch {
    // It then lasts as long as the page.
  }
}

export default { render };
