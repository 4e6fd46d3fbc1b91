// The card of a question: its choices, the answer in the place where it was asked, and a poll of a room.
//
// It is a plain script: whoever draws a question joins it, after dom.js, with its own, and has question_card.css.
//
//   const card = questionCard(host, { question, choices, choose, giveUp });
//   card.show({ chosen, right, why, because, failed });
//   card.tell("12,345 states, depth 6");
//
// host: the element that gets the card. question: a text with `code` and *emphasis*. choices: their texts.
// choose(k), giveUp(): called when choice k was pressed, or "I don't want to guess"; the card then waits, until
// show() is called with the answer: right is the number of the right choice (null while it is open), why the
// reason, because the sentence for who chose wrongly, chosen the number of the choice (null: given up or none yet),
// failed what went wrong instead. tell() says how far the run is while it lasts. card.element is the card,
// card.focus() moves the focus to its first choice.
// While a room is polled a press counts a hand, and choose() is not called; the presenter's button calls giveUp().
// Under its `name` a room of learners (protocol_lab/room) votes on the question: then its votes are what is counted.

/** The text's parts, with `code`, **strong** and *emphasis* as elements. */
function inline(text) {
  const looks = { "`": "code", "**": "strong", "*": "em" };
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part, k) => {
    if (k % 2 === 0) return part;
    const mark = part.startsWith("**") ? "**" : part[0];
    return h(looks[mark], {}, part.slice(mark.length, -mark.length));
  });
}

function questionCard(host, { name, question, choices, choose, giveUp }) {
  let state = { chosen: null, right: null, why: "", because: "", failed: "" };
  let waiting = null; // what was pressed: the number of a choice, or "given up"
  let line = ""; // how far the run is
  let votes = null; // how many hands each choice has, while a room is polled
  let room = null; // what a room of learners does with the question
  let shared = {}; // what it says of it

  const all = () => votes.reduce((sum, each) => sum + each, 0);
  const isAnswered = () => (state.right ?? null) !== null;

  // --- The parts, made once: a part that is pressed keeps the focus ---

  const id = `lq-${Math.random().toString(36).slice(2)}`;
  const buttons = choices.map((_, k) => h("button", { onclick: () => press(k) }));
  const verdict = h("p", { role: "status" });
  const skipper = h("button", { class: "lq-skip", onclick: skip }, "I don't want to guess");
  const opener = h("button", { class: "lq-poll", title: "For a presenter: count the hands of a room", onclick: () => turn(choices.map(() => 0)) }, "poll");
  const closer = h("button", { class: "lq-poll", onclick: () => turn(null) }, "end the poll");
  const shower = h("button", { class: "lq-show", onclick: reveal }, "Show what happens");
  const root = h(
    "section",
    { class: "lab-question", "aria-labelledby": id },
    h("p", { class: "lq-kind" }, "Predict"),
    h("p", { class: "lq-question", id }, inline(question)),
    h("div", { class: "lq-choices", role: "group", "aria-labelledby": id }, buttons),
    h("div", { class: "lq-foot" }, verdict, skipper, opener, closer, shower),
  );
  host.append(root);

  function press(k) {
    if (isAnswered() || waiting !== null) return;
    if (room?.takes(k)) return;
    if (votes && !room) {
      votes[k] += 1;
      return draw();
    }
    settle(k);
  }

  function settle(k) {
    if (k === null) return skip();
    waiting = k;
    draw();
    choose(k);
  }

  function skip() {
    if (isAnswered() || waiting !== null) return;
    waiting = "given up";
    draw();
    giveUp();
  }

  function reveal() {
    room?.reveal();
    skip();
  }

  function turn(counted) {
    room?.ask(Boolean(counted));
    votes = counted;
    draw();
    (counted ? closer : opener).focus({ preventScroll: true }); // for the button that was pressed is gone
  }

  // --- What is shown ---

  function drawChoice(button, k) {
    const isMine = k === (state.chosen ?? shared.mine);
    const isRight = isAnswered() && k === state.right;
    const isWrong = isAnswered() && isMine && !isRight;
    const counted = votes && (isAnswered() || shared.numbers) ? ` · ${votes[k]} of ${all()}` : null;
    const sentence = isRight ? state.why : isWrong ? state.because : "";
    put(
      button,
      h("span", { class: "lq-name" }, inline(choices[k]), counted),
      isAnswered() && isMine ? h("small", {}, " · your guess") : null,
      isRight || isWrong ? h("i", { role: "img", "aria-label": isRight ? "right" : "wrong" }, isRight ? "✓" : "✗") : null,
      sentence ? h("span", { class: "lq-why" }, inline(sentence)) : null,
    );
    button.className = isRight ? "lq-is-right" : isWrong ? "lq-is-wrong" : votes?.[k] ? "lq-voted" : "";
    button.setAttribute("aria-pressed", String(isMine || k === waiting));
    button.setAttribute("aria-disabled", String(isAnswered()));
  }

  function told() {
    if (waiting !== null) return line || "The run …";
    if (state.failed) return state.failed;
    if (shared.said && !isAnswered()) return shared.said;
    if (votes && isAnswered()) return `${votes[state.right]} of ${all()} saw it coming. The run says: ${choices[state.right]}.`;
    if (votes) return `${all()} ${all() === 1 ? "answer" : "answers"}`;
    if (!isAnswered()) return "Choose first. Nothing is graded.";
    if ((state.chosen ?? null) === null) return `The run says: ${choices[state.right]}.`;
    if (state.chosen === state.right) return "You saw it coming.";
    return `A surprise: you chose ${choices[state.chosen]}, the run says ${choices[state.right]}.`;
  }

  function draw() {
    const open = !isAnswered();
    buttons.forEach(drawChoice);
    root.classList.toggle("lq-polling", Boolean(votes));
    root.classList.toggle("lq-answered", !open);
    root.setAttribute("aria-busy", String(waiting !== null));
    verdict.className = `lq-verdict${!open && state.chosen === state.right ? " lq-saw" : ""}`;
    const text = told();
    if (verdict.textContent !== text) put(verdict, text);
    skipper.hidden = !open || Boolean(votes) || Boolean(shared.held);
    opener.hidden = !open || Boolean(votes) || room?.leads === false;
    shower.hidden = !open || !votes;
    closer.hidden = shower.hidden || shared.polled === false; // who leads everybody has begun no poll
  }

  function tell(sentence) {
    line = sentence;
    draw();
  }

  function show(now) {
    const focused = root.contains(document.activeElement) ? document.activeElement : null;
    state = { ...state, ...now };
    waiting = null;
    line = "";
    draw();
    if (focused?.hidden) buttons[state.right ?? 0].focus({ preventScroll: true });
  }

  draw();
  const isOpen = () => !isAnswered() && waiting === null;
  const hear = (now) => {
    shared = now;
    votes = now.votes;
    draw();
  };
  room = name ? (globalThis.labRoom?.question(name, question, choices, { element: root, isOpen, hear, settle }) ?? null) : null;
  return { element: root, show, tell, focus: () => buttons[0].focus() };
}
