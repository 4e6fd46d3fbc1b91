// A prediction: choices to press or a field to type in; what was committed; and on request, once the
// run has settled it, what is the case.

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "lab-prediction";
  el.append(root);
  let typed = "";
  let revealed = false;

  function make(tag, attributes, text = "") {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(text);
    return element;
  }

  function commit(guess) {
    if (guess.trim()) model.send({ command: "commit", guess });
  }

  function drawChoices({ choices, guess }) {
    const group = make("div", { className: "lp-choices", role: "group", ariaLabel: "Your prediction" });
    for (const each of choices) {
      const button = make("button", { onclick: () => commit(each) }, each);
      button.setAttribute("aria-pressed", String(each === guess));
      button.disabled = revealed;
      group.append(button);
    }
    return group;
  }

  function drawField({ guess }) {
    const form = make("form", { onsubmit: (event) => (event.preventDefault(), commit(typed)) });
    const field = make("input", {
      type: "text",
      value: typed || guess || "",
      disabled: revealed,
      placeholder: "your prediction",
      ariaLabel: "Your prediction",
      oninput: () => (typed = field.value),
      // JupyterLab would take the keys for its own.
      onkeydown: (event) => event.shiftKey || event.stopPropagation(),
    });
    form.append(field, make("button", { type: "submit", disabled: revealed }, guess === null ? "commit" : "change"));
    return form;
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
    root.replaceChildren(view.choices.length ? drawChoices(view) : drawField(view), drawVerdict(view));
  }

  model.on("change:view", draw);
  draw();
  return () => model.off("change:view", draw);
}

export default { render };
