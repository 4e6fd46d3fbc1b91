// A page of the site: puts a stepper where the notebook has one, and keeps the walk in the address.

// The frames of a stepper's path, as protocol_lab/site/sessions.py has written them.

const framesLoaded = new Map(); // by name: { promise, resolve }

/** Called by the script with the frames, which a page opened from the disk can load, or has itself. */
globalThis.labReceive = (name, packed) => framesNamed(name).resolve(unpackedFrames(packed));

function framesNamed(name) {
  if (!framesLoaded.has(name)) framesLoaded.set(name, Promise.withResolvers());
  return framesLoaded.get(name);
}

/** A list of views, each with the pictures for all rooms; the script is loaded the first time. */
function framesOf(name) {
  if (!framesLoaded.has(name)) document.head.append(h("script", { src: `${FOLDER}frames/${name}.js` }));
  return framesNamed(name).promise;
}

async function unpackedFrames(packed) {
  const columns = Object.entries(JSON.parse(new TextDecoder().decode(await inflated(bytesOf(packed)))));
  return columns[0][1].map((_, k) => Object.fromEntries(columns.map(([part, values]) => [part, values[k]])));
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));

/** The bytes that were deflated; fails if there are more than `most`. */
async function inflated(bytes, most = Infinity) {
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  for (let size = 0, read = await plain.read(); !read.done; read = await plain.read()) {
    size += read.value.length;
    if (size > most) {
      plain.cancel();
      throw new RangeError(`more than ${most} bytes`);
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// A walk in the page's address, in the form of protocol_lab/traces/scenario_format.py; after it ~ and
// which of the page's steppers it is in.

const MOST_IN_A_LINK = 1_000_000; // bytes of text, as in scenario_format.py
const LINK = /lab1\.([\w-]+)(?:~(\d+))?/;

/** What a link is about: a spec's name, perhaps a challenge's, and the stepper's number; null if the
 * link is not whole. */
async function aboutLink(text) {
  try {
    const [, packed, number] = LINK.exec(text);
    const base64 = packed.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = await inflated(bytesOf(base64).slice(4), MOST_IN_A_LINK);
    const [header, next] = new TextDecoder().decode(bytes).split("\n");
    const spec = header.replace("# spec:", "").replaceAll('"', "").trim().split(/\s+/)[0];
    return { spec, challenge: /^# challenge: (\w+)$/.exec(next)?.[1] ?? null, number };
  } catch {
    return null;
  }
}

/** A button that puts an address on the clipboard, to be pasted into a chat or a slide. */
function linkButton(address) {
  const label = "Copy link";
  const copyIt = async () => {
    const isThere = await copied(address());
    if (!isThere) history.replaceState(null, "", address());
    button.textContent = isThere ? "Copied" : "Copy the address above";
    setTimeout(() => (button.textContent = label), 4000);
  };
  const title = "An address that opens this very step, in this page or in the kit (Tools, load…)";
  const button = h("button", { "data-key": "copy-link", "aria-live": "polite", title, onclick: copyIt }, label);
  return button;
}

// The page itself.

const FOLDER = (document.currentScript?.src ?? "").replace(/[^/]*$/, "");
const NEARBY = "900px"; // a stepper is made when it is so near to what is seen

const READING = 1500; // milliseconds for which a stepper is seen before the page's Python starts

const newEngine = () => new Engine(`${FOLDER}${ENGINE}`, WORKER);
const engine = ENGINE ? newEngine() : null; // one for all steppers

const sessionOf = (holder) => (holder.session ??= JSON.parse(holder.dataset.session));

/** Makes the stepper of a holder, once; its static drawing goes when it is there. */
function mount(holder) {
  holder.mounted ??= framesOf(sessionOf(holder).frames).then((frames) => {
    const key = [...document.querySelectorAll(".lab-page-stepper")].indexOf(holder);
    const source = new LiveSource(frames, sessionOf(holder), engine, String(key));
    if (engine) startWhenUsed(holder, source);
    holder.replaceChildren();
    render({ model: source, el: holder });
    makeRoomForChoices(holder);
    const link = linkButton(() => addressOf(source));
    holder.append(engine ? searchBar(source, link) : h("div", { class: "lab-search" }, link));
    source.on("change:view", () => {
      if (holder === used) keepInAddress(source);
      keepWon(source.get("view").challenge);
      globalThis.labRoom?.moved(source, addressOf(source), holder === used);
    });
    return source;
  });
  return holder.mounted;
}

/** On a phone the choices rise from the buttons as high as the stepper reaches: it comes to the top. */
function makeRoomForChoices(holder) {
  holder.addEventListener("click", ({ target }) => {
    if (target.closest("[data-key=sheet]")) holder.scrollIntoView({ block: "start" });
  });
}

/** Starts the page's Python once a stepper is touched, or has been looked at for a moment. */
function startWhenUsed(holder, source) {
  const start = () => void source.start().then(keepOffline);
  for (const event of ["pointerdown", "keydown", "focusin"]) holder.addEventListener(event, start, { once: true });
  if (navigator.connection?.saveData) return;
  let looking = null;
  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    clearTimeout(looking);
    if (isIntersecting) looking = setTimeout(start, READING);
  }, { threshold: 0.4 });
  seen.observe(holder);
}

/** Has the browser keep the whole site, if it comes from a server. */
function keepOffline() {
  if (!location.protocol.startsWith("http") || navigator.connection?.saveData) return;
  navigator.serviceWorker?.register(`${FOLDER}../offline.js`).catch((error) => console.info(`Not kept: ${error.message}`));
}

function keepWon(challenge) {
  if (!challenge?.solved || stored().challenges[challenge.name]?.points >= challenge.points) return;
  store(({ challenges }) => {
    challenges[challenge.name] = { title: challenge.title, points: challenge.points };
  });
}

let used = null; // the holder of the stepper that was touched last: not every browser gives it the focus
for (const event of ["pointerdown", "keydown"]) {
  addEventListener(event, ({ target }) => (used = target.closest?.(".lab-page-stepper") ?? null), true);
}

/** The address that opens a walk, or a lesson at a beat, in its stepper of this page. */
function addressOf(source) {
  const about = source.session.lesson ? `beat-${source.beat + 1}` : source.get("view").link;
  return `${location.href.split("#")[0]}#${about}~${source.key}`;
}

const BEAT_LINK = /^#beat-(\d+)(?:~(\d+))?$/;

let keeping = null;

function keepInAddress(source) {
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", addressOf(source)), 300);
}

/** Opens the walk in the page's address: in the stepper that it is from, or else the first of its
 * challenge or spec. A challenge opens on its own page. */
async function openAddress(holders) {
  const [, beat, key] = BEAT_LINK.exec(location.hash) ?? [];
  const lesson = beat && [holders[key], ...holders].find((each) => each && sessionOf(each).lesson);
  if (lesson) {
    const source = await mount(lesson);
    const at = Math.min(Math.max(beat - 1, 0), source.session.lesson.beats.length - 1);
    if (source.beat !== at) source.send({ command: "beat", at });
    return lesson.scrollIntoView({ block: "nearest" });
  }
  if (!LINK.test(location.hash)) return;
  const about = await aboutLink(location.hash);
  if (!about) return tellAbove("This link is incomplete or was changed: copy the whole link again.");
  const { spec, challenge, number } = about;
  const isIts = (each) => each && sessionOf(each).spec === spec && sessionOf(each).challenge === challenge;
  const its = [holders[number], ...holders].find(isIts);
  if (!its && Object.hasOwn(PLACES, challenge)) return location.replace(`${FOLDER}../${PLACES[challenge]}${location.hash}`);
  const holder = its ?? holders[0];
  if (!holder) return tellAbove(`The link's walk is about ${spec}, and this page has no stepper: the kit opens it.`);
  const source = await mount(holder);
  source.send({ command: "paste", text: location.hash });
  holder.scrollIntoView({ block: "center" });
}

function tellAbove(sentence) {
  const place = document.querySelector("main") ?? document.body;
  place.prepend(h("p", { class: "lab-told", role: "alert" }, sentence));
}

/** Plays a scenario in the stepper that stands in an element. */
async function play(element, scenario) {
  const holder = element.querySelector(".lab-page-stepper");
  holder.hidden = false;
  const source = await mount(holder);
  await source.start();
  source.send({ command: "paste", text: scenario });
}

function onceSeen(element, open, margin = "0px") {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    open(element);
  }, { rootMargin: margin });
  seen.observe(element);
}

/** An incident that a module of the kit plays, which stands in the address as far as it was played. */
function openIncident(holder) {
  const [, name, seed, keys] = /^#play:([\w-]+)~(\d+)~([\w.]*)$/.exec(location.hash) ?? [];
  const ask = async (wanted) => {
    await engine.start();
    keepOffline();
    return engine.askModule(holder.dataset.module, wanted);
  };
  const kept = (link) => history.replaceState(null, "", `${location.href.split("#")[0]}#play:${link}`);
  const notebooks = (path) => `${FOLDER}../notebooks/${path}.html`;
  holder.replaceChildren();
  const incident = playIncident(holder, { ask, kept, notebooks });
  incident.tell("The kit is starting in this page…");
  const wanted = { case: name ?? holder.dataset.first, seed: Number(seed ?? 0), keys: keys ? keys.split(".") : [] };
  void incident.start(wanted);
}

function begin() {
  const holders = [...document.querySelectorAll(".lab-page-stepper")];
  holders.forEach((each) => onceSeen(each, mount, NEARBY));
  document.querySelectorAll(".lab-film").forEach(playFilm);
  showQuestions();
  if (engine) {
    document.querySelectorAll(".lab-exercise").forEach((each) => showExercise(each, newEngine));
    document.querySelectorAll(".lab-incident-holder").forEach((each) => onceSeen(each, openIncident));
    document.querySelectorAll(".lab-files").forEach((each) => showDropZone(each, newEngine));
    document.querySelectorAll(".lab-asked-table").forEach((each) => askTable(each, engine, (scenario) => play(each, scenario)));
  }
  explainTerms();
  offerCopies();
  openAddress(holders);
  addEventListener("hashchange", () => openAddress(holders));
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
