// A table whose rows a module of the kit answers in the page's Python: each change of the form asks for
// every row anew, and a press on a row asks for its story, which the stepper beside it plays. The choices
// stand in the address.

const ASKED = "#ask:";

/** holder: its form, rows and data-module; `play(scenario)` shows a story in the page's stepper. */
function askTable(holder, engine, play) {
  const form = holder.querySelector("form");
  const text = holder.querySelector("textarea");
  const told = holder.querySelector("[role=status]");
  const story = holder.querySelector("[data-part=story]");
  const rows = [...holder.querySelectorAll("tr[data-row]")];
  let latest = 0; // of the questions

  const chosen = () => Object.fromEntries(new FormData(form));
  const files = () => (text.value.trim() ? [["what you pasted", text.value]] : []);

  async function ask(more) {
    const answer = await engine.askModule(holder.dataset.module, { chosen: chosen(), files: files(), ...more });
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** Says what the page is waiting for; returns the number of the question. */
  function begin() {
    told.textContent = engine.isReady ? "Searching…" : "The kit is starting in this page…";
    return ++latest;
  }

  async function change() {
    const mine = begin();
    story.replaceChildren();
    rows.forEach((row) => (row.dataset.stale = ""));
    try {
      await engine.start();
      const settled = await ask({});
      choose(settled.chosen);
      for (const row of rows) {
        if (mine !== latest) return;
        draw(row, await ask({ row: row.dataset.row }));
      }
      if (mine !== latest) return;
      told.textContent = settled.told;
      history.replaceState(null, "", `${location.href.split("#")[0]}${ASKED}${new URLSearchParams(chosen())}`);
    } catch (error) {
      if (mine === latest) told.textContent = error.message;
    }
  }

  function draw(row, { text: line, verdict }) {
    const button = row.querySelector("button");
    button.textContent = line;
    button.dataset.verdict = verdict;
    delete row.dataset.stale;
  }

  async function press(row) {
    const mine = begin();
    try {
      await engine.start();
      const { html, scenario } = await ask({ row: row.dataset.row, story: true });
      if (mine !== latest) return;
      told.textContent = "";
      story.innerHTML = html; // the kit's own words
      if (scenario) await play(scenario);
      story.scrollIntoView({ block: "start" });
    } catch (error) {
      if (mine === latest) told.textContent = error.message;
    }
  }

  form.addEventListener("change", () => void change());
  text.addEventListener("change", () => void take());
  rows.forEach((row) => row.querySelector("button").addEventListener("click", () => void press(row)));

  /** What the pasted text says is shown as chosen; the rest stays. */
  async function take() {
    if (!text.value.trim()) return;
    told.textContent = "The kit is starting in this page…";
    try {
      await engine.start();
      const { chosen: said, told: words } = await ask({ chosen: {} });
      choose(said);
      text.value = "";
      await change();
      told.textContent = words;
    } catch (error) {
      told.textContent = error.message;
    }
  }

  function choose(said) {
    for (const [name, value] of Object.entries(said)) if (form.elements[name]) form.elements[name].value = value;
  }

  if (location.hash.startsWith(ASKED)) {
    choose(Object.fromEntries(new URLSearchParams(location.hash.slice(ASKED.length))));
    void change();
  }
}
