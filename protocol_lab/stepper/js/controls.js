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
