// What opens above the timeline on request: forking, loading a scenario, exporting.

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
    h("button", { type: "submit", "data-key": "fork-do" }, "start the branch"),
  );
}

function drawLoad(view, send) {
  const choice = h(
    "select",
    { "data-key": "load-name" },
    view.scenarios.map((each) => h("option", { value: each.name }, each.title)),
  );
  const text = h("textarea", {
    rows: "5",
    "data-key": "load-text",
    spellcheck: "false",
    placeholder: "# spec: NAME  constant=value ...\nstep(parameter=value)   # what it shows",
  });
  const shipped = view.scenarios.length
    ? form(
        () => send({ command: "load", name: choice.value }),
        h("label", {}, "A scenario that comes with this spec ", choice),
        h("button", { type: "submit", "data-key": "load-do" }, "load it"),
      )
    : h("p", {}, "No scenario comes with this spec.");
  const pasted = form(
    () => send({ command: "paste", text: text.value }),
    h("label", {}, "Or paste one ", text),
    h("button", { type: "submit", "data-key": "paste-do" }, "play the pasted scenario"),
  );
  const others = h("div", {}, shipped, drawRestart(view, send), drawBack(view, send));
  return h("div", { class: "ls-columns" }, others, pasted);
}

/** A new walk; where there are several initial states, from the chosen one. */
function drawRestart(view, send) {
  const choice = h("select", { "data-key": "start" }, view.starts.map((each) => h("option", {}, each)));
  return form(
    () => send({ command: "restart", start: view.starts.length ? choice.value : null }),
    view.starts.length ? h("label", {}, "Initial state ", choice) : null,
    h("button", { type: "submit", "data-key": "restart-do" }, "start anew"),
  );
}

/** The walk before this one, which is kept when another is loaded. */
function drawBack(view, send) {
  if (!view.earlier) return null;
  const button = h("button", { type: "submit", "data-key": "back-do" }, "back to the earlier walk");
  return form(() => send({ command: "back" }), button, h("span", {}, view.earlier));
}

function drawExport(view, send, ui) {
  const choice = h(
    "select",
    {
      "data-key": "export-format",
      onchange: () => write(),
    },
    view.formats.map((each) => h("option", { value: each, selected: each === ui.format }, each)),
  );
  const write = () => {
    ui.format = choice.value;
    send({ command: "export", format: choice.value });
  };
  const text = h("textarea", {
    rows: "6",
    readonly: true,
    spellcheck: "false",
    "data-key": "export-text",
    "aria-label": "The exported steps",
  });
  text.value = view.export?.text ?? "";
  return h(
    "div",
    {},
    form(
      write,
      h("label", {}, "The steps so far as ", choice),
      h("button", { type: "submit", "data-key": "export-do" }, "write"),
      h("button", { type: "button", "data-key": "export-copy", disabled: !view.export, onclick: () => copy(text) }, "copy"),
      h("button", { type: "button", "data-key": "export-save", disabled: !view.export, onclick: () => save(view.export) }, "download"),
    ),
    view.export ? text : null,
  );
}

function form(submit, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return h("form", { onsubmit }, children);
}

async function copy(text) {
  text.select();
  try {
    await navigator.clipboard.writeText(text.value);
  } catch {
    document.execCommand("copy"); // browsers keep the clipboard from pages without https
  }
}

function save({ file, text }) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: file }).click();
  URL.revokeObjectURL(address);
}
