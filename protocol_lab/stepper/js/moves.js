// Animates a step: the parts of a picture move from where the parts of the same name were before.

const EASING = "cubic-bezier(0.4, 0, 0.2, 1)";
const MOVE = { duration: 560, easing: EASING }; // a record, a message, the crown
const ARRIVING = { duration: 420, easing: EASING }; // a message that was on its way
const SENT = { ...MOVE, fill: "backwards" };
const ANSWERED = { ...SENT, delay: 300 }; // after the one that it answers
const FALLING = { duration: 620, easing: EASING };
const COMMIT = { duration: 360, delay: 560, easing: EASING, fill: "backwards" }; // once the record has landed
const LATE = { duration: 160, delay: 920, fill: "backwards" }; // what is promised, once the line has moved
const FROM_CLIENT = 160; // from how far to the right a client's record comes, where the clients stand
const FALL = 70; // how far a truncated record falls, in the picture's own pixels
const DROP = -14; // from where a new message comes
const BESIDE = 12; // what is seen beside a record to which a narrow field has scrolled

/**
 * The named parts of a picture that is shown, with their places; a name that stands twice has none.
 * A part stands where its first shape does: tags and labels come and go.
 */
function partsOf(picture) {
  const parts = new Map();
  for (const element of picture?.querySelectorAll(".lab-part") ?? []) {
    const { part } = element.dataset;
    const shape = element.querySelector("rect, line, path, circle") ?? element;
    parts.set(part, parts.has(part) ? null : { element, box: shape.getBBox() });
  }
  return parts;
}

/** Moves the parts of the new picture from where they were in the one before. */
function moveParts(before, picture) {
  if (!before.size || !picture || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const parts = partsOf(picture);
  const shift = columnsShift(before, parts);
  const arrived = [...before].filter(([name, then]) => then?.element.dataset.kind === "flight" && !parts.has(name));
  for (const [, then] of arrived) flyOn(then, picture);
  for (const [name, now] of parts) {
    const then = before.get(name);
    if (!now) continue;
    const { kind } = now.element.dataset;
    const stays = kind === "record" && then?.element.dataset.kind === kind; // at its offset
    if (kind === "gap" && then?.element.dataset.kind === "record") fall(then, now);
    else if (stays) continue;
    else if (then && then.element.dataset.kind === kind) slide(now, then.box, kind === "mark" ? shift : 0, kind === "mark" ? COMMIT : MOVE);
    else if (kind === "record") arrive(now, sourceOf(now, before)?.box, shift);
    else if (kind === "message" || kind === "badge") now.element.animate([{ opacity: 0, transform: `translate(0, ${DROP}px)` }, {}], MOVE);
    else if (kind === "flight") now.element.animate([{ opacity: 0, transform: wayOf(now, "from") }, { opacity: 1, offset: 0.25 }, {}], arrived.length ? ANSWERED : SENT);
  }
  const [line, then] = [parts.get("line"), before.get("line")];
  if (!line || !then || line.box.x - then.box.x - shift < 1) return;
  for (const each of picture.querySelectorAll(".lab-late")) each.animate([{ opacity: 0 }, {}], LATE);
}

/** Where a picture is wider than its field, scrolls to the first record that is new or marked. */
function revealChange(before, field) {
  if (!before.size || !field || field.scrollWidth <= field.clientWidth) return;
  const room = field.getBoundingClientRect();
  for (const [name, now] of partsOf(field.querySelector("svg"))) {
    const known = before.get(name)?.element.innerHTML ?? "";
    if (!/record|gap/.test(now?.element.dataset.kind) || now.element.innerHTML.length <= known.length) continue;
    const { left, right } = now.element.getBoundingClientRect();
    if (right > room.right) field.scrollLeft += right - room.right + BESIDE;
    else if (left < room.left) field.scrollLeft += left - room.left - BESIDE;
    return;
  }
}

/** The way of a message from its sender to its place, or from there to its receiver. */
function wayOf({ element }, which) {
  const [x, y] = element.dataset[which].split(" ");
  return `translate(${x}px, ${y}px)`;
}

/** A message that is not on its way any more arrives. */
function flyOn(then, picture) {
  const gone = then.element.cloneNode(true);
  gone.removeAttribute("data-part"); // it does not belong to this picture
  picture.append(gone);
  gone.animate([{}, { opacity: 1, offset: 0.6 }, { opacity: 0, transform: wayOf(then, "to") }], ARRIVING);
  setTimeout(() => gone.remove(), ARRIVING.duration);
}

/** How far the columns of the records have moved, as where longer names are beside them. */
function columnsShift(before, parts) {
  for (const [name, now] of parts) {
    const then = before.get(name);
    const kinds = [now, then].map((each) => each?.element.dataset.kind);
    if (kinds.every((kind) => kind === "record")) return now.box.x - then.box.x;
  }
  return 0;
}

/** A record comes from the log that it was copied from, or from a client. */
function arrive(now, from, shift) {
  if (from) slide(now, from, shift);
  else now.element.animate([{ opacity: 0, transform: `translate(${FROM_CLIENT}px, 0)` }, { opacity: 1, offset: 0.3 }, {}], MOVE);
}

function slide({ element, box }, from, shift = 0, how = MOVE) {
  if (!from) return;
  const [dx, dy] = [from.x + shift - box.x, from.y - box.y];
  if (Math.hypot(dx, dy) < 1) return;
  element.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "translate(0, 0)" }], how);
}

/** The equal record at the same offset of another node, from which a new one was fetched. */
function sourceOf(now, before) {
  const { same, lane } = now.element.dataset;
  return [...before.values()].find((each) => {
    const data = each?.element.dataset;
    return data?.kind === "record" && data.same === same && data.lane !== lane;
  });
}

/** The record that was there falls out of the log. */
function fall(then, now) {
  const gone = then.element.cloneNode(true);
  now.element.append(gone);
  gone.animate([{ opacity: 1 }, { opacity: 0, transform: `translate(0, ${FALL}px) rotate(4deg)` }], FALLING);
  gone.classList.add("lab-falling");
  setTimeout(() => gone.remove(), FALLING.duration);
}
