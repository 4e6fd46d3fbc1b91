// A question as a widget: what is pressed goes to the kernel, and its answer comes back.

function render({ model, el }) {
  const { question, choices } = model.get("view");
  const choose = (choice) => model.send({ command: "choose", choice });
  const card = questionCard(el, { question, choices, choose, giveUp: () => choose(null) });
  const show = (message) => (message?.progress === undefined ? card.show(model.get("view")) : card.tell(message.progress));
  model.on("msg:custom", show); // after each answer, also one that has changed nothing
  model.on("change:view", show);
  show();
  return () => {
    model.off("msg:custom", show);
    model.off("change:view", show);
  };
}

export default { render };
