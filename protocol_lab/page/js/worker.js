// The page's Python, in a worker: starts pyodide from the files that the page hands over, and passes
// messages between the page and `kernel.py`. It asks no server for anything.

const TYPES = { wasm: "application/wasm", mjs: "text/javascript", zip: "application/zip", json: "application/json" };
const KIT = "/kit";

const tell = (kind, values) => postMessage({ kind, ...values });

async function inflated(packed) {
  const bytes = Uint8Array.from(atob(packed), (each) => each.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** Has pyodide find its files, wherever it asks for them. */
async function begin({ files }) {
  const contents = Object.fromEntries(
    await Promise.all(Object.entries(files).map(async ([name, packed]) => [name, await inflated(packed)])),
  );
  const typed = (name) => new Blob([contents[name]], { type: TYPES[name.split(".").pop()] });
  const nameIn = (address) => String(address.url ?? address).split("/").pop();
  globalThis.fetch = async (address) => new Response(typed(nameIn(address)));
  globalThis.importPacked = (address) => import(URL.createObjectURL(typed(nameIn(address))));
  // A page from the disk can't start a module as its worker, and pyodide refuses other workers, which it
  // tells by this function. Since it imports its parts as modules, which works in both, it runs here, too.
  globalThis.importScripts = () => {
    throw new Error("not used here");
  };
  const loader = new TextDecoder().decode(contents["pyodide.mjs"]).replace("await import(e)", "await importPacked(e)");
  const { loadPyodide } = await import(URL.createObjectURL(new Blob([loader], { type: TYPES.mjs })));
  const [started, viz] = await Promise.all([
    loadPyodide({ indexURL: "https://page.invalid/", stdout: console.log }),
    importPacked("viz.mjs").then(({ instance }) => instance()),
  ]);
  python = started;
  python.unpackArchive(contents["kit.zip"], "zip", { extractDir: KIT });
  python.runPython(`import sys; sys.path.insert(0, "${KIT}")
import tqdm; tqdm.tqdm.monitor_interval = 0  # it would be a thread, which a page has not`);
  const { Kernel } = python.pyimport("protocol_lab.page.kernel");
  const shown = (key, part, values) => tell("shown", { key, part, values: JSON.parse(values) });
  return Kernel(shown, (dot) => viz.renderString(dot, { format: "svg" }), search);
}

// --- Searches by WebAssembly ---

const SLICE = 30; // milliseconds of a search, between which other messages are answered
const TOLD_EVERY = 100;
const SMALL = 64 << 20; // bytes for a search that is bounded in time

const modules = new Map(); // by name: { promise, resolve } of the module and its description
const stopped = new Set(); // the keys of steppers whose search is to stop

function moduleNamed(name) {
  if (!modules.has(name)) {
    modules.set(name, Promise.withResolvers());
    tell("wanted", { name });
  }
  return modules.get(name).promise;
}

/** Searches as `page/searches.py` asks. `key`: the stepper that hears of the progress; "" for none. */
async function search(name, question, key) {
  const found = await moduleNamed(name);
  if (!found) return JSON.stringify({ state: "missing" });
  const { seconds, ...asked } = JSON.parse(question);
  if (seconds !== null) asked.bytes = SMALL;
  const searching = newSearch(found.module, found.made, asked);
  stopped.delete(key);
  const most = (seconds ?? Infinity) * 1000;
  let [taken, told] = [0, 0];
  for (;;) {
    const began = performance.now();
    let state;
    do state = searching.step(2000);
    while (state === "GOING_ON" && performance.now() - began < SLICE);
    taken += performance.now() - began;
    if (state !== "GOING_ON" || taken > most || stopped.has(key)) {
      return JSON.stringify({ ...searching.told(), seconds: taken / 1000 });
    }
    if (key && taken - told > TOLD_EVERY) {
      const { distinct, depth } = searching.told();
      tell("shown", { key, part: "search", values: { working: true, distinct, depth } });
      told = taken;
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
}

// --- Files that were dropped ---

const DROPPED = "/dropped";

/** Has a module of the kit read files. They are not copied: Python reads them where they are. */
async function read({ reader, files, options }) {
  const { FS } = python;
  const named = new Map();
  for (const { path, file } of files) {
    let name = path;
    while (named.has(name)) name += "~";
    named.set(name, file);
  }
  FS.mkdirTree(DROPPED);
  FS.mount(FS.filesystems.WORKERFS, { blobs: [...named].map(([name, data]) => ({ name, data })) }, DROPPED);
  for (const [name, { lastModified }] of named) FS.utime(`${DROPPED}/${name}`, lastModified, lastModified);
  try {
    const { answer } = python.pyimport(reader);
    return JSON.parse(answer(DROPPED, JSON.stringify(options), (done, all) => tell("reading", { done, all })));
  } finally {
    FS.unmount(DROPPED);
  }
}

/** Tells the page what a question comes to. */
const settle = (asked) =>
  asked.then(
    (answer) => tell("answered", { answer }),
    (error) => tell("broken", { text: String(error) }),
  );

let kernel = null; // a promise of it
let python = null;
const ASKED = {
  begin(message) {
    kernel = begin(message);
    kernel.then(() => tell("ready"), (error) => tell("broken", { text: String(error) }));
  },
  open: async ({ key, asked }) => (await kernel).open(key, JSON.stringify(asked)),
  async found({ name, made }) {
    const module = made && new WebAssembly.Module(await inflated(made.module));
    modules.get(name).resolve(made && { made, module });
  },
  async check({ asked }) {
    await kernel;
    const { checked } = python.pyimport("protocol_lab.page.exercise_cell");
    tell("answered", { answer: JSON.parse(checked(JSON.stringify(asked))) });
  },
  async ask({ module, question }) {
    await kernel;
    const { answer } = python.pyimport(module);
    await settle(answer(JSON.stringify(question), search).then(JSON.parse));
  },
  async read(message) {
    await kernel;
    await settle(read(message));
  },
  stop: ({ key }) => stopped.add(key),
  send: async ({ key, message }) => (await kernel).answer(key, JSON.stringify(message)),
};

onmessage = ({ data }) => ASKED[data.kind](data);
