// The connection to the kernel. A restarted kernel does not know the stepper: on request it makes a
// new one from the walk that the page has saved, and the new one answers from then on.

const TRAITS = ["view", "near", "graph", "find", "reading", "lesson"];
const REVIVED = "__import__('protocol_lab.stepper.widget', fromlist=['revived']).revived";
const ENDED = ["restarting", "autorestarting", "terminating", "dead"];
const NO_KERNEL = "There is no kernel: start one (Kernel, Restart Kernel), then go on.";
const NOTHING_BEGUN = "The kernel can't begin a stepper: run this cell again.";

/** The widget's model as the stepper uses it: get, on, off, send; and what becomes of its kernel. A page
 * of the site has no kernel, and answers by itself: see protocol_lab/page/js/live.js. */
function answering(model) {
  let answers = model;
  const manager = model.widget_manager;
  const kernel = () => manager?.kernel ?? null;
  const ended = (status) => ENDED.includes(status);

  return {
    get: (trait) => model.get(trait),
    on: (event, heard) => model.on(event, heard),
    off: (event, heard) => model.off(event, heard),
    send: (message) => answers.send(message),
    place: model.place ?? manager?.context?.path ?? location.pathname,

    /** Has a message without an answer reached nobody? Not every page can say so. */
    isUnheard: () => Boolean(manager) && "kernel" in manager && (!kernel() || ended(kernel().status) || kernel().status === "idle"),

    /** Calls `lost` when the kernel ends; returns what stops that. */
    watch(lost) {
      const watched = kernel()?.statusChanged;
      const slot = (_, status) => ended(status) && lost();
      watched?.connect(slot);
      return () => watched?.disconnect(slot);
    },

    /** JupyterLab saves no widget that it takes for dead: this one is saved with what it shows. */
    async keepWithNotebook() {
      const own = await manager?.get_model?.(model.get("view").model);
      for (const each of [own, own?.get("layout")]) if (each) each.comm_live = true;
    },

    /** Begins another stepper in the kernel. Returns "" or a sentence that says why it can't. */
    async revive(saved) {
      if (!kernel()?.requestExecute) return NO_KERNEL;
      await kernel().requestKernelInfo(); // what is sent to one that is restarting may wait for ever
      const code = `${REVIVED}(${JSON.stringify(JSON.stringify(saved))})`;
      const request = { code: "", silent: true, store_history: false, user_expressions: { revived: code } };
      const { content } = await kernel().requestExecute(request).done;
      const told = content.user_expressions?.revived;
      if (told?.status !== "ok") return told?.evalue ?? NOTHING_BEGUN;
      answers = await manager.get_model(told.data["text/plain"].slice(1, -1));
      for (const trait of TRAITS) {
        // What the notebook saves is this model: it follows.
        answers.on(`change:${trait}`, () => model.set(trait, shown(answers, trait)));
      }
      model.set("view", shown(answers, "view"));
      return "";
    },
  };

  /** Another's trait as this model has it: with its own name. */
  function shown(other, trait) {
    const value = other.get(trait);
    return trait === "view" ? { ...value, model: model.get("view").model } : value;
  }
}

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
