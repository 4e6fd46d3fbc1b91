// The widget: builds its frame once, redraws the regions when the kernel sends a new view, and
// sends the learner's commands.

const SPEEDS = [
  ["slow", 4000],
  ["normal", 2000],
  ["fast", 800],
];
const PATIENCE = 2500; // after this long without an answer it says that it waits for the kernel

function render({ model, el }) {
  const ui = { tab: "cluster", drawer: null, format: null, unfolded: new Set(), pace: 2000 };
  const region = (name, attributes = {}) => h("div", { class: `ls-${name}`, ...attributes });
  const parts = {
    header: h("header", {}),
    tabs: region("tabs", { role: "tablist", "aria-label": "Views of the state" }),
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
    { class: "lab-stepper", tabindex: "-1" },
    parts.header,
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

  function show(drawer) {
    ui.drawer = ui.drawer === drawer ? null : drawer;
    draw();
    parts.drawer.querySelector("input, select, textarea")?.focus();
    if (ui.drawer === "export") act({ command: "export", format: ui.format ?? model.get("view").formats[0] });
  }

  // --- Playing ---

  function play() {
    const { depth, length } = model.get("view").timeline;
    if (depth === length) send({ command: "first" });
    player = setInterval(forward, ui.pace);
    draw();
  }

  function forward() {
    send({ command: "redo" });
  }

  function stop() {
    if (player === null) return;
    clearInterval(player);
    player = null;
    draw();
  }

  // --- Drawing ---

  function draw() {
    const view = model.get("view");
    const { timeline } = view;
    if (player !== null && timeline.depth === timeline.length) {
      clearInterval(player);
      player = null;
    }
    root.setAttribute("aria-label", `Stepper: ${view.title}`);
    root.classList.toggle("ls-alarm", view.invariants.some((each) => each.watched && !each.holds));
    keepingPlace(root, () => {
      parts.header.replaceChildren(...drawHeader(view, ui));
      parts.tabs.replaceChildren(...drawTabs(ui, chooseTab));
      parts.panel.replaceChildren(drawPanel(view, ui.tab));
      parts.caption.replaceChildren(...drawCaption(view).filter(Boolean));
      parts.can.replaceChildren(...drawCan(view, (step) => act({ command: "take", step })));
      parts.cannot.replaceChildren(...drawCannot(view, ui));
      parts.controls.replaceChildren(...drawControls(view));
      drawDrawer(view);
    });
    drawLine(timeline, view.caption);
  }

  function chooseTab(name) {
    ui.tab = name;
    draw();
  }

  function drawDrawer(view) {
    // What is being typed stays while the state changes underneath.
    const shown = parts.drawer.dataset.shown;
    const same = shown === String(ui.drawer) && ui.drawer !== "export";
    if (same) return;
    parts.drawer.dataset.shown = String(ui.drawer);
    const drawers = {
      fork: () => drawFork(actAndClose),
      load: () => drawLoad(view, actAndClose),
      export: () => drawExport(view, act, ui),
    };
    parts.drawer.replaceChildren(...(ui.drawer ? [drawers[ui.drawer]()] : []));
    parts.drawer.hidden = !ui.drawer;
  }

  function drawLine(timeline, caption) {
    const goTo = (branch, depth) => act({ command: "go_to", branch, depth });
    const left = parts.timeline.scrollLeft;
    parts.timeline.replaceChildren(drawTimeline(timeline, goTo));
    parts.timeline.setAttribute("aria-label", "Timeline, walk with the arrow keys");
    parts.timeline.setAttribute("aria-valuemin", 1);
    parts.timeline.setAttribute("aria-valuemax", timeline.length);
    parts.timeline.setAttribute("aria-valuenow", timeline.depth);
    parts.timeline.setAttribute("aria-valuetext", `state ${timeline.depth} of ${timeline.length}: ${caption.text}`);
    const here = x(timeline.depth);
    const room = parts.timeline.clientWidth;
    const visible = here - left > 2 * STEP && left + room - here > 3 * STEP;
    parts.timeline.scrollLeft = visible || !room ? left : here - room / 2;
  }

  function drawControls(view) {
    const { timeline } = view;
    const atStart = timeline.depth === 1;
    const atEnd = timeline.depth === timeline.length;
    const button = (key, label, words, off, onclick) =>
      h("button", { "data-key": key, title: words, "aria-label": words, disabled: off, onclick }, label);
    const opener = (key, label, words) =>
      h("button", { "data-key": key, title: words, "aria-expanded": String(ui.drawer === key), onclick: () => show(key) }, label);
    const playing = player !== null;
    return [
      h(
        "span",
        { class: "ls-group" },
        button("first", "|←", "To the start (Home)", atStart, () => act({ command: "first" })),
        button("undo", "← undo", "One step back (left arrow)", atStart, () => act({ command: "undo" })),
        button("redo", "redo →", "One step ahead (right arrow)", atEnd, () => act({ command: "redo" })),
        button("last", "→|", "To the end (End)", atEnd, () => act({ command: "last" })),
      ),
      h(
        "span",
        { class: "ls-group" },
        button(
          "play",
          playing ? "❚❚ pause" : "▶ play",
          playing ? "Stop here" : "Play what lies ahead, step by step",
          timeline.length === 1,
          playing ? stop : play,
        ),
        drawSpeed(),
      ),
      h(
        "span",
        { class: "ls-group" },
        opener("fork", "fork here", "Start a branch with a name of your own"),
        timeline.lanes.length > 1 ? drawBranches(timeline) : null,
      ),
      h(
        "span",
        { class: "ls-group ls-end" },
        opener("load", "load…", "Load a scenario, or paste one"),
        opener("export", "export…", "The steps so far as text"),
      ),
      h("span", { class: "ls-where" }, whereabouts(view)),
    ];
  }

  function whereabouts({ scenario, timeline }) {
    const ahead = timeline.length - timeline.depth;
    const place = `state ${timeline.depth} of ${timeline.length}`;
    if (!ahead) return scenario ? `${scenario.title} · ${place}` : place;
    const offer = "a different step starts a branch: you take over from here";
    return `${scenario ? `${scenario.title} · ` : ""}${place} · ${offer}`;
  }

  function drawSpeed() {
    const speed = h(
      "select",
      {
        "data-key": "speed",
        "aria-label": "Speed of playing",
        title: "Speed of playing",
        onchange: () => {
          ui.pace = Number(speed.value);
          if (player !== null) {
            clearInterval(player);
            player = setInterval(forward, ui.pace);
          }
        },
      },
      SPEEDS.map(([name, pace]) => h("option", { value: pace, selected: pace === ui.pace }, name)),
    );
    return speed;
  }

  function drawBranches(timeline) {
    const branches = h(
      "select",
      {
        "data-key": "branch",
        "aria-label": "Branch",
        title: "Go to the end of a branch",
        onchange: () => act({ command: "switch", branch: branches.value }),
      },
      timeline.lanes.map((each) => h("option", { selected: each.current }, each.name)),
    );
    return branches;
  }

  // --- The keyboard ---

  const KEYS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last" };

  /** Heard before JupyterLab, whose own keys would scroll, or delete the cell. */
  function onKey(event) {
    if (!root.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.shiftKey) return;
    event.stopPropagation();
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && ui.drawer) show(ui.drawer);
    else if (!typing && KEYS[event.key]) {
      event.preventDefault();
      act({ command: KEYS[event.key] });
    }
  }

  function onView() {
    clearTimeout(waiting);
    const { notice } = model.get("view");
    tell(notice);
    if (ui.leaving && !notice) ui.drawer = null;
    ui.leaving = false;
    draw();
  }

  window.addEventListener("keydown", onKey, true);
  model.on("change:view", onView);
  onView();
  return () => {
    clearTimeout(waiting);
    clearInterval(player);
    window.removeEventListener("keydown", onKey, true);
    model.off("change:view", onView);
  };
}

export default { render };
