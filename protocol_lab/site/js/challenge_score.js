// The score of a challenge that is played in a page, as in protocol_lab/teaching/challenges.py.

const counted = (number, what = "step") => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

class PlayedChallenge {
  constructor(told, aim) {
    Object.assign(this, { told, aim, hints: [] });
  }

  isMet(walk, moment) {
    const { recording } = walk;
    if (moment.previous) return recording.state(moment.previous.row).near[this.aim].by.includes(moment.step);
    return recording.state(moment.row).near[this.aim].met;
  }

  isOnCourse(walk, moment) {
    const taken = walk.pathTo(moment).slice(1).map((each) => each.step);
    return this.told.given_steps.every((step, k) => taken[k] === step);
  }

  /** After how many steps of its own the way to a moment first reaches the goal; null: never. */
  solvedAt(walk, end) {
    const given = this.told.given_steps.length;
    if (!this.isOnCourse(walk, end)) return null;
    const met = walk.pathTo(end).slice(1 + given).find((each) => this.isMet(walk, each));
    return met ? met.depth - 1 - given : null;
  }

  progress(walk) {
    const { par, shortest, written_hints: written, full_marks: marks } = this.told;
    const reached = [...walk.branches.values()].map((end) => this.solvedAt(walk, end)).filter((each) => each !== null);
    const met = reached.length > 0;
    const here = walk.moment.depth - 1 - this.told.given_steps.length;
    const steps = met ? Math.min(...reached) : Math.max(0, here);
    const after = met ? steps : steps + 1;
    const most = par === null ? null : Math.max(1, marks - Math.max(0, after - par) - this.hints.length);
    return {
      ...this.told,
      steps,
      solved: met && par !== null,
      points: met ? most : 0,
      at_most: most,
      hints: [...this.hints],
      next_hint: this.hints.length < written.length ? "a hint" : "the next step from here",
      text: this.text(met, steps, most),
      shortest: met ? shortest : null,
    };
  }

  text(met, steps, most) {
    const course = this.told.par === null ? "par is not recorded" : `par is ${this.told.par}`;
    const hints = this.hints.length ? `, ${counted(this.hints.length, "hint")} taken` : "";
    const points = most === null ? "" : counted(most, "point");
    if (!met) return `${counted(steps)} so far; ${course}${hints}.${points && ` Up to ${points}.`}`;
    return `Solved in ${counted(steps)}; ${course}${hints}${points && `: ${points}`}.`;
  }

  hint(walk) {
    const { written_hints: written } = this.told;
    this.hints.push(this.hints.length < written.length ? written[this.hints.length] : this.nextStep(walk));
  }

  nextStep(walk) {
    if (this.solvedAt(walk, walk.moment) !== null) return "The goal is reached already.";
    if (!this.isOnCourse(walk, walk.moment)) {
      return "The given steps are not on this branch: go back to where the challenge begins.";
    }
    const near = walk.state?.near[this.aim];
    const [step] = Object.entries(near?.after ?? {}).find(([, each]) => each.nearest) ?? [];
    if (step) return `On a shortest way from here, ${near.here} long, the next is ${step}`;
    return near?.here ? "The goal can't be reached from here: go back." : "No distances are recorded here.";
  }
}
