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
  const root = document.createElement("section");
  root.className = "lab-prediction";
  el.append(root);
  let typed = "";
  let revealed = false;
  let poll = null; // the answers by what they mean, each as first given and how often, while a room is polled
  let counted = false; // are the answers of the poll shown?

  function make(tag, attributes, ...content) {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...content);
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

  // --- The parts, made once: a part that is pressed keeps the focus ---

  const isRevealed = ({ settled, guess, told }) => !poll && settled && guess !== null && (revealed || told);

  function makeChoices({ choices }) {
    const group = make("div", { className: "lp-choices", role: "group", ariaLabel: "Your prediction" });
    for (const each of choices) group.append(make("button", { type: "button", onclick: () => press(each) }));
    return group;
  }

  /** A button that was settled stays where the focus is, and does nothing. */
  function press(guess) {
    if (poll ? !counted : !isRevealed(model.get("view"))) commit(guess);
  }

  function updateChoices(view) {
    const { choices, guess, right, because, answer } = view;
    const shows = isRevealed(view);
    choices.forEach((each, k) => {
      const button = answers.children[k];
      const isMine = each === guess && !poll;
      const isRight = shows && (right ?? -1) === k;
      const isWrong = shows && isMine && view.passed === false;
      const votes = poll && counted ? ` · ${poll.get(each.trim())?.votes ?? 0}` : "";
      const content = [make("span", { className: "lp-name" }, each + votes)];
      if (shows && isMine) content.push(make("small", {}, " · your guess"));
      if (isRight || isWrong) content.push(make("i", { ariaLabel: isRight ? "right" : "wrong" }, isRight ? "✓" : "✗"));
      const reason = answer?.startsWith(`${each}.`) ? answer.slice(each.length + 1).trim() : answer;
      const sentence = isRight ? reason : isWrong ? because : "";
      if (sentence) content.push(make("span", { className: "lp-why" }, sentence));
      button.replaceChildren(...content);
      button.className = isRight ? "lp-is-right" : isWrong ? "lp-is-wrong" : "";
      button.setAttribute("aria-pressed", String(isMine));
      button.setAttribute("aria-disabled", String(Boolean(poll ? counted : shows)));
    });
  }

  function makeField() {
    const form = make("form", { onsubmit: (event) => (event.preventDefault(), commit(typed)) });
    const field = make("input", {
      type: "text",
      ariaLabel: "Your prediction",
      oninput: () => (typed = field.value),
      // JupyterLab would take the keys for its own.
      onkeydown: (event) => event.shiftKey || event.stopPropagation(),
    });
    form.append(field, make("button", { type: "submit" }));
    return form;
  }

  function updateField(view) {
    const [field, button] = answers.children;
    const value = poll ? typed : typed || view.guess || "";
    if (field.value !== value) field.value = value;
    field.placeholder = poll ? "an answer" : "your prediction";
    field.disabled = button.disabled = Boolean(poll ? counted : isRevealed(view));
    button.textContent = poll ? "count" : view.guess === null ? "commit" : "change";
    if (poll && !counted) field.focus();
  }

  // --- The foot ---

  /** How many have answered; what they have answered once it is shown. */
  function drawPoll({ choices }) {
    const total = [...poll.values()].reduce((sum, each) => sum + each.votes, 0);
    verdict.replaceChildren(`${total} answer${total === 1 ? "" : "s"} `);
    if (counted && !choices.length) {
      const most = [...poll.values()].sort((one, other) => other.votes - one.votes);
      verdict.append(most.map(({ answer, votes }) => `${answer}: ${votes}`).join(", "), " ");
    }
    if (!counted) verdict.append(make("button", { className: "lp-count", onclick: () => change(true) }, "show them"), " ");
    verdict.append(make("button", { className: "lp-end", onclick: () => turn(null) }, "end the poll"));
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

  function drawVerdict(view) {
    const { choices, guess, settled, passed, right, answer } = view;
    const isMarked = choices.length > 0 && (right ?? null) !== null; // the choices say why
    if (guess === null) {
      verdict.replaceChildren(choices.length ? "Choose first. Nothing is graded." : "");
    } else if (!settled) {
      verdict.replaceChildren(`You predict: ${guess}. Now run the next cells.`);
    } else if (isRevealed(view)) {
      verdict.classList.add(passed ? "lp-right" : "lp-surprise");
      const surprise = `A surprise: you predicted ${guess}, the run says ${choices[right]}.`;
      verdict.replaceChildren(!isMarked ? (view.verdict ?? answer) : passed ? "You saw it coming." : surprise);
    } else {
      verdict.replaceChildren(`You predict: ${guess}. You can still change it.`);
    }
  }

  const opener = make("button", { className: "lp-poll", title: "For a presenter: count the answers of a room", onclick: () => turn(new Map()) }, "poll");
  const revealer = make("button", { className: "lp-reveal", onclick: reveal }, "Show what happens");
  const stepper = make("button", { className: "lp-step", onclick: stepIt }, "Step it →");
  const verdict = make("p", {});
  verdict.setAttribute("role", "status");
  const first = model.get("view");
  const answers = first.choices.length ? makeChoices(first) : makeField();
  const question = make("p", { className: "lp-question" });
  root.setAttribute("aria-label", "Predict");
  root.append(make("p", { className: "lp-kind" }, "Predict"), question, answers, make("div", { className: "lp-foot" }, verdict, opener, revealer, stepper));

  function reveal() {
    revealed = true;
    draw();
    answers.querySelector(".lp-is-right, .lp-is-wrong")?.focus({ preventScroll: true }); // for the button is gone
  }

  /** The stepper on which this can be seen: the one that comes before the next question. */
  function following() {
    const parts = [...document.querySelectorAll(".lab-prediction, .lab-stepper, .lab-page-stepper")];
    const next = parts[parts.indexOf(root) + 1];
    return next?.matches(".lab-prediction") ? null : next;
  }

  function stepIt() {
    const found = following();
    found?.scrollIntoView({ block: "start" });
    found?.querySelector(".ls-next")?.focus({ preventScroll: true });
  }

  /** Text in which `code` stands between backticks. */
  function drawQuestion(text) {
    const parts = text.replaceAll(/[*]{1,2}/g, "").split("`");
    question.replaceChildren(...parts.map((each, k) => (k % 2 ? make("code", {}, each) : each)));
    question.hidden = !text;
  }

  function draw() {
    const view = model.get("view");
    drawQuestion(view.question ?? "");
    root.classList.toggle("lp-polling", Boolean(poll));
    view.choices.length ? updateChoices(view) : updateField(view);
    verdict.className = "lp-verdict";
    poll ? drawPoll(view) : drawVerdict(view);
    opener.hidden = Boolean(poll);
    stepper.hidden = !isRevealed(view) || !following();
    revealer.hidden = Boolean(poll) || view.guess === null || !view.settled || isRevealed(view);
  }

  model.on("change:view", draw);
  draw();
  return () => model.off("change:view", draw);
}

export default { render };
