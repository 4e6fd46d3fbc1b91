// Files that the reader drops on a page, or chooses: a module of the kit reads them in the page's Python,
// and its words are shown. The files stay in the browser. It has a worker of its own, since reading may
// take long, and is cancelled by ending the worker.

/** Draws the zone in a holder. data-reader: the module; data-options: names of what can be asked. */
function showDropZone(holder, newEngine) {
  const options = holder.dataset.options.split(" ").map((name) => h("input", { name, size: 10, "aria-label": name }));
  const cancel = h("button", { hidden: true, onclick: () => end("Cancelled: there is no answer.") }, "Cancel");
  const bar = h("progress", { hidden: true, "aria-label": "Read so far" });
  const told = h("p", { role: "status" });
  const answer = h("pre", { tabindex: "0", hidden: true, "aria-label": "The answer" });
  const zone = h("div", { class: "lab-drop" },
    h("p", {}, h("b", {}, "Drop files, a folder or an archive here."), " They stay in this browser."),
    h("p", {}, ...chooser("Choose files", {}), " ", ...chooser("Choose a folder", { webkitdirectory: true })),
    h("p", {}, ...options.flatMap((each) => [h("label", {}, each.name, " ", each), " "])));
  holder.replaceChildren(zone, h("div", { class: "lab-search" }, bar, cancel), told, answer);
  let [reader, working] = [null, null]; // the page's Python, once it was wanted; and what it does

  letDrop(zone, run);

  function chooser(label, more) {
    const input = h("input", { type: "file", multiple: true, hidden: true, ...more });
    input.addEventListener("change", () => {
      void run([...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
      input.value = ""; // so that the same can be chosen again
    });
    return [h("button", { onclick: () => input.click() }, label), input];
  }

  async function run(found) {
    if (working) end("");
    const mine = (working = {});
    reader ??= newEngine();
    show("The kit is starting in this page…");
    try {
      const [files] = await Promise.all([found, reader.start()]);
      if (mine !== working) return;
      show("Reading…");
      const asked = Object.fromEntries(options.map(({ name, value }) => [name, value]));
      const given = await reader.read({ reader: holder.dataset.reader, files, options: asked }, ({ done, all }) => {
        Object.assign(bar, { max: all, value: done });
      });
      if (mine === working) draw(given);
    } catch (error) {
      if (mine === working) end(`These files can't be read in this page (${error.message}).`);
    }
  }

  function show(text) {
    for (const each of [cancel, bar]) each.hidden = !working;
    bar.removeAttribute("value");
    answer.hidden = true;
    told.textContent = text;
  }

  function end(text) {
    reader.end();
    reader = working = null;
    show(text);
  }

  function draw({ text, verdict }) {
    working = null;
    show("");
    answer.textContent = text;
    answer.dataset.verdict = verdict;
    answer.hidden = false;
  }
}

/** Has an element take files that are dropped on it: `take` gets the promise of them. */
function letDrop(element, take) {
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    element.addEventListener(kind, (event) => {
      event.preventDefault();
      element.classList.toggle("lab-over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") void take(dropped(event.dataTransfer));
    });
  }
}

/** The files in and below what was dropped, with their paths. */
async function dropped({ items }) {
  const files = [...items].filter(({ kind }) => kind === "file");
  // Chromium reads no entries in a page from the disk, and Firefox has no handles.
  const found = files.map((each) => each.getAsFileSystemHandle?.() ?? each.webkitGetAsEntry());
  return (await Promise.all(found.map(async (each) => filesBelow(await each, "")))).flat();
}

async function filesBelow(each, folder) {
  const path = folder + each.name;
  if (each.kind === "file") return [{ path, file: await each.getFile() }];
  if (each.isFile) return [{ path, file: await new Promise((resolve, reject) => each.file(resolve, reject)) }];
  const inside = each.values ? await Array.fromAsync(each.values()) : await entriesIn(each.createReader());
  return (await Promise.all(inside.map((one) => filesBelow(one, `${path}/`)))).flat();
}

/** All of a folder's entries: each call gives some of them. */
async function entriesIn(reader) {
  const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  return some.length ? [...some, ...(await entriesIn(reader))] : [];
}
