// Walks as text and as links, in the form of protocol_lab/traces/links.py.

const LINK = /lab1\.([\w-]+)/;

/** The walk so far as a scenario's text. */
function scenarioText({ about }, walk) {
  const name = about.spec.includes(" ") ? `"${about.spec}"` : about.spec;
  const captioned = (step, caption) => (caption ? `${step}    # ${caption.split(/\s+/).join(" ")}` : step);
  const steps = walk.pathTo(walk.moment).slice(1).map((each) => captioned(each.step, each.caption));
  const init = walk.init ?? (walk.start.caption ? "init()" : null);
  if (init) steps.unshift(captioned(init, walk.start.caption));
  const loops = walk.moment.loops_to ? [`!loops_to ${walk.moment.loops_to}`] : [];
  return [`# spec: ${name}  ${about.constants_text}`, ...steps, ...loops].join("\n") + "\n";
}

/** A scenario's header, start and steps with their captions. */
function parsedScenario(text) {
  const [header, ...lines] = text.split(/\r\n|\r|\n/);
  if (!header.startsWith("# spec:")) throw new Sentence("The first line must be `# spec: NAME  constant=value ...`.");
  const about = header.slice("# spec:".length).trim().replaceAll('"', "");
  let init = null;
  let caption = "";
  const steps = [];
  for (const line of lines) {
    const [code, ...comment] = line.split("#");
    const step = code.trim();
    if (!step || step.startsWith("!")) continue;
    const told = comment.join("#").trim();
    if (step.startsWith("init(")) {
      init = step === "init()" ? null : step;
      caption = told;
    } else {
      steps.push({ step, caption: told });
    }
  }
  return { about: about.split(/\s+/).join(" "), init, caption, steps };
}

async function linkOf(text) {
  const bytes = new TextEncoder().encode(text);
  const pressed = await streamed(bytes, new CompressionStream("deflate-raw"));
  const sum = crc32(bytes);
  const whole = [sum >>> 24, sum >>> 16, sum >>> 8, sum].map((each) => each & 255);
  const binary = [...whole, ...pressed].map((each) => String.fromCharCode(each)).join("");
  return `lab1.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The scenario's text in a link; whatever stands around the link does no harm. */
async function textOfLink(text) {
  const found = LINK.exec(text) ?? LINK.exec(text.replaceAll(/\s+/g, ""));
  const broken = new Sentence("This link is not whole: a part is missing or changed; copy all of it again.");
  if (!found) throw broken;
  try {
    const binary = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (each) => each.charCodeAt(0));
    const plain = await streamed(bytes.slice(4), new DecompressionStream("deflate-raw"));
    const sum = new DataView(bytes.buffer).getUint32(0);
    if (crc32(plain) !== sum) throw broken;
    return new TextDecoder().decode(plain);
  } catch {
    throw broken;
  }
}

function crc32(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
