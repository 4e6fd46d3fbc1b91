// Two branches of a walk side by side, as protocol_lab/diagrams/comparison.py has them.

/** What the Compare tab shows; `chosen` has the branches and the number of steps after they part. */
function comparisonOf({ recording, walk }, chosen) {
  const branches = [...walk.branches.keys()];
  const left = branches.includes(chosen.left) ? chosen.left : branches[0];
  const others = [chosen.right, walk.branch, ...branches.toReversed()].filter((name) => name !== left);
  const right = others.find((name) => branches.includes(name)) ?? left;
  const paths = [left, right].map((name) => walk.pathTo(walk.branches.get(name)));
  const fork = sharedBy(paths);
  const last = Math.max(...paths.map((each) => each.length)) - fork;
  const at = Math.max(0, Math.min(chosen.at, last));
  const here = paths.map((path) => path[Math.max(0, Math.min(fork + at, path.length) - 1)]);
  const [ours, theirs] = here.map((each) => recording.plain(each.row));
  return {
    branches,
    left,
    right,
    at,
    fork,
    last,
    equal: here[0].row === here[1].row,
    sides: here.map((moment, k) => ({
      name: [left, right][k],
      depth: moment.depth,
      caption: captionText(recording, moment),
      picture: [ours, theirs][k].picture.join(""),
    })),
    steps: alignedSteps(paths, Math.max(fork, 1)),
    differences: differencesOf(ours.lines, theirs.lines),
  };
}

/** How many states from the start on are the same, by the same steps. */
function sharedBy([one, other]) {
  const differ = one.findIndex((each, k) => each.row !== other[k]?.row || each.step !== other[k].step);
  return differ < 0 ? one.length : differ;
}

/** The steps of both sides beside each other, each with what the other side does instead. */
function alignedSteps(paths, first) {
  const side = (k, mine, others) => {
    if (k >= mine.length) return null;
    const text = mine[k].step;
    if (k < first) return { text, kind: "shared" };
    if (others[k]?.step === text) return { text, kind: "same" };
    return { text, kind: others.slice(first).some((each) => each.step === text) ? "elsewhere" : "only here" };
  };
  const [one, other] = paths;
  const length = Math.max(one.length, other.length);
  return Array.from({ length: length - 1 }, (_, k) => [side(k + 1, one, other), side(k + 1, other, one)]);
}

/** The variables in which two states differ: what they were on the left, and are on the right. */
function differencesOf(ours, theirs) {
  return theirs.flatMap(([name, text], k) => {
    const was = ours[k][1];
    return was === text ? [] : [{ name, value: [{ text, mark: "changed", was }] }];
  });
}
