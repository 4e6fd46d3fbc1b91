// The challenge: the task, the score so far, the hints, and what to do once it is met.

function drawChallenge({ challenge }, act) {
  if (!challenge) return [];
  const command = (key, label) => h("button", { "data-key": key, onclick: () => act({ command: key }) }, label);
  return [
    h(
      "div",
      { class: "ls-task" },
      h("p", {}, h("b", {}, `${challenge.solved ? "✓ " : ""}Challenge: ${challenge.title}`), ` (${challenge.goal})`),
      h("p", {}, challenge.task),
    ),
    h(
      "div",
      { class: "ls-score" },
      h("p", { role: "status" }, challenge.text),
      challenge.solved ? command("shortest", "replay it beside the shortest way") : null,
      challenge.solved ? null : command("hint", `${challenge.next_hint} (costs a point)`),
    ),
    challenge.hints.length
      ? h("ol", { class: "ls-hints" }, challenge.hints.map((each) => h("li", {}, each)))
      : null,
  ].filter(Boolean);
}
