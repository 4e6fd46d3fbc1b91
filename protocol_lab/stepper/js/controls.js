// The buttons under the picture.

/** `does` holds what the buttons call: act, show, present, print. */
function drawControls(view, ui, does) {
  const { timeline } = view;
  const atStart = timeline.depth === 1;
  const atEnd = timeline.depth === timeline.length;
  const button = (key, label, words, off, onclick) =>
    h("button", { "data-key": key, title: words, "aria-label": words, disabled: off, onclick }, label);
  const opener = (key, label, words) =>
    h(
      "button",
      { "data-key": key, title: words, "aria-expanded": String(ui.drawer === key), onclick: () => does.show(key) },
      label,
    );
  const go = (command) => () => does.act({ command });
  return [
    h(
      "span",
      { class: "ls-group" },
      button("first", "|←", "To the start (Home)", atStart, go("first")),
      button("last", "→|", "To the end (End)", atEnd, go("last")),
    ),
    h(
      "span",
      { class: "ls-group" },
      button("take-over", "take over", "Leave what lies ahead, and go your own way", atEnd, go("take_over")),
      opener("fork", "fork", "Start a branch with a name of your own"),
      drawBranches(timeline, does.act),
    ),
    h(
      "span",
      { class: "ls-group ls-end" },
      opener("find", "find…", "The shortest way to a state that you describe"),
      opener("load", "load…", "Load a scenario, or paste a trace"),
      opener("export", "export…", "The steps so far as text, link, picture or film"),
      ui.lesson ? button("print", "print", "A page with a picture a beat, to print or to keep as PDF", false, does.print) : null,
      button("present", "present", "One large picture, by keyboard alone (p; Escape ends it)", false, does.present),
      opener("keys", "?", "The keys"),
    ),
  ];
}

/** Back and next stand on the first level, at the ends of the timeline, and never move. */
function drawBackButton({ timeline }, act) {
  const words = "One step back (left arrow)";
  const go = () => act({ command: "undo" });
  return h("button", { class: "ls-back", "data-key": "undo", title: words, "aria-label": words, disabled: timeline.depth === 1, onclick: go }, "← Back");
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
    h("button", { class: "ls-choose", "data-key": "sheet", onclick: () => sheet() }, `Choices ${count}`),
    h("button", { class: "ls-next", "data-key": "redo", title: words, "aria-label": words, disabled: atEnd, onclick: () => act({ command: "redo" }) }, label),
  ];
}

/** Where the walk is. A scenario's title would tell how it ends: only its slides are named. */
function whereabouts({ scenario, timeline }) {
  const slides = scenario?.title.match(/\((slides? [^)]+)\)/)?.[1];
  return [slides, `state ${timeline.depth} of ${timeline.length}`].filter(Boolean).join(" · ");
}

function drawBranches(timeline, act) {
  const branches = h(
    "select",
    {
      "data-key": "branch",
      "aria-label": "Branch",
      title: "Go to the end of a branch",
      disabled: timeline.lanes.length < 2,
      onchange: () => act({ command: "switch", branch: branches.value }),
    },
    timeline.lanes.map((each) => h("option", { selected: each.current }, each.name)),
  );
  return branches;
}
