// The widget: builds its frame once, redraws the regions when the kernel sends something new, and
// sends the learner's commands.

const PATIENCE = 2500; // after this long without an answer it says that it waits for the kernel

const WAITING =
  "The kernel does not answer: wait if it is busy; if it has stopped or was restarted, run this cell again.";

function render({ model, el }) {
  const ui = {
    drawer: null,
    format: null,
    unfolded: new Set(),
    pace: 2000,
    playing: false,
    theme: recall("theme", "auto"),
  };
  const region = (name, attributes = {}) => h("div", { class: `ls-${name}`, ...attributes });
  const parts = {
    header: h("header", {}),
    challenge: region("challenge"),
    tabs: region("tabs", { role: "tablist", "aria-label": "Views of the walk" }),
    panel: region("panel", { role: "tabpanel" }),
    caption: region("caption", { "aria-live": "polite" }),
    whole: h("button", { class: "ls-whole", "data-key": "caption", "aria-expanded": "false" }, "more"),
    can: region("can"),
    cannot: region("cannot"),
    notice: region("notice", { role: "alert" }),
    controls: region("controls", { role: "group", "aria-label": "Walk" }),
    timeline: region("timeline", { role: "slider", tabindex: "0", "data-key": "timeline" }),
    drawer: region("drawer"),
  };
  const root = h(
    "section",
    { class: "lab-stepper", tabindex: "-1", "data-theme": ui.theme },
    parts.header,
    parts.challenge,
    h(
      "div",
      { class: "ls-main" },
      h("div", { class: "ls-left" }, parts.tabs, parts.panel, h("div", { class: "ls-told" }, parts.caption, parts.whole)),
      h(
        "div",
        { class: "ls-right" },
        h("div", { class: "ls-lists", "data-scroll": "lists" }, parts.can, parts.cannot),
      ),
    ),
    h("footer", {}, h("div", { class: "ls-over" }, parts.notice, parts.drawer), parts.timeline, parts.controls),
  );
  el.append(root);

  let waiting = null;
  let player = null;

  // --- Speaking with the kernel ---

  function send(message) {
    clearTimeout(waiting);
    waiting = setTimeout(() => tell(WAITING), PATIENCE);
    model.send(message);
  }

  /** A command of the learner's, which ends the playing of a scenario. */
  function act(message) {
    stop();
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

  // --- Playing ---

  function play() {
    const { depth, length } = model.get("view").timeline;
    if (depth === length) send({ command: "first" });
    player = setInterval(() => send({ command: "redo" }), ui.pace);
    ui.playing = true;
    draw();
  }

  function stop() {
    if (!ui.playing) return;
    clearInterval(player);
    ui.playing = false;
    draw();
  }

  function pace(milliseconds) {
    ui.pace = milliseconds;
    if (!ui.playing) return;
    clearInterval(player);
    player = setInterval(() => send({ command: "redo" }), ui.pace);
  }

  // --- Presenting, and colours ---

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

  function theme() {
    const names = Object.keys(THEMES);
    ui.theme = names[(names.indexOf(ui.theme) + 1) % names.length];
    root.dataset.theme = ui.theme;
    remember("theme", ui.theme);
    draw();
  }

  function show(drawer) {
    ui.drawer = ui.drawer === drawer ? null : drawer;
    draw();
    parts.drawer.querySelector("input, select, textarea")?.focus();
    if (ui.drawer === "export") act({ command: "export", format: ui.format ?? model.get("view").formats[0] });
  }

  // --- Drawing ---

  function draw() {
    const view = model.get("view");
    const { timeline } = view;
    // Measured before anything changes: afterwards the browser would have to lay out the page for it.
    const { scrollLeft, clientWidth } = parts.timeline;
    const place = `${timeline.branch} ${timeline.depth}`;
    const elsewhere = ui.place !== place;
    const moved = elsewhere && view.tab === "cluster";
    ui.place = place;
    if (ui.playing && timeline.depth === timeline.length) {
      clearInterval(player);
      ui.playing = false;
    }
    root.setAttribute("aria-label", `Stepper: ${view.title}`);
    root.classList.toggle("ls-alarm", view.invariants.some((each) => each.watched && !each.holds));
    keepingPlace(root, () => {
      parts.challenge.replaceChildren(...drawChallenge(view, act));
      parts.challenge.hidden = !view.challenge;
      parts.tabs.replaceChildren(...drawTabs(view, act));
      const before = partsOf(parts.panel.querySelector(".ls-staged svg"));
      parts.panel.replaceChildren(drawPanel(view, model.get("graph"), ui, act));
      if (moved) moveParts(before, parts.panel.querySelector(".ls-staged svg"));
      parts.caption.replaceChildren(...drawCaption(view).filter(Boolean));
      parts.cannot.replaceChildren(...drawCannot(view, ui, act));
      parts.controls.replaceChildren(
        ...drawControls(view, ui, { act, show, play, stop, pace, present, theme }).filter(Boolean),
      );
      drawDistances(view);
      drawDrawer(view);
    });
    if (elsewhere && view.tab === "sequence") follow(timeline.depth);
    drawLine(timeline, view.caption, scrollLeft, clientWidth);
    drawWhole();
  }

  /** The button that shows the whole caption, where it does not fit its line. */
  function drawWhole() {
    const open = parts.caption.classList.contains("ls-open");
    parts.whole.hidden = !open && parts.caption.scrollHeight <= parts.caption.clientHeight + 2;
    parts.whole.textContent = open ? "less" : "more";
    parts.whole.setAttribute("aria-expanded", String(open));
  }

  parts.whole.addEventListener("click", () => {
    parts.caption.classList.toggle("ls-open");
    drawWhole();
  });

  // --- The room for the picture ---

  let room = null;
  let settling = null;

  /** Tells the kernel, which arranges the picture, once the room has stayed as it is for a moment. */
  function measure() {
    const { clientWidth: width, clientHeight: height } = parts.panel;
    const known = room && Math.abs(room.width - width) < 12 && Math.abs(room.height - height) < 12;
    if (!width || known || model.get("view").tab !== "cluster") return;
    room = { width, height };
    model.send({ command: "room", ...room });
  }

  const resized = new ResizeObserver(() => {
    clearTimeout(settling);
    settling = setTimeout(measure, 120);
  });

  /** Scrolls the sequence to the step that led to this state. */
  function follow(depth) {
    const [panel, here] = [".ls-scroll", `.lab-moment[data-depth="${depth}"]`].map((each) =>
      parts.panel.querySelector(each),
    );
    if (!here) return;
    const [room, box] = [panel.getBoundingClientRect(), here.getBoundingClientRect()];
    const visible = box.top >= room.top && box.bottom <= room.bottom;
    if (!visible) panel.scrollTop += box.top - room.top - (room.height - box.height) / 2;
  }

  /** The parts that show distances: redrawn alone when the search has an answer. */
  function drawDistances(view) {
    parts.header.replaceChildren(...drawHeader(view, near(), ui, act));
    parts.can.replaceChildren(...drawCan(view, near(), act));
  }

  function drawDrawer(view) {
    // What is being typed stays while the state changes underneath.
    const same = parts.drawer.dataset.shown === String(ui.drawer) && ui.drawer !== "export";
    if (same) return;
    parts.drawer.dataset.shown = String(ui.drawer);
    const drawers = {
      fork: () => drawFork(actAndClose),
      find: () => drawFind(view, model.get("find"), act),
      load: () => drawLoad(view, actAndClose),
      export: () => drawExport(view, act, ui),
      keys: drawKeys,
    };
    parts.drawer.replaceChildren(...(ui.drawer ? [drawers[ui.drawer]()] : []));
    parts.drawer.hidden = !ui.drawer;
  }

  function drawLine(timeline, caption, left, room) {
    const goTo = (branch, depth) => act({ command: "go_to", branch, depth });
    parts.timeline.replaceChildren(drawTimeline(timeline, goTo));
    parts.timeline.setAttribute("aria-label", "Timeline, walk with the arrow keys");
    parts.timeline.setAttribute("aria-valuemin", 1);
    parts.timeline.setAttribute("aria-valuemax", timeline.length);
    parts.timeline.setAttribute("aria-valuenow", timeline.depth);
    parts.timeline.setAttribute("aria-valuetext", `state ${timeline.depth} of ${timeline.length}: ${caption.text}`);
    const here = x(timeline.depth);
    const visible = here - left > 2 * STEP && left + room - here > 3 * STEP;
    if (room && !visible) parts.timeline.scrollLeft = here - room / 2;
  }

  // --- The pointer drags along the timeline ---

  function drag(event) {
    if (!(event.buttons & 1)) return;
    const drawing = parts.timeline.querySelector("svg");
    const { depth, length, branch } = model.get("view").timeline;
    const wanted = Math.min(Math.max(depthAt(event.clientX - drawing.getBoundingClientRect().left), 1), length);
    if (wanted !== depth && wanted !== ui.dragged) act({ command: "go_to", branch, depth: wanted });
    ui.dragged = wanted;
  }

  // --- The keyboard ---

  const KEYS = {
    ArrowLeft: "undo",
    ArrowRight: "redo",
    PageUp: "undo",
    PageDown: "redo",
    Home: "first",
    End: "last",
  };

  function press(name) {
    if (KEYS[name]) act({ command: KEYS[name] });
    else if (/^[1-9]$/.test(name)) parts.can.querySelector(`[data-number="${name}"]`)?.click();
    else if (name === " ") ui.playing ? stop() : play();
    else if (name === "p") present();
    else if (name === "c") root.classList.toggle("ls-choosing");
    else if (name === "?") show("keys");
    else if (name === "[" || name === "]") turn(name === "]" ? 1 : -1);
    else return false;
    return true;
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
    if (event.target.matches("[role=tab]") && /^Arrow(Left|Right)$/.test(event.key)) {
      event.preventDefault();
      turnAndFollow(event.key === "ArrowRight" ? 1 : -1);
      return;
    }
    const pressing = event.key === " " && event.target.matches("button, summary");
    if (event.key === "Escape" && ui.drawer) show(ui.drawer);
    else if (event.key === "Escape" && root.classList.contains("ls-presenting")) present();
    else if (!event.target.matches("input, select, textarea") && !pressing && press(event.key)) {
      event.preventDefault();
    }
  }

  // --- What the kernel sends ---

  function onView() {
    clearTimeout(waiting);
    const { notice } = model.get("view");
    tell(notice);
    if (ui.leaving && !notice) ui.drawer = null;
    ui.leaving = false;
    draw();
  }

  const onNear = () => keepingPlace(root, () => drawDistances(model.get("view")));
  const onGraph = () => model.get("view").tab === "graph" && draw();

  function onFind() {
    const place = parts.drawer.querySelector(".ls-finding");
    place?.replaceChildren(...[drawFinding(model.get("find"), act)].filter(Boolean));
  }

  const heard = { "change:view": onView, "change:near": onNear, "change:graph": onGraph, "change:find": onFind };
  for (const [event, answer] of Object.entries(heard)) model.on(event, answer);
  window.addEventListener("keydown", onKey, true);
  document.addEventListener("fullscreenchange", leaveFullscreen);
  parts.timeline.addEventListener("pointermove", drag);
  onView();
  resized.observe(parts.panel);
  model.send({ command: "shown" });
  return () => {
    clearTimeout(waiting);
    clearTimeout(settling);
    clearInterval(player);
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
