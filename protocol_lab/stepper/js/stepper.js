// The widget: builds its frame once, redraws the regions when the kernel sends something new, and
// sends the learner's commands.

const PATIENCE = 2500; // after this long without an answer it says that it waits for the kernel

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
      "main",
      {},
      h("div", { class: "ls-left" }, parts.tabs, parts.panel, parts.caption),
      h(
        "div",
        { class: "ls-right" },
        h("div", { class: "ls-lists", "data-scroll": "lists" }, parts.can, parts.cannot),
      ),
    ),
    parts.notice,
    h("footer", {}, parts.controls, parts.timeline, parts.drawer),
  );
  el.append(root);

  let waiting = null;
  let player = null;

  // --- Speaking with the kernel ---

  function send(message) {
    clearTimeout(waiting);
    waiting = setTimeout(() => tell("Waiting for the kernel: is it busy, or has it stopped?"), PATIENCE);
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
      parts.panel.replaceChildren(drawPanel(view, model.get("graph"), ui, act));
      parts.caption.replaceChildren(...drawCaption(view).filter(Boolean));
      parts.cannot.replaceChildren(...drawCannot(view, ui, act));
      parts.controls.replaceChildren(
        ...drawControls(view, ui, { act, show, play, stop, pace, present, theme }).filter(Boolean),
      );
      drawDistances(view);
      drawDrawer(view);
    });
    drawLine(timeline, view.caption, scrollLeft, clientWidth);
  }

  /** The parts that show distances: redrawn alone when the search has an answer. */
  function drawDistances(view) {
    parts.header.replaceChildren(...drawHeader(view, near(), ui, act));
    parts.can.replaceChildren(...drawCan(view, near(), (step) => act({ command: "take", step })));
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

  const KEYS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last" };

  function press(name) {
    if (KEYS[name]) act({ command: KEYS[name] });
    else if (/^[1-9]$/.test(name)) parts.can.querySelector(`[data-number="${name}"]`)?.click();
    else if (name === " ") ui.playing ? stop() : play();
    else if (name === "p") present();
    else if (name === "c") root.classList.toggle("ls-choosing");
    else if (name === "[" || name === "]") turn(name === "]" ? 1 : -1);
    else return false;
    return true;
  }

  function turn(by) {
    const names = TABS.map(([name]) => name);
    const next = (names.indexOf(model.get("view").tab) + by + names.length) % names.length;
    act({ command: "open", tab: names[next] });
  }

  /** Heard before JupyterLab, whose own keys would scroll, or delete the cell. */
  function onKey(event) {
    if (!root.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.shiftKey) return;
    event.stopPropagation();
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
  model.send({ command: "shown" });
  return () => {
    clearTimeout(waiting);
    clearInterval(player);
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
