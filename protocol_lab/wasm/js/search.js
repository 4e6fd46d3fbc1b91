// Runs the search of a module that `search_module` has made; `description` is what it says of it.
// Memory: constants of the module, the stack, tables, the candidates, and the states at the end.

const STACK = 1 << 20, PAGE = 1 << 16, CANDIDATES = 1 << 14;

/** `asked` may have other `constants` of the same layout, `initial` states, and the names of the
 * `invariants` to judge, among those that were compiled. With `to_the_end` the search goes on after a
 * violation, and judges the other invariants. */
export function newSearch(module, description, { bytes = 300 << 20, ...asked } = {}) {
  const { words, names, constants, initial } = { ...description, ...asked };
  const row = 8 * words;
  const room = Math.max(CANDIDATES, initial.length + 2);
  const stack = align(description.heap) + STACK;
  let top = stack;
  const place = (size) => { const at = top; top = align(top + size); return at; };
  const control = place(8 * 64), judged = place(8 * 16), given = place(8 * constants.length);
  const result = place(8), fault = place(8), perAction = place(8 * (description.actions.length + 1));
  const out = place(row * room), parentOf = place(8 * room), actionOf = place(8 * room);
  const multiplicityOf = place(8 * room);
  // A state takes its row, its parent, and between two and four slots of the hash table.
  const most = Math.max(1, Math.floor((bytes - top) / (row + 8 + 32)));
  let slots = 1024;
  while (slots < 2 * most) slots *= 2;
  const table = place(8 * slots), parents = place(8 * most), rows = place(row * most);

  const pages = Math.ceil(top / PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const instance = new WebAssembly.Instance(module, {
    env: {
      __linear_memory: memory,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, stack),
      __indirect_function_table: new WebAssembly.Table({ initial: 64, element: "anyfunc" }),
    },
  });
  const numbers = new BigInt64Array(memory.buffer);
  const put = (at, position, number) => { numbers[at / 8 + position] = BigInt(number); };
  const get = (name) => Number(numbers[control / 8 + names[name]]);

  constants.forEach((each, k) => put(given, k, each));
  initial.forEach((each, k) => putRow(out + row * k, each));
  const values = {
    ROWS: rows, BEFORE: rows, CONSTANTS: given, OUT: out, PARENT_OF: parentOf,
    ACTION_OF: actionOf, MULTIPLICITY_OF: multiplicityOf, ROOM: room - 1, JUDGED: judged,
    WORDS: words, CAPACITY: most, SLOTS: table, MASK: slots - 1, PARENTS: parents,
    PER_ACTION: perAction, MADE: initial.length, ...description.bits,
  };
  if (asked.invariants) {
    values.INVARIANTS = bitsOf(description.properties, asked.invariants);
    values.STEP_INVARIANTS = bitsOf(description.step_properties, asked.invariants);
  }
  for (const name in values) put(control, names[name], values[name]);
  put(judged, names.ROWS, out);
  put(judged, names.BEFORE, rows);
  put(judged, names.CONSTANTS, given);

  let state = null, isInitial = true; // until all initial states are in the table
  const paths = {}; // to the first violation of each invariant, where the search goes on after one

  function putRow(at, hex) {
    const bytesOf = new Uint8Array(memory.buffer, at, row);
    for (let k = 0; k < row; k++) bytesOf[k] = parseInt(hex.slice(2 * k, 2 * k + 2), 16);
  }

  function hexAt(at) {
    const found = new Uint8Array(memory.buffer, at, row);
    return Array.from(found, (each) => each.toString(16).padStart(2, "0")).join("");
  }

  /** Expand some states; `to_the_end`: note what they violate, and go on. */
  function run(states) {
    for (;;) {
      const said = expand(states);
      if (said !== "VIOLATED" || !asked.to_the_end) return said;
      for (const name of violated()) paths[name] = pathToViolation();
      forgetViolation();
    }
  }

  function expand(states) {
    const status = instance.exports.search(result, fault, BigInt(control), BigInt(states));
    if (status !== 0) return "fault";
    const said = Number(numbers[result / 8]);
    for (const name of ["GOING_ON", "COMPLETE", "VIOLATED", "FULL", "TOO_MANY"])
      if (names[name] === said) return name;
    throw new Error(`search returned ${said}`);
  }

  function path(position) {
    const found = [];
    for (let at = position; at >= 0; at = Number(numbers[parents / 8 + at]))
      found.unshift(hexAt(rows + row * at));
    return found;
  }

  function violated() {
    return [...description.properties.filter((_, k) => bit("BROKEN", k)),
      ...description.step_properties.filter((_, k) => bit("BROKEN_STEP", k))];
  }

  function pathToViolation() {
    return [...(isInitial ? [] : path(get("DONE"))), hexAt(out + row * get("AT"))];
  }

  /** Judge what was violated no more. The state that was being expanded will be expanded anew, so what
   * was counted of it is taken back. */
  function forgetViolation() {
    for (const [broken, judged] of [["BROKEN", "INVARIANTS"], ["BROKEN_STEP", "STEP_INVARIANTS"]]) {
      numbers[control / 8 + names[judged]] &= ~numbers[control / 8 + names[broken]];
      put(control, names[broken], 0);
    }
    for (let k = 0; k <= get("AT"); k++) {
      const action = isInitial ? 0 : Number(numbers[actionOf / 8 + k]) + 1;
      numbers[perAction / 8 + action] -= isInitial ? 1n : numbers[multiplicityOf / 8 + k];
    }
    if (!isInitial && get("COUNT") > get("LEVEL_END")) put(control, names.DEPTH, get("DEPTH") - 1);
  }

  return {
    // Expand some thousand states; GOING_ON as long as there are more.
    step(states = 5000) {
      if (state === null) {
        state = run(0);
        if (state !== "GOING_ON") return state;
      }
      isInitial = false;
      if (state === "GOING_ON") state = run(states);
      return state;
    },
    // What is known: counts as TLC's, the expected situations not reached, and where it ended.
    told() {
      const counts = Array.from({ length: description.actions.length + 1 },
        (_, k) => Number(numbers[perAction / 8 + k]));
      const about = {
        state, distinct: get("COUNT"), depth: get("DEPTH"),
        generated: counts.reduce((sum, each) => sum + each, 0),
        per_action: { init: counts[0], ...Object.fromEntries(
          description.actions.map((name, k) => [name, counts[k + 1]])) },
        never_reached: description.properties.filter((_, k) => bit("UNMET", k)),
        violated: null, path: null, paths,
      };
      if (state === "fault") about.path = isInitial ? [] : path(get("DONE"));
      if (state !== "VIOLATED") return about;
      return { ...about, violated: violated()[0], path: pathToViolation() };
    },
  };

  function bit(name, k) {
    return (numbers[control / 8 + names[name]] >> BigInt(k)) & 1n;
  }
}

const bitsOf = (all, chosen) => all.reduce((bits, name, k) => (chosen.includes(name) ? bits | (1 << k) : bits), 0);

const align = (address) => (address + 15) & ~15;
