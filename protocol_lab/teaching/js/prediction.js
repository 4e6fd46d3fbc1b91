// A prediction: choices to press or a field to type in; the committed guess; and on request, once the
// run has settled it, the fact. A presenter can poll a room with it: answers are counted, and the
// counts are shown when the presenter says so.

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "lab-prediction";
  el.append(root);
  let typed = "";
  let revealed = false;
  let poll = null; // how often each answer was given, while a room is polled
  let counted = false; // are the answers of the poll shown?

  function make(tag, attributes, text = "") {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(text);
    return element;
  }

  function commit(guess) {
    if (!guess.trim()) return;
    if (!poll) {
      model.send({ command: "commit", guess });
      return;
    }
    poll.set(guess.trim(), (poll.get(guess.trim()) ?? 0) + 1);
    typed = "";
    draw();
  }

  function drawChoices({ choices, guess }) {
    const group = make("div", { className: "lp-choices", role: "group", ariaLabel: "Your prediction" });
    for (const each of choices) {
      const votes = poll && counted ? ` · ${poll.get(each) ?? 0}` : "";
      const button = make("button", { onclick: () => commit(each) }, each + votes);
      button.setAttribute("aria-pressed", String(!poll && each === guess));
      button.disabled = poll ? counted : revealed;
      group.append(button);
    }
    return group;
  }

  function drawField({ guess }) {
    const form = make("form", { onsubmit: (event) => (event.preventDefault(), commit(typed)) });
    const field = make("input", {
      type: "text",
      value: poll ? typed : typed || guess || "",
      disabled: poll ? counted : revealed,
      placeholder: poll ? "an answer" : "your prediction",
      ariaLabel: "Your prediction",
      oninput: () => (typed = field.value),
      // JupyterLab would take the keys for its own.
      onkeydown: (event) => event.shiftKey || event.stopPropagation(),
    });
    const label = poll ? "count" : guess === null ? "commit" : "change";
    form.append(field, make("button", { type: "submit", disabled: field.disabled }, label));
    return form;
  }

  /** How many have answered; what they have answered once it is shown. */
  function drawPoll({ choices }) {
    const total = [...poll.values()].reduce((sum, each) => sum + each, 0);
    const place = make("p", { className: "lp-verdict" }, `${total} answer${total === 1 ? "" : "s"} `);
    place.setAttribute("role", "status");
    if (counted && !choices.length) {
      const most = [...poll].sort((one, other) => other[1] - one[1]);
      place.append(most.map(([answer, votes]) => `${answer}: ${votes}`).join(", "), " ");
    }
    if (!counted) place.append(make("button", { className: "lp-count", onclick: () => change(true) }, "show them"), " ");
    place.append(make("button", { className: "lp-end", onclick: () => turn(null) }, "end the poll"));
    return place;
  }

  function change(shown) {
    counted = shown;
    draw();
  }

  function turn(votes) {
    poll = votes;
    typed = "";
    change(false);
  }

  function drawPollOpener() {
    const attributes = { className: "lp-poll", title: "For a presenter: count the answers of a room", onclick: () => turn(new Map()) };
    return make("button", attributes, "poll");
  }

  function drawVerdict({ guess, settled, told, passed, verdict }) {
    const place = make("p", { className: "lp-verdict" });
    place.setAttribute("role", "status");
    if (guess === null) return place;
    if (!settled) {
      place.append(`You predict: ${guess}. Now run the next cells.`);
    } else if (told) {
      place.append(`You predicted: ${guess}.`);
    } else if (revealed) {
      place.classList.add(passed ? "lp-right" : "lp-surprise");
      place.append(verdict);
    } else {
      place.append(`You predict: ${guess}. `, make("button", { className: "lp-reveal", onclick: reveal }, "reveal"));
    }
    return place;
  }

  function reveal() {
    revealed = true;
    draw();
  }

  function draw() {
    const view = model.get("view");
    const answers = view.choices.length ? drawChoices(view) : drawField(view);
    root.replaceChildren(answers, ...(poll ? [drawPoll(view)] : [drawVerdict(view), drawPollOpener()]));
    if (poll && !view.choices.length && !counted) root.querySelector("input").focus();
  }

  model.on("change:view", draw);
  draw();
  return () => model.off("change:view", draw);
}

export default { render };
