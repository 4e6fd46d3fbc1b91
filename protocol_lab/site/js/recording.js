// A recording: what the stepper shows of a model's states, unpacked when it is asked for.

const recordings = new Map(); // by name: { promise, resolve }

function awaited(name) {
  if (!recordings.has(name)) {
    const entry = {};
    entry.promise = new Promise((resolve) => (entry.resolve = resolve));
    recordings.set(name, entry);
  }
  return recordings.get(name);
}

/** Called by a recording's own script, which a page opened from the disk can load. */
globalThis.labReceive = (name, packed) => {
  awaited(name).resolve(unpacked(packed).then((table) => new Recording(table)));
};

/** The recording of this name; its script is loaded the first time. */
function recordingOf(name, folder) {
  if (!recordings.has(name)) {
    document.head.append(h("script", { src: `${folder}${name}.js` }));
  }
  return awaited(name).promise;
}

const streamed = async (bytes, through) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (each) => each.charCodeAt(0));
  const text = await streamed(bytes, new DecompressionStream("deflate-raw"));
  return JSON.parse(new TextDecoder().decode(text));
}

class Recording {
  constructor({ atoms, shapes, nodes, root }) {
    Object.assign(this, { atoms, shapes, nodes });
    this.values = new Array(nodes.length);
    const { about, starts, scenarios, states, plain } = this.parts(root);
    this.about = this.value(about);
    this.starts = this.value(starts);
    this.scenarios = this.value(scenarios);
    this.stateIds = this.numbers(states);
    this.plainIds = this.numbers(plain);
  }

  /** The numbers of a dict's values, by key; of a list's, in order. */
  parts(id) {
    const [shape, ...numbers] = this.nodes[id >> 1];
    return Object.fromEntries(this.shapes[shape - 1].map((key, k) => [key, numbers[k]]));
  }

  numbers(id) {
    return this.nodes[id >> 1].slice(1);
  }

  value(id) {
    if (id % 2 === 0) return this.atoms[id >> 1];
    const at = id >> 1;
    if (this.values[at] === undefined) {
      const [shape, ...numbers] = this.nodes[at];
      const values = numbers.map((each) => this.value(each));
      this.values[at] = shape
        ? Object.fromEntries(this.shapes[shape - 1].map((key, k) => [key, values[k]]))
        : values;
    }
    return this.values[at];
  }

  /** What can happen in a state and what can't; null where the recording ends. */
  state(number) {
    return this.value(this.stateIds[number]);
  }

  /** A state by itself: its picture without marks, and a line for each variable. */
  plain(number) {
    return this.value(this.plainIds[number]);
  }

  /** A choice of a state, by the text of its step. */
  choice(number, step) {
    const all = this.state(number)?.can.flatMap((each) =>
      each.choices.map((choice) => ({ ...choice, action: each.action, meaning: each.meaning })),
    );
    return all?.find((each) => each.step === step) ?? null;
  }
}
