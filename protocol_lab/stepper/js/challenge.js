// The challenge: its goal, and the steps so far against par, which open to the task and the hints.
// Once it is won, a banner says so; the learner's steps stand above what can happen.

function drawChallenge({ challenge }, ui, act) {
  if (!challenge) return [];
  if (challenge.solved) return drawBanner(challenge);
  const name = h("b", {}, `Challenge: ${challenge.title}`);
  const goal = h("span", { class: "ls-goal" }, challenge.goal);
  const hints = h("ol", { class: "ls-hints" }, challenge.hints.map((each) => h("li", {}, each)));
  const inside = [h("p", { class: "ls-task" }, challenge.task), challenge.hints.length ? hints : null];
  const hint = () => {
    ui.unfolded.add("challenge"); // that is where it is to be read
    act({ command: "hint" });
  };
  return [
    fold(ui, "challenge", [name, goal], [h("div", { class: "ls-unfolded" }, inside)], "ls-more"),
    h(
      "div",
      { class: "ls-score" },
      h("div", {}, h("p", { role: "status" }, soFar(challenge)), drawPar(challenge)),
      button("hint", "Hint (−1)", hint, { title: `${challenge.next_hint}: costs a point` }),
    ),
  ];
}

/** In one line, so that the picture keeps its place. */
function soFar({ steps, par, at_most: most }) {
  const course = par === null ? "par is being computed" : `par is ${par} · up to ${most} points`;
  return `${steps} ${steps === 1 ? "step" : "steps"} · ${course}`;
}

/** A segment for each step of a shortest way, filled by the steps so far. */
function drawPar({ steps, par }) {
  const segments = Array.from({ length: par ?? 0 }, (_, k) => h("i", { class: k < steps ? "ls-done" : "" }));
  return h("span", { class: "ls-par", "aria-hidden": "true" }, segments, steps > par ? h("small", {}, `+${steps - par}`) : null);
}

function drawBanner(challenge) {
  const { steps, par, points } = challenge;
  const did = challenge.goal.startsWith("Break") ? "broke it" : "did it";
  const way = par === null ? "" : steps === par ? "That is a shortest way: the search finds none below it." : `A shortest way has ${par}.`;
  const scored = points === null ? "" : `${points} of ${challenge.full_marks} points.`;
  return [
    s("svg", { class: "ls-tick", viewBox: "0 0 48 48", "aria-hidden": "true" }, s("circle", { cx: 24, cy: 24, r: 24 }), s("path", { d: "M13 25l8 8 15 -17" })),
    h(
      "div",
      { class: "ls-score", role: "status" },
      h("b", {}, `You ${did} in ${steps} ${steps === 1 ? "step" : "steps"}.`),
      h("p", {}, [way, scored].filter(Boolean).join(" ")),
    ),
  ];
}

/** What was won: the learner's steps in words, and what is next. */
function drawWin({ challenge }, act) {
  if (!challenge?.told) return [];
  const command = (key, look, label) => button(key, label, () => act({ command: key }), { class: look });
  return [
    h(
      "div",
      { class: "ls-win" },
      h("h3", {}, challenge.title),
      h("p", {}, `Your steps: ${challenge.steps}. Par: ${challenge.par}.`),
      drawPar(challenge),
      h("ol", {}, challenge.told.map((each) => h("li", {}, each))),
      challenge.next ? command("next_challenge", "ls-next", "Next challenge →") : null,
      command("shortest", "", "Beside a shortest way"),
    ),
  ];
}
