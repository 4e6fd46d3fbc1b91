// Replaces the kernel in a page: it has the interface of the widget's model (get, on, off, send)
// and answers each command with a new view, made from recorded states.

const PHONE = 660; // pixels of a window, as in the style sheet
const LAPTOP = 560; // pixels of a picture's place
const SLIDE = /^slides? (\d+(?:-\d+)?):?\s*/;

class RecordedSource {
  /** `session`: what the stepper opens, see protocol_lab/site/sessions.py. */
  constructor(recording, session) {
    this.recording = recording;
    this.session = session;
    this.heard = new Map();
    this.tab = "cluster";
    this.number = this.answers = 0;
    this.graph = { svg: "" };
    this.depth = 0; // of the graph
    this.spoilers = false;
    this.compared = { left: "", right: "", at: 0 };
    this.earlier = null;
    this.shape = innerWidth < PHONE ? "narrow" : "wide";
    this.challenge = session.challenge ? new PlayedChallenge(session.challenge, session.aim) : null;
    this.begin(session.start, session.steps, session.start_caption);
    this.walk.goTo(session.depth);
    this.refresh();
  }

  // --- The interface that the widget's model has, too ---

  get(trait) {
    return this[trait];
  }

  on(event, listener) {
    this.heard.set(listener, event);
  }

  off(event, listener) {
    this.heard.delete(listener);
  }

  send(message) {
    if (message.command === "room") {
      this.fit(message.width);
      return;
    }
    this.notice = "";
    this.export = null;
    try {
      COMMANDS[message.command]?.(this, message);
    } catch (error) {
      this.fail(error);
    }
    this.answers++;
    this.refresh();
  }

  /** Shows the pictures that were recorded for a phone where most others would be cut off. */
  fit(width) {
    const shape = width < LAPTOP ? "narrow" : "wide";
    if (shape === this.shape) return;
    this.shape = shape;
    this.refresh();
  }

  /** It answers by itself: there is no kernel that could be busy, or end. */
  isThere() {
    return true;
  }

  isUnheard() {
    return false;
  }

  watch() {
    return () => {};
  }

  // --- What is shown ---

  fail(error) {
    if (!(error instanceof Sentence)) console.error(error);
    this.notice = error instanceof Sentence ? error.message : `That did not work (${error}).`;
  }

  refresh() {
    const { recording, session, walk } = this;
    const { about } = recording;
    const state = walk.state;
    this.number++;
    if (this.tab === "graph") this.graph = { number: this.number, ...graphOf(this, this.depth) };
    this.near = { number: this.number, working: false, ...this.distances(state) };
    this.view = {
      title: about.title,
      meaning: about.meaning,
      constants: about.constants,
      invariants: this.invariants(walk.moment),
      caption: this.caption(walk.moment),
      can: this.can(state),
      cannot: state?.cannot ?? [],
      timeline: this.timeline(),
      number: this.number,
      answers: this.answers,
      notice: this.notice ?? "",
      tab: this.tab,
      panel: PANELS[this.tab](this),
      tabs: Object.keys(PANELS),
      recorded: { ends: !state },
      spoilers: this.spoilers,
      aim: "",
      aims: [],
      scenario: this.scenario,
      scenarios: recording.scenarios.map(({ name, title }) => ({ name, title })),
      starts: recording.starts.map((each) => each.init).filter(Boolean),
      more_starts: false,
      challenge: this.challenge?.progress(walk) ?? null,
      earlier: this.earlier?.title ?? null,
      situations: [],
      example: "",
      formats: ["scenario", "link"],
      export: this.export ?? null,
    };
    for (const [listener, event] of [...this.heard]) {
      if (event === "change:view" || event === "change:near") listener();
    }
  }

  invariants({ shown }) {
    return shown.invariants.map((each) => ({ ...each, watched: this.session.watched.includes(each.name) }));
  }

  caption(moment) {
    const [slide, text] = splitCaption(captionText(this.recording, moment));
    return { slide, text, step: moment.step ?? "" };
  }

  can(state) {
    const ahead = this.walk.ahead?.step;
    const offered = ({ label, step }) => ({ label, step, ahead: step === ahead });
    return (state?.can ?? []).map((each) => ({ ...each, choices: each.choices.map(offered) }));
  }

  distances(state) {
    const found = state?.near[this.session.aim];
    if (found?.after) return found;
    return { here: "", notice: "The distances are not recorded here: the kit computes them.", after: {} };
  }

  timeline() {
    const { walk } = this;
    const laneOf = new Map();
    const [past, branch] = [new Set(walk.pathTo(walk.moment)), new Set(walk.path)];
    const lanes = [...walk.branches].map(([name, end], k) => {
      const path = walk.pathTo(end);
      const own = path.filter((each) => !laneOf.has(each));
      for (const each of own) laneOf.set(each, k);
      const depth = path.length - own.length;
      return {
        name,
        current: name === walk.branch,
        parent: depth ? laneOf.get(path[depth - 1]) : -1,
        depth,
        moments: own.map((each) => this.dot(each, past, branch)),
      };
    });
    return { lanes, branch: walk.branch, depth: walk.moment.depth, length: walk.path.length };
  }

  dot(moment, past, branch) {
    const elsewhere = past.has(moment) ? "past" : branch.has(moment) ? "ahead" : "aside";
    return {
      place: moment === this.walk.moment ? "here" : elsewhere,
      slide: splitCaption(moment.caption)[0],
      caption: moment.caption,
      step: moment.step ?? "the initial state",
      loops_to: moment.loops_to ?? null,
      going_on: moment.going_on ?? "",
      broken: this.invariants(moment).filter((each) => !each.holds && each.watched).map((each) => each.name),
    };
  }

  // --- Another walk ---

  /** A walk along these steps, standing at its start. */
  begin(init, steps, caption) {
    const start = this.recording.starts.find((each) => each.init === (init ?? null)) ?? this.recording.starts[0];
    const walk = new RecordedWalk(this.recording, start);
    walk.start.caption = caption ?? "";
    for (const { step, caption, loops_to, going_on } of steps) {
      walk.take(step, caption);
      Object.assign(walk.moment, { loops_to, going_on });
    }
    walk.first();
    if (this.walk) {
      this.earlier = { walk: this.walk, challenge: this.challenge, scenario: this.scenario };
      this.earlier.title = `${this.scenario?.title ?? this.recording.about.title}, ${counted(this.walk.path.length, "state")}`;
    }
    this.scenario = this.walk ? null : this.session.scenario;
    this.challenge = this.walk ? null : this.challenge;
    this.walk = walk;
  }

  /** Begins the walk of a scenario that comes with the spec. */
  load(name) {
    const { start, start_caption, steps, ...about } = this.recording.scenarios.find((each) => each.name === name);
    this.begin(start, steps, start_caption);
    this.scenario = about;
  }

  /** Lays the shortest way beside the reader's own, and opens the comparison. */
  layShortest() {
    const { challenge, walk } = this;
    const [name, mine, here] = ["the shortest way", walk.branch, walk.moment];
    if (!walk.branches.has(name)) {
      walk.goTo(1 + challenge.told.given_steps.length);
      walk.lay(name, challenge.told.shortest);
      Object.assign(walk, { branch: mine, moment: here });
    }
    this.tab = "compare";
    this.compared = { left: mine, right: name, at: 0 };
  }

  back() {
    if (!this.earlier) throw new Sentence("There is no earlier walk to go back to.");
    const { walk, challenge, scenario } = this.earlier;
    this.earlier = null;
    Object.assign(this, { walk, challenge, scenario });
  }

  /** Is this the model that a scenario's header names? */
  isAbout(about) {
    const { spec, constants_text } = this.recording.about;
    const sorted = (text) => text.split(" ").filter(Boolean).sort().join(" ");
    return sorted(about) === sorted(`${spec} ${constants_text}`);
  }

  /** Opens a scenario's text, standing at its end. */
  open(text) {
    const { about, init, caption, steps } = parsedScenario(text);
    if (!this.isAbout(about)) {
      throw new Sentence(`That walk is about ${about}, which is not recorded on this page: the kit opens it.`);
    }
    this.begin(init, steps, caption);
    this.walk.last();
  }

  async paste(text) {
    try {
      this.open(LINK.test(text) ? await textOfLink(text) : text);
    } catch (error) {
      this.fail(error);
    }
    this.refresh();
  }

  link() {
    return linkOf(scenarioText(this.recording, this.walk));
  }

  /** The page's address with the walk in it, into the clipboard. */
  async copyLink() {
    const address = `${location.href.split("#")[0]}#${await this.link()}`;
    try {
      await navigator.clipboard.writeText(address);
      this.notice = "The link is copied: it opens this walk here, and in the kit under “load…”.";
    } catch {
      this.notice = `Copy this link: ${address}`;
    }
    this.refresh();
  }

  async write(format) {
    const text = format === "link" ? await this.link() : scenarioText(this.recording, this.walk);
    this.export = { format, file: `walk.${format === "link" ? "link" : "txt"}`, text };
    this.refresh();
  }
}

const COMMANDS = {
  shown: () => {},
  take: ({ walk }, { step }) => walk.take(step),
  undo: ({ walk }) => walk.undo(),
  redo: ({ walk }) => walk.redo(),
  first: ({ walk }) => walk.first(),
  last: ({ walk }) => walk.last(),
  go_to: ({ walk }, { branch, depth }) => {
    if (branch !== walk.branch) walk.switchTo(branch);
    walk.goTo(depth);
  },
  fork: ({ walk }, { name }) => walk.fork(name.trim()),
  take_over: ({ walk }) => walk.fork(walk.newName("my way")),
  switch: ({ walk }, { branch }) => walk.switchTo(branch),
  restart: (source, { start }) => source.begin(start, []),
  load: (source, { name }) => source.load(name),
  back: (source) => source.back(),
  paste: (source, { text }) => void source.paste(text),
  export: (source, { format }) => void source.write(format),
  copy_link: (source) => void source.copyLink(),
  open: (source, { tab }) => (source.tab = tab),
  go_along: ({ walk }, { steps }) => steps.forEach((step) => walk.take(step)),
  choose: (source, { left, right, at, depth }) => {
    Object.assign(source.compared, definedOf({ left, right, at }));
    source.depth = depth ?? source.depth;
  },
  spoilers: (source, { shown }) => (source.spoilers = shown),
  hint: ({ challenge, walk }) => challenge.hint(walk),
  shortest: (source) => source.layShortest(),
};

const PANELS = {
  cluster: ({ walk, shape, recording: { about } }) => ({
    svg: walk.moment.shown.pictures[shape].join(""),
    notice: "",
    ...about.sizes[shape],
  }),
  sequence: (source) => ({ svg: sequenceSvg(source) }),
  state: ({ walk }) => ({
    base: "before",
    bases: [{ value: "before", label: "the state before" }],
    lines: walk.moment.shown.lines,
    tables: walk.moment.shown.tables,
  }),
  graph: ({ depth }) => ({ depth }),
  code: ({ walk }) => walk.moment.shown.code,
  invariants: (source) => ({ svg: invariantsSvg(source) }),
  compare: (source) => comparisonOf(source, source.compared),
};

const definedOf = (values) => Object.fromEntries(Object.entries(values).filter(([, each]) => each !== undefined));

function captionText({ about }, moment) {
  const happened = moment.caption || (moment.step === null ? about.beginning : moment.meaning || moment.step);
  return moment.going_on ? `${happened} ↻ ${moment.going_on}` : happened;
}

function splitCaption(caption) {
  const found = SLIDE.exec(caption);
  return found ? [found[1], caption.slice(found[0].length)] : ["", caption];
}
