// Saves a walk in the page, so that it continues after its kernel, or its cell's output, is gone.

/** A view's walk as plain values, from which the kernel can restore it. */
function savedWalk({ origin, timeline, challenge }) {
  return { ...origin, timeline, hints: challenge?.hints };
}

/** Under what a walk is kept: the notebook, and what the stepper was opened with. */
function keyOf(place, { origin }) {
  const { spec, constants, init, scenario, challenge } = origin;
  return `walk ${place} ${JSON.stringify([spec, constants, init, scenario?.name, challenge])}`;
}

function keepWalk(place, view) {
  remember(keyOf(place, view), JSON.stringify(savedWalk(view)));
}

/** The walk that was kept for a stepper that has just begun, if it stands elsewhere. */
function keptWalk(place, view) {
  try {
    const kept = JSON.parse(recall(keyOf(place, view), "null"));
    const standing = ({ depth, length, lanes }) => `${depth} ${length} ${lanes.length}`;
    return kept && standing(kept.timeline) !== standing(view.timeline) ? kept : null;
  } catch {
    return null; // of another version
  }
}
