// The regions above the timeline: header, picture or table, caption, and the two lists.

const FEW_CONSTANTS = 5; // that are shown beside the title; more are folded

function drawHeader(view, ui) {
  const watched = view.invariants.filter((each) => each.watched);
  const others = view.invariants.filter((each) => !each.watched);
  const fails = others.filter((each) => !each.holds).length;
  const rest = view.constants.slice(FEW_CONSTANTS);
  return [
    h(
      "div",
      { class: "ls-about" },
      h("h2", { title: view.meaning }, view.title),
      view.constants.slice(0, FEW_CONSTANTS).map(drawConstant),
      rest.length
        ? more(ui, "constants", `+${rest.length}`, "More constants:", rest.map(drawConstant))
        : null,
    ),
    h(
      "div",
      { class: "ls-verdicts" },
      h("ul", { "aria-label": "Invariants" }, watched.map(drawInvariant)),
      others.length
        ? more(
            ui,
            "invariants",
            `${others.length} more${fails ? `, ${fails} not holding` : ""}`,
            "Properties that count only when they are named:",
            h("ul", {}, others.map(drawInvariant)),
          )
        : null,
    ),
  ];
}

function drawConstant(each) {
  return h("span", { class: "ls-chip", title: each.meaning }, each.text);
}

function more(ui, key, label, title, content) {
  const inside = h("div", { class: "ls-unfolded" }, h("p", {}, title), content);
  return fold(ui, key, [label], [inside], "ls-more");
}

/** Something that unfolds, and stays as it is while the rest is drawn anew. */
function fold(ui, key, summary, content, look = "") {
  const element = h(
    "details",
    { class: look, open: ui.unfolded.has(key) },
    h("summary", { "data-key": key }, summary),
    content,
  );
  element.addEventListener("toggle", () => ui.unfolded[element.open ? "add" : "delete"](key));
  return element;
}

function drawInvariant(each) {
  return h(
    "li",
    { class: each.holds ? "ls-holds" : "ls-broken", title: each.meaning },
    h("b", {}, each.holds ? "✓ " : "✗ ", each.name),
    each.holds ? null : h("span", {}, ` violated: ${each.reason}`),
    h("span", { class: "ls-unseen" }, each.holds ? " holds" : ""),
  );
}

function drawTabs(ui, choose) {
  const tabs = [
    ["cluster", "Cluster"],
    ["state", "State"],
  ];
  return tabs.map(([name, label]) =>
    h(
      "button",
      {
        role: "tab",
        "aria-selected": String(ui.tab === name),
        "data-key": `tab-${name}`,
        onclick: () => choose(name),
      },
      label,
    ),
  );
}

function drawPanel(view, tab) {
  return tab === "state" ? drawState(view) : drawPicture(view);
}

function drawPicture(view) {
  const holder = h("div", { class: "ls-picture" });
  // The only markup that is taken as it is: the spec's own drawing, made in the learner's kernel.
  holder.innerHTML = view.picture;
  return holder;
}

function drawState(view) {
  return h(
    "div",
    { class: "ls-state", tabindex: "0", "data-key": "state", "data-scroll": "state" },
    h(
      "table",
      {},
      h("caption", {}, "Every variable; what this step changed is marked, with the value before."),
      h(
        "tbody",
        {},
        view.state.map((line) =>
          h(
            "tr",
            { class: line.differs ? "ls-differs" : "" },
            h("th", { scope: "row" }, line.differs ? "● " : "", line.name),
            h("td", {}, line.value.map(drawPiece)),
          ),
        ),
      ),
    ),
  );
}

function drawPiece(piece) {
  if (piece.mark === "changed") {
    return h("span", {}, h("del", {}, piece.was), " ", h("ins", {}, piece.text));
  }
  if (piece.mark === "added") return h("ins", {}, `+ ${piece.text}`);
  if (piece.mark === "removed") return h("del", {}, `− ${piece.text}`);
  return h("span", {}, piece.text);
}

function drawCaption({ caption, timeline, scenario }) {
  const place = caption.slide ? `Slide ${caption.slide}` : `State ${timeline.depth}`;
  const begins = scenario && timeline.depth === 1;
  return [
    begins ? h("p", {}, h("b", {}, scenario.title), " ", scenario.description.join(" ")) : null,
    h("p", {}, h("b", {}, place), " ", caption.text),
    caption.step ? h("code", {}, caption.step) : null,
  ];
}

function drawCan(view, take) {
  const count = view.can.reduce((sum, each) => sum + each.choices.length, 0);
  const rows = view.can.map((each) =>
    h(
      "div",
      { class: "ls-act", role: "group", "aria-label": each.action },
      drawName(each),
      h("span", { class: "ls-choices" }, each.choices.map((choice) => drawChoice(choice, take))),
    ),
  );
  const nothing = h("p", { class: "ls-nothing" }, "Nothing: no step is possible in this state.");
  return [heading("What can happen now", count), ...(rows.length ? rows : [nothing])];
}

function drawChoice(choice, take) {
  return h(
    "button",
    {
      class: choice.ahead ? "ls-choice ls-ahead" : "ls-choice",
      title: choice.step,
      "aria-label": choice.ahead ? `${choice.step}, the next step here` : choice.step,
      "data-key": choice.step,
      onclick: () => take(choice.step),
    },
    choice.label || "take this step",
    choice.ahead ? h("small", {}, " next ▸") : null,
  );
}

const FEW = 3; // choices that are listed; more are folded with their number

function drawCannot(view, ui) {
  const count = view.cannot.reduce((sum, each) => sum + each.reasons.length, 0);
  return [
    heading("What can’t, and why", count),
    ...view.cannot.map((each) =>
      h(
        "div",
        { class: "ls-not" },
        drawName(each),
        each.reasons.map((why) => drawReason(each.action, why, ui)),
      ),
    ),
  ];
}

function drawReason(action, why, ui) {
  const choices = why.choices.filter((each) => each);
  const text = why.over_capacity
    ? h("span", { class: "ls-full" }, `⚠ no room in the model: ${why.reason}`)
    : h("span", { class: "ls-why" }, why.reason);
  if (choices.length <= FEW) {
    return h("div", {}, text, choices.map((each) => h("span", { class: "ls-which" }, each)));
  }
  const count = h("span", { class: "ls-which" }, `${choices.length} choices`);
  const listed = choices.map((each) => h("span", { class: "ls-which" }, each));
  return fold(ui, `${action}: ${why.reason}`, [text, count], listed);
}

/** An action's name, which may be broken at its underscores. */
function drawName({ action, meaning }) {
  const parts = action.split("_").map((part, k) => (k ? ["_", h("wbr"), part] : part));
  return h("span", { class: "ls-name", title: meaning }, parts);
}

function heading(text, count) {
  return h("h3", {}, text, " ", h("span", { class: "ls-count" }, String(count)));
}
