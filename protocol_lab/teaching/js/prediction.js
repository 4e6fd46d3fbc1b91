// A prediction: choices to press or a field to type in; the committed guess; and on request, once the
// run has settled it, the fact. A presenter can poll a room with it: answers are counted, and the
// counts are shown when the presenter says so.

const NUMBER = /[-+]?(?:\d{1,3}(?:[, _']\d{3})+(?!\d)|\d+)(?:\.\d+)?/g;
const WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const TRUTH = { yes: "yes", true: "yes", y: "yes", no: "no", false: "no", n: "no" };
const AROUND = " .!?\"'`“”‘’";

/** What an answer of a poll means, by which answers are counted together: as protocol_lab/teaching/guesses.py
 * compares them, since no kernel may be there to ask. Nothing is rounded: there is no fact yet. */
function meaning(answer) {
  const plain = plainWords(answer);
  const truth = TRUTH[plainWords(answer.split(/[,;:.]/)[0])];
  if (truth) return truth;
  if (WORDS.includes(plain)) return WORDS.indexOf(plain);
  const found = answer.match(NUMBER) ?? [];
  return found.length === 1 ? Number(found[0].replace(/[, _']/g, "")) : plain;
}

function plainWords(text) {
  let words = [...text.replace(/[_-]/g, " ").toLowerCase()];
  while (AROUND.includes(words[0])) words.shift();
  while (AROUND.includes(words.at(-1))) words.pop();
  return words.join("").replace(/^the /, "").split(/\s+/).join(" ");
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "lab-prediction";
  el.append(root);
  let typed = "";
  let revealed = false;
  let poll = null; // the answers by what they mean, each as first given and how often, while a room is polled
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
    const meant = meantBy(guess.trim());
    const { answer, votes } = poll.get(meant) ?? { answer: guess.trim(), votes: 0 };
    poll.set(meant, { answer, votes: votes + 1 });
    typed = "";
    draw();
  }

  /** Of choices none means the same as another. */
  const meantBy = (guess) => (model.get("view").choices.length ? guess : meaning(guess));

  function drawChoices({ choices, guess }) {
    const group = make("div", { className: "lp-choices", role: "group", ariaLabel: "Your prediction" });
    for (const each of choices) {
      const votes = poll && counted ? ` · ${poll.get(each.trim())?.votes ?? 0}` : "";
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
    const total = [...poll.values()].reduce((sum, each) => sum + each.votes, 0);
    const place = make("p", { className: "lp-verdict" }, `${total} answer${total === 1 ? "" : "s"} `);
    place.setAttribute("role", "status");
    if (counted && !choices.length) {
      const most = [...poll.values()].sort((one, other) => other.votes - one.votes);
      place.append(most.map(({ answer, votes }) => `${answer}: ${votes}`).join(", "), " ");
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
