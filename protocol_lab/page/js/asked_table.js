// A table whose cells a module of the kit answers in the page's Python: each change of the form asks for
// every cell anew, those of the reader's own column first, then for what all of these come to. A press on a
// cell asks for its story, which the stepper below plays. The choices stand in the address.

/** holder: its id, form, cells and data-module; `play(scenario)` shows a story in the page's stepper. */
function askTable(holder, engine, play) {
  const address = `#${holder.id}:`; // and the choices
  const part = (name) => holder.querySelector(`[data-part=${name}]`);
  const form = holder.querySelector("form");
  const text = holder.querySelector("textarea");
  const told = holder.querySelector("[role=status]");
  const rows = [...holder.querySelectorAll("tr[data-row]")];
  let files = []; // each a name and its text, until what they say is chosen
  let latest = 0; // of the changes and presses
  let changes = 0; // a press does not end what a change asks for

  const chosen = () => Object.fromEntries(new FormData(form));
  const cellsOf = (row) => [...row.querySelectorAll("td[data-column]")];
  const isOwn = ({ dataset }) => "own" in dataset;

  async function ask(asked, more) {
    const question = { for: asked, chosen: chosen(), files: [], ...more };
    const answer = await engine.askModule(holder.dataset.module, question);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** Does what a change or a press asks for, unless another comes meanwhile. */
  async function during(job) {
    const mine = ++latest;
    told.textContent = engine.isReady ? "Searching…" : "The kit is starting in this page…";
    try {
      await engine.start();
      await job(() => mine === latest);
    } catch (error) {
      if (mine === latest) told.textContent = error.message;
    }
  }

  const change = () =>
    during(async (isLatest) => {
      const mine = ++changes;
      const isCurrent = () => mine === changes;
      const given = files;
      files = [];
      const settled = await ask("settings", given.length ? { chosen: {}, files: given } : {});
      if (!isCurrent()) return;
      choose(settled.chosen);
      for (const each of ["title", "story", "summary"]) part(each).replaceChildren();
      holder.querySelector(".lab-page-stepper").hidden = true;
      const cells = rows.flatMap(cellsOf);
      for (const each of [...cells, ...holder.querySelectorAll("thead [data-column]")])
        each.toggleAttribute("data-own", each.dataset.column === settled.column);
      cells.forEach((each) => (each.dataset.stale = ""));
      history.replaceState(null, "", `${location.href.split("#")[0]}${address}${new URLSearchParams(chosen())}`);
      for (const each of cells.filter(isOwn)) if (isCurrent()) await show(each);
      await sumUp(isCurrent);
      if (isLatest()) told.textContent = settled.told;
      for (const each of cells.filter((one) => !isOwn(one))) if (isCurrent()) await show(each);
    });

  async function show(cell) {
    const row = cell.closest("tr");
    const { text: line, more, verdict, price } = await ask("cell", placeOf(cell));
    const button = cell.querySelector("button");
    button.dataset.verdict = verdict;
    button.querySelector("b").textContent = line;
    button.querySelector("small").textContent = more;
    if (isOwn(cell)) row.querySelector("[data-part=price]").textContent = price;
    delete cell.dataset.stale;
  }

  const placeOf = (cell) => ({ row: cell.closest("tr").dataset.row, column: cell.dataset.column });

  /** The kit answers after some searches, so that another question does not wait for all of them. */
  async function sumUp(isCurrent) {
    let html = "";
    while (!html && isCurrent()) ({ html } = await ask("summary"));
    if (!isCurrent()) return;
    part("summary").innerHTML = html; // the kit's own words
    for (const each of part("summary").querySelectorAll("button")) {
      const row = rows.find(({ dataset }) => dataset.row === each.dataset.row);
      each.addEventListener("click", () => void press(cellsOf(row).find(isOwn)));
    }
  }

  const press = (cell) =>
    during(async (isLatest) => {
      const { title, html, scenario } = await ask("story", placeOf(cell));
      if (!isLatest()) return;
      told.textContent = "";
      part("title").textContent = title;
      part("story").innerHTML = html; // the kit's own words
      if (scenario) await play(scenario);
      else holder.querySelector(".lab-page-stepper").hidden = true;
      part("title").scrollIntoView({ block: "start" });
    });

  function take(some) {
    files = some;
    if (files.length) void change();
  }

  const read = async (some) => take(await Promise.all(some.map(async ({ path, file }) => [path, await file.text()])));

  form.addEventListener("change", () => void change());
  text.addEventListener("change", () => take(text.value.trim() ? [["what you pasted", text.value]] : []));
  for (const cell of rows.flatMap(cellsOf)) cell.querySelector("button").addEventListener("click", () => void press(cell));
  holder.querySelector("input[type=file]").addEventListener("change", ({ target }) => {
    void read([...target.files].map((file) => ({ path: file.name, file })));
    target.value = ""; // so that the same can be chosen again
  });
  letDrop(holder, async (files) => read(await files));

  function choose(said) {
    for (const select of form.querySelectorAll("select"))
      if ([...select.options].some(({ value }) => value === said[select.name])) select.value = said[select.name];
  }

  if (location.hash.startsWith(address)) {
    choose(Object.fromEntries(new URLSearchParams(location.hash.slice(address.length))));
    void change();
  }
}
