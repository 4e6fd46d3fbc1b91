// A stepper's source of views in a page. Until the page's Python is there the stepper's own path can
// be walked, in frames; then the Python takes over where the reader stands. It has the interface of
// the widget's model.

const PHONE = 660; // pixels of a window whose stepper is narrow
const LAPTOP = 560; // pixels of a picture's place
const SMALL = 790; // from there on the pictures for wider places fit at their own size
const LOW = 400; // pixels of its height
const STARTING = "The kit is starting in this page: in a few seconds it goes on.";

class LiveSource {
  /** `session`: as protocol_lab/site/sessions.py tells it; no engine: there are only the frames. */
  constructor(frames, session, engine, key) {
    Object.assign(this, { frames, session, engine, key, at: session.at });
    this.values = null; // by part, once the Python has answered
    this.wanted = []; // what the Python shall do first
    this.heard = new Map();
    this.answers = this.number = 0;
    this.starting = null;
    this.room = { width: innerWidth < PHONE ? 0 : LAPTOP };
    this.place = `${location.pathname} ${key}`;
    this.beat = 0;
    let first = 0; // the frames of a lesson's parts follow each other
    this.parts = (session.lesson?.lengths ?? [frames.length]).map((length) => ({ first, last: (first += length) - 1 }));
    this.draw("");
  }

  // --- The interface that the widget's model has, too ---

  get(part) {
    if (part === "lesson") return this.session.lesson ?? {};
    return this.values ? (this.values[part] ?? {}) : part === "view" ? this.view : {};
  }

  on(event, listener) {
    this.heard.set(listener, event);
  }

  off(event, listener) {
    this.heard.delete(listener);
  }

  send(message) {
    if (message.command === "room") this.room = message;
    if (message.command === "beat") this.beat = message.at;
    if (this.values) this.engine.send(this.key, message);
    else if (message.command === "print" && !this.engine) print(); // a deck has its pages on paper
    else if (message.command === "room") this.draw(this.view.notice);
    else if (message.command === "shown") this.draw("");
    else if (this.goes(message)) this.draw("", this.answers++);
    else {
      this.wanted.push(message);
      this.draw(STARTING);
      void this.start();
    }
  }

  tellListeners(part) {
    for (const [listener, event] of [...this.heard]) if (event === `change:${part}`) listener();
  }

  // --- The stepper's own path ---

  draw(notice) {
    const { panel, ...view } = this.frames[this.at];
    const { width, height, presenting } = this.room; // the height is not known at first
    const isLow = height < LOW;
    const shape = width < LAPTOP ? "narrow" : width < SMALL ? (isLow ? "small and low" : "small") : isLow ? "low" : "wide";
    this.number++;
    this.view = { ...view, beat: this.beat, panel: (presenting && panel.audience) || panel[shape], notice, answers: this.answers, number: this.number };
    this.tellListeners("view");
  }

  /** Goes where a command leads, if that is on the path. */
  goes({ command, step, branch, depth, at }) {
    const { timeline, part } = this.view;
    const { first, last } = this.parts[part ?? 0];
    const ahead = this.at < last && this.frames[this.at + 1].caption.step;
    const to = {
      undo: this.at - 1,
      redo: this.at + 1,
      first,
      last,
      go_to: branch === timeline.branch ? first + depth - 1 : null,
      take: step === ahead ? this.at + 1 : null,
      answered: this.at, // the lesson has the answer
    }[command];
    const beat = command === "beat" && this.session.lesson.beats[at];
    if (beat) this.at = this.parts[beat.part].first + beat.depth - 1;
    else if (to === undefined || to === null) return false;
    else this.at = Math.min(Math.max(to, first), last);
    return true;
  }

  // --- Taking over ---

  /** Starts the page's Python, if the walk can be taken there. The promise is kept at the change. */
  start() {
    this.starting ??= this.takeOver().catch((error) => {
      this.wanted = [];
      this.draw(error.message);
    });
    return this.starting;
  }

  async takeOver() {
    if (!this.engine) throw new Error("This page has the path only: the kit takes other steps.");
    if (!this.session.opens) throw new Error("This protocol was written in the notebook: the kit steps it.");
    await this.engine.start();
    const { branch, depth } = this.view.timeline;
    const { room } = this;
    const values = await this.opened();
    this.values = values; // and those who listen are told when the first answer is there
    const isBehind = this.at !== depth - 1;
    const there = this.session.lesson ? { command: "beat", at: this.beat } : { command: "go_to", branch, depth: this.at + 1 };
    const first = isBehind || this.session.lesson ? [there] : [];
    if (this.room !== room) first.unshift(this.room); // it was measured meanwhile
    for (const message of [...first, ...this.wanted, { command: "shown" }]) this.send(message);
  }

  /** The first parts of a stepper that stands where the reader does. */
  opened() {
    const { shortest, needed } = this.session;
    const { scenario } = this.view;
    const told = scenario && { name: scenario.name, description: [scenario.title] };
    const saved = { ...savedWalk(this.view), scenario: told };
    return new Promise((resolve, reject) => {
      const values = {};
      const asked = { saved, shortest, needed, room: this.room.height ? this.room : null };
      this.engine.open(this.key, asked, (part, shown) => {
        if (part === "failed") return reject(new Error(shown));
        values[part] = shown;
        if (this.values === values) this.tellListeners(part);
        else if (part === "view") resolve(values);
      });
    });
  }

  // --- The search of all states ---

  /** Begins it, if the page's Python is there; returns whether it is. */
  search() {
    if (this.values) this.send({ command: "search" });
    return this.values !== null;
  }

  stopSearching() {
    this.engine.stop(this.key);
  }
}

// "Search all states from here", below a stepper of a page: progress, stop, and the verdict.

/** `more`: what else stands there. */
function searchBar(source, ...more) {
  const go = h("button", { "data-key": "search-all", onclick: () => void begin() }, "Search all states from here");
  const stop = h("button", { "data-key": "search-stop", hidden: true, onclick: () => source.stopSearching() }, "stop");
  const told = h("span", { class: "lab-search-told", role: "status" });
  const bar = h("div", { class: "lab-search" }, go, stop, more, told);

  async function begin() {
    go.disabled = true;
    told.textContent = "The kit is starting in this page…";
    await source.start();
    if (source.search()) stop.hidden = false;
    else draw({ text: "This protocol was written in the notebook: the kit searches it." });
  }

  function draw({ working, verdict, text, distinct, depth }) {
    go.disabled = Boolean(working);
    stop.hidden = !working;
    bar.dataset.verdict = verdict ?? "";
    told.textContent = working ? `${distinct.toLocaleString("en")} states, depth ${depth}…` : text;
  }

  source.on("change:search", () => draw(source.get("search")));
  return bar;
}
