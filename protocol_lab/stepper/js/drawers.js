// What opens below the buttons on request: forking, finding, loading, exporting, the keys.

function drawFork(send) {
  const name = h("input", {
    type: "text",
    maxlength: "40",
    "data-key": "fork-name",
    placeholder: "what if replica 3 leads",
  });
  return form(
    () => send({ command: "fork", name: name.value }),
    h("label", {}, "Name of the branch that starts here ", name),
    button("fork-do", "start the branch"),
  );
}

// --- Find ---

function drawFind(view, find, send) {
  const picked = select("find-picked", view.situations.map((each) => [each.name, each.label]));
  const typed = h("input", {
    type: "text",
    size: "46",
    spellcheck: "false",
    "data-key": "find-typed",
    placeholder: view.example,
  });
  const search = (condition) => send({ command: "find", ...condition });
  const offered = view.situations.length
    ? form(
        () => search({ situation: picked.value }),
        h("label", {}, "A state in which ", picked),
        button("find-picked-do", "find the shortest way"),
      )
    : null;
  const own = form(
    () => search({ condition: typed.value }),
    h("label", {}, `${offered ? "Or a" : "A"} state where this is true (Python, over the state s and the constants c) `, typed),
    button("find-do", "find the shortest way"),
  );
  const stop = () => send({ command: "stop_finding" });
  return h("div", {}, offered, own, h("div", { class: "ls-progress-find", "aria-live": "polite" }, drawProgress(find, "find-stop", stop)));
}

/** What a search in the background says of itself, with a button that stops it. */
function drawProgress(search, key, stop) {
  if (!search?.text) return null;
  const stopper = button(key, "stop", stop, { type: "button" });
  return h("p", {}, search.working ? h("progress", {}) : null, ` ${search.text} `, search.working ? stopper : null);
}

// --- Load ---

function drawLoad(view, reading, send, stop) {
  const choice = select("load-name", view.scenarios.map((each) => [each.name, each.title]));
  const text = h("textarea", {
    rows: "5",
    "data-key": "load-text",
    spellcheck: "false",
    placeholder: "a scenario, a link string, an exported JSON or ITF, or what TLC, Apalache or Quint wrote for the original specification",
  });
  const file = h("input", {
    type: "file",
    "data-key": "load-file",
    accept: ".txt,.json,.out,.log,.tla,text/plain",
    onchange: async () => {
      text.value = (await file.files[0]?.text()) ?? "";
    },
  });
  const shipped = view.scenarios.length
    ? form(
        () => send({ command: "load", name: choice.value }),
        h("label", {}, "A scenario that comes with this spec ", choice),
        button("load-do", "load it"),
      )
    : h("p", {}, "No scenario comes with this spec.");
  const pasted = form(
    () => send({ command: "paste", text: text.value }),
    h("label", {}, "Or paste a trace ", text),
    h("label", {}, "or from a file ", file),
    button("paste-do", "walk along it"),
    h("div", { class: "ls-progress-reading", "aria-live": "polite" }, drawProgress(reading, "reading-stop", stop)),
  );
  const others = h("div", {}, shipped, drawRestart(view, send), drawBack(view, send));
  return h("div", { class: "ls-columns" }, others, pasted);
}

/** A new walk; where there are several initial states, from the chosen one, or the written one. */
function drawRestart(view, send) {
  const choice = view.more_starts
    ? h("input", { "data-key": "start", size: 40, value: view.starts[0] })
    : select("start", view.starts);
  return form(
    () => send({ command: "restart", start: view.starts.length ? choice.value : null }),
    view.starts.length ? h("label", {}, "Initial state ", choice) : null,
    button("restart-do", "start anew"),
  );
}

/** The walk before this one, which is kept when another is loaded. */
function drawBack(view, send) {
  if (!view.earlier) return null;
  return form(() => send({ command: "back" }), button("back-do", "back to the earlier walk"), h("span", {}, view.earlier));
}

// --- Export ---

function drawExport(view, send, ui) {
  const shown = view.export;
  const choice = select("export-format", view.formats, ui.format, { onchange: () => write() });
  const copyIt = async () => {
    text.select();
    if (!(await copied(text.value))) document.execCommand("copy");
  };
  const copying = button("export-copy", "copy", copyIt, { type: "button", disabled: !shown?.text });
  const saving = button("export-save", "download", () => save(shown), { type: "button", disabled: !shown?.text && !shown?.data });
  const write = () => {
    ui.format = choice.value;
    copying.disabled = saving.disabled = true; // what they have is of the format before
    send({ command: "export", format: choice.value });
  };
  const text = h("textarea", {
    rows: "6",
    readonly: true,
    spellcheck: "false",
    "data-key": "export-text",
    "aria-label": "The exported steps",
  });
  text.value = shown?.text ?? "";
  return h(
    "div",
    {},
    form(
      write,
      h("label", {}, "The steps so far as ", choice),
      button("export-do", "write"),
      copying,
      saving,
    ),
    shown?.text ? text : null,
    shown?.image ? h("img", { src: shown.image, alt: "The exported picture", class: "ls-exported" }) : null,
  );
}

// --- The keys ---

const KEY_MEANINGS = [
  ["← →", "one step back, one step ahead (a clicker’s page up and page down as well)"],
  ["Home End", "to the start, to the end of this branch"],
  ["1 … 9", "take the first, second, … of what can happen now"],
  ["p", "presenter’s view: one large picture; Escape ends it"],
  ["[ ]", "the tab before, the tab after"],
  ["c", "in the presenter’s view: show what can happen"],
  ["w", "what can’t happen, and why"],
  ["d", "how many steps the nearest violation, or a challenge’s goal, is away"],
  ["?", "these keys"],
  ["Tab Enter", "every button can be reached and pressed"],
];

const LESSON_KEYS = [
  ["← →", "the beat before, the next beat; a question is answered first"],
  ["Home End", "to the start, and as far as the next question"],
  ["1 … 9", "answer with the first, second, … choice; a place in a log by its own number"],
  ["space", "skip the question: it stays marked"],
  ["w", "what if: leave the lesson here, and take steps of your own"],
  ["k n b", "the code of the step; the speaker’s notes; the board, who has said what"],
  ["p", "presenter’s view; Escape ends it"],
  ["?", "these keys"],
  ["Tab Enter", "every button, and every place in the picture, can be reached and pressed"],
];

function drawKeys(lesson) {
  return h(
    "dl",
    { class: "ls-keys" },
    (lesson ? LESSON_KEYS : KEY_MEANINGS).map(([keys, meaning]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, meaning)]),
  );
}

// --- Parts ---

function form(submit, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return h("form", { onsubmit }, children);
}

/** `data` is a data: address where the content is no text to be shown. */
function save({ file, text, data }) {
  const address = data ?? URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: file }).click();
  if (!data) URL.revokeObjectURL(address);
}
