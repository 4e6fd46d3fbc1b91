// The frames of a stepper's path, as protocol_lab/site/frames.py has written them.

const framesLoaded = new Map(); // by name: { promise, resolve }

/** Called by the script with the frames, which a page opened from the disk can load, or has itself. */
globalThis.labReceive = (name, packed) => framesNamed(name).resolve(unpackedFrames(packed));

function framesNamed(name) {
  if (!framesLoaded.has(name)) {
    const entry = {};
    entry.promise = new Promise((resolve) => (entry.resolve = resolve));
    framesLoaded.set(name, entry);
  }
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
