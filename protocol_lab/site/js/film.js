// A film: a scenario that plays by itself, as a picture with its captions, and stops at its end.

const PACE = 1700; // milliseconds a state

function playFilm(holder) {
  const session = sessionOf(holder);
  recordingOf(session.recording, `${FOLDER}recordings/`).then((recording) => {
    const source = new RecordedSource(recording, session);
    const from = source.walk.moment.depth;
    const picture = h("div", { class: "lab-film-picture" });
    const told = h("p", { class: "lab-film-told", "aria-live": "polite" });
    const dots = h("div", { class: "lab-film-dots", "aria-hidden": "true" });
    const again = h("button", { onclick: () => (player ? pause() : play()) }, "❚❚ pause");
    const root = h("section", { class: "lab-film-stage", "aria-label": "A committed record is lost" }, picture, told);
    root.append(h("div", { class: "lab-film-bar" }, again, dots));
    holder.replaceChildren(root);
    let player = null;

    function draw() {
      const view = source.get("view");
      const before = partsOf(picture.querySelector("svg"));
      picture.innerHTML = view.panel.svg; // the kit's own drawing
      moveParts(before, picture.querySelector("svg"));
      const broken = view.invariants.filter((each) => each.watched && !each.holds);
      root.classList.toggle("lab-film-alarm", broken.length > 0);
      told.replaceChildren(
        ...broken.map((each) => h("b", {}, `✗ ${each.name}: ${each.reason}`)),
        h("span", {}, view.caption.text),
      );
      const { depth, length } = view.timeline;
      dots.replaceChildren(
        ...Array.from({ length: length - from + 1 }, (_, k) =>
          h("span", { class: from + k === depth ? "lab-here" : from + k < depth ? "lab-past" : "" }),
        ),
      );
    }

    function pause() {
      clearInterval(player);
      player = null;
      const { depth, length } = source.get("view").timeline;
      again.textContent = depth === length ? "↻ again" : "▶ go on";
    }

    function play() {
      const { branch, depth, length } = source.get("view").timeline;
      if (depth === length) source.send({ command: "go_to", branch, depth: from });
      draw();
      again.textContent = "❚❚ pause";
      player = setInterval(() => {
        source.send({ command: "redo" });
        draw();
        const now = source.get("view").timeline;
        if (now.depth === now.length) pause();
      }, PACE);
    }

    play();
  });
}
