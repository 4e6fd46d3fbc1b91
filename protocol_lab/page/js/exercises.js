// Exercises in a page: a cell that the reader changes, checked by the page's Python. It has a worker of
// its own, since a check may take long, and is stopped by ending the worker.

const MOST_SECONDS = 180; // of a check

let checker = null;

const STOPPED = "You have stopped the check: nothing is known of your answer.";
const TOO_LONG = `Nothing is known of your answer: the check took more than ${MOST_SECONDS} seconds in the page. The kit takes seconds.`;

function showExercise(holder, newEngine) {
  const { needed, cell } = JSON.parse(holder.querySelector("script").textContent);
  const code = h("textarea", {
    class: "lab-answer", rows: cell.split("\n").length + 1, spellcheck: "false", "aria-label": "Your answer",
  });
  code.value = cell;
  const check = h("button", { onclick: () => void run() }, "Check");
  const stop = h("button", { hidden: true, onclick: () => end(STOPPED) }, "stop");
  const again = h("button", { onclick: () => (code.value = cell) }, "as it was");
  const told = h("div", { class: "lab-judgement", role: "status" });
  holder.replaceChildren(code, h("div", { class: "lab-search" }, check, again, stop), told);

  let giveUp = null;

  async function run() {
    busy(true, "The kit is starting in this page…");
    checker ??= newEngine();
    const mine = checker;
    try {
      await mine.start();
      if (mine !== checker) return;
      busy(true, "Checking on the plain engine, which takes longer than the kit's own…");
      giveUp = setTimeout(end, 1000 * MOST_SECONDS, TOO_LONG);
      draw(await mine.check({ needed, cell: code.value }));
    } catch (error) {
      busy(false, `The kit can't run in this page (${error.message}).`);
    }
  }

  function busy(is, text) {
    clearTimeout(giveUp);
    check.disabled = is;
    stop.hidden = !is;
    told.textContent = text;
    delete told.dataset.passed;
  }

  function end(why) {
    checker?.end();
    checker = null;
    busy(false, why);
  }

  function draw({ passed, verdict, text, steps, drawing }) {
    busy(false, "");
    told.dataset.passed = passed;
    const listed = steps.map((step, k) => `${String(k + 1).padStart(3)} ${step}`).join("\n");
    const picture = h("div", {});
    picture.innerHTML = drawing; // the kit's own drawing
    told.append(h("p", {}, h("b", {}, verdict), ` ${text}`), steps.length ? h("pre", {}, listed) : "", picture);
  }
}
