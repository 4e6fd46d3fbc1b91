// The challenge: the goal and the score so far, which open to the task and the hints; and once it is
// met, that it is.

function drawChallenge({ challenge }, ui, act) {
  if (!challenge) return [];
  const command = (key, label) => h("button", { "data-key": key, onclick: () => act({ command: key }) }, label);
  const hint = h(
    "button",
    {
      "data-key": "hint",
      onclick: () => {
        ui.unfolded.add("challenge"); // that is where it is to be read
        act({ command: "hint" });
      },
    },
    `${challenge.next_hint} (costs a point)`,
  );
  const name = h("b", {}, `${challenge.solved ? "✓ " : ""}Challenge: ${challenge.title}`);
  const goal = h("span", { class: "ls-goal" }, challenge.goal.replace(/^./, (each) => each.toUpperCase()));
  const told = challenge.task;
  const inside = [
    h("p", { class: "ls-task" }, told),
    challenge.hints.length
      ? h("ol", { class: "ls-hints" }, challenge.hints.map((each) => h("li", {}, each)))
      : null,
  ];
  return [
    fold(ui, "challenge", [name, goal], [h("div", { class: "ls-unfolded" }, inside)], "ls-more"),
    h(
      "div",
      { class: "ls-score" },
      h("p", { role: "status", title: challenge.text }, challenge.text),
      challenge.solved ? command("shortest", "replay it beside the shortest way") : hint,
    ),
  ];
}
