// What can happen now, each choice with the distance after it, and what can't, with the values
// that made the guard fail.

/** More choices of an action than these are folded, but for the next step of the path. */
const MOST_CHOICES = 20;
/** More than these altogether are folded as a whole. */
const MANY = 60;

function drawCan(view, near, ui, act) {
  const take = (step) => act({ command: "take", step });
  const count = view.can.reduce((sum, each) => sum + each.choices.length, 0);
  let number = 0;
  const rows = view.can.map((each) => {
    const draw = (choice) => drawChoice(choice, each, near?.after?.[choice.step], ++number, take);
    const hasPlain = each.choices.some((choice) => !choice.aside);
    const first = each.choices.filter((choice, at) => choice.ahead || (at < MOST_CHOICES && !(hasPlain && choice.aside)));
    const others = each.choices.filter((choice) => !first.includes(choice));
    const more = others.length
      ? fold(ui, `choices ${each.action}`, `${others.length} more${others.every((choice) => choice.aside === "lost") ? ", with losses" : ""}`, others.map(draw))
      : null;
    const looks = { class: "ls-act", role: "group", "aria-label": each.action };
    return h("div", looks, first.map(draw), more);
  });
  const nothing = h("p", { class: "ls-nothing" }, "Nothing: no step is possible in this state.");
  const name = heading("What can happen now", count);
  const list = count > MANY ? fold(ui, "can", [name], rows) : [name, rows.length ? rows : nothing];
  return [drawWin(view, act), drawMoral(view), list];
}

/** A scenario's title tells how it ends: it is read there. */
function drawMoral({ scenario, timeline }) {
  const isAtEnd = timeline.depth > 1 && timeline.depth === timeline.length && timeline.lanes.length === 1;
  return scenario && isAtEnd ? h("p", { class: "ls-moral" }, scenario.title.replace(/ \(slides? [^)]+\)/, "")) : null;
}

/** A choice in words; the identifier of its step is the tooltip. */
function drawChoice(choice, { meaning }, distance, number, take) {
  const looks = ["ls-choice"];
  if (choice.ahead) looks.push("ls-ahead");
  if (distance?.nearest) looks.push("ls-nearer");
  const words = [`${choice.sentence}: ${choice.step}`];
  if (choice.ahead) words.push("the next step here");
  for (const each of choice.fills ?? []) words.push(each);
  if (distance?.short) words.push(`${distance.text} after it`);
  return h(
    "button",
    {
      class: looks.join(" "),
      title: [choice.step, meaning, ...words.slice(1)].filter(Boolean).join("\n"),
      "aria-label": words.join(", "),
      "data-key": choice.step,
      "data-number": number,
      onclick: () => take(choice.step),
    },
    h("span", {}, choice.sentence, (choice.fills ?? []).map((each) => h("span", { class: "ls-fills" }, `→ ${each}`))),
    choice.ahead ? h("small", {}, "next ▸") : null,
    distance?.short ? h("small", { class: "ls-distance" }, `→ ${distance.short}`) : null,
  );
}

function drawCannot(view, ui, act) {
  const count = view.cannot.reduce((sum, each) => sum + each.reasons.length, 0);
  const rows = view.cannot.map((each) =>
    h(
      "div",
      { class: "ls-not" },
      drawName(each),
      each.reasons.map((why) => drawReason(why, view, ui, act)),
    ),
  );
  const list = fold(ui, "cannot", [heading("What can’t, and why", count)], rows);
  // The kernel explains refusals only while their list is open: that takes as long as all else.
  list.addEventListener("toggle", () => {
    if (list.open !== view.explained) act({ command: list.open ? "unfold" : "fold", key: "cannot" });
  });
  return [list, drawOff(view, ui)];
}

/** Actions that a constant keeps from ever happening, apart from what can't happen now. */
function drawOff({ off }, ui) {
  if (!off.length) return null;
  const row = (each) => h("div", { class: "ls-not" }, drawName(each), h("div", {}, h("code", {}, each.switch)));
  return fold(ui, "off", [heading("Switched off here", off.length)], off.map(row));
}

/** A reason and its cases. Those of a folded one come when it is unfolded for the first time. */
function drawReason(why, view, ui, act) {
  const text = why.over_capacity
    ? h("span", { class: "ls-full" }, `⚠ no room in the model: ${why.reason}`)
    : h("span", { class: "ls-why" }, why.reason);
  const look = (step) => act({ command: "look", step });
  const cases = why.cases?.map((each) => drawCase(each, look)) ?? ["…"];
  if (!why.folded) return h("div", {}, text, cases);
  const count = h("span", { class: "ls-which" }, `${why.number} choices`);
  const element = fold(ui, why.key, [text, count], cases);
  element.addEventListener("toggle", () => {
    if (element.open && !why.cases) act({ command: "unfold", key: why.key });
  });
  return element;
}

/** The choices that one reason refuses for the same values. Its code can be looked at. */
function drawCase(each, look) {
  const first = each.choices[0];
  const named = each.choices.filter((choice) => choice.label);
  return h(
    "div",
    { class: "ls-case" },
    named.map((choice) => h("span", { class: "ls-which" }, choice.label)),
    each.values ? h("code", { class: "ls-values" }, each.values) : null,
    first
      ? button(`look ${first.step}`, "code", () => look(first.step), { class: "ls-look", words: `Where the code of ${first.step} refuses` })
      : null,
  );
}

/** An action's name in words; the identifier is its tooltip. */
function drawName({ action, meaning }) {
  const text = inWords(action);
  const title = [action, meaning].filter(Boolean).join("\n");
  return h("span", { class: "ls-name", title }, text[0].toUpperCase() + text.slice(1));
}

/** An identifier in words: the field's abbreviations in capitals. */
const inWords = (name) => name.replaceAll("_", " ").replace(/\b(isr|elr|lac|lafr|kip)\b/g, (each) => each.toUpperCase());

function heading(text, count) {
  return h("h3", {}, text, " ", h("span", { class: "ls-count" }, String(count)));
}
