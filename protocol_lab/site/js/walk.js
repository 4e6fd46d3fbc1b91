// A walk through recorded states: steps, undo and redo, and branches kept side by side. It behaves
// as protocol_lab/traces/walk.py does.

class Sentence extends Error {} // for the reader

class RecordedWalk {
  constructor(recording, start) {
    const { init, to, moment } = start;
    this.recording = recording;
    this.init = init;
    this.start = { row: to, shown: moment, step: null, previous: null, caption: "", depth: 1 };
    this.moment = this.start;
    this.branch = "main";
    this.branches = new Map([["main", this.start]]);
  }

  pathTo(moment) {
    const path = [];
    for (let each = moment; each; each = each.previous) path.push(each);
    return path.reverse();
  }

  get path() {
    return this.pathTo(this.branches.get(this.branch));
  }

  get state() {
    return this.recording.state(this.moment.row);
  }

  get ahead() {
    return this.nextOn(this.branch);
  }

  after(moment, step, caption = "") {
    const choice = this.recording.choice(moment.row, step);
    if (!choice) {
      throw new Sentence(
        this.recording.state(moment.row) ? `${step} can't happen here.` : "Recorded up to here: in the kit it goes on.",
      );
    }
    const { to: row, moment: shown, meaning } = choice;
    return { row, shown, step, meaning, previous: moment, caption, depth: moment.depth + 1 };
  }

  take(step, caption = "") {
    const known = this.knownAfter(this.moment, step);
    if (known && this.moment === this.branches.get(this.branch)) {
      this.moment = known;
      this.branches.set(this.branch, known);
      return;
    }
    for (const name of new Set([this.branch, ...this.branches.keys()])) {
      const next = this.nextOn(name);
      if (next?.step === step) {
        this.branch = name;
        this.moment = next;
        return;
      }
    }
    const taken = this.after(this.moment, step, caption);
    if (this.ahead) this.branch = this.unusedName();
    this.moment = taken;
    this.branches.set(this.branch, taken);
  }

  undo() {
    this.moment = this.moment.previous ?? this.moment;
  }

  redo() {
    this.moment = this.ahead ?? this.moment;
  }

  first() {
    this.moment = this.start;
  }

  last() {
    this.moment = this.branches.get(this.branch);
  }

  goTo(depth) {
    const path = this.path;
    this.moment = path[Math.min(Math.max(depth, 1), path.length) - 1];
  }

  fork(name) {
    const chosen = name || this.unusedName();
    if (this.branches.has(chosen)) {
      throw new Sentence(`There is a branch '${chosen}' already; choose another name.`);
    }
    this.branches.set(chosen, this.moment);
    this.branch = chosen;
  }

  /** A new branch with these steps ahead of the current moment. */
  lay(name, steps) {
    let moment = this.moment;
    for (const step of steps) moment = this.knownAfter(moment, step) ?? this.after(moment, step);
    this.branches.set(name, moment);
    this.branch = name;
  }

  switchTo(name) {
    if (!this.branches.has(name)) throw new Sentence(`There is no branch '${name}'.`);
    this.branch = name;
    this.last();
  }

  newName(wanted) {
    let name = wanted;
    for (let k = 2; this.branches.has(name); k++) name = `${wanted} ${k}`;
    return name;
  }

  unusedName() {
    let k = 2;
    while (this.branches.has(`branch ${k}`)) k++;
    return `branch ${k}`;
  }

  nextOn(branch) {
    const path = this.pathTo(this.branches.get(branch));
    const at = path.indexOf(this.moment);
    return at < 0 ? null : (path[at + 1] ?? null);
  }

  knownAfter(moment, step) {
    for (const end of this.branches.values()) {
      const found = this.pathTo(end).find((each) => each.previous === moment && each.step === step);
      if (found) return found;
    }
    return null;
  }
}
