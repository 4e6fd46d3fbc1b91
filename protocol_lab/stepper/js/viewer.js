// A drawing to look at closely: buttons, or the wheel with Ctrl, zoom it; dragging and scrolling move it.

const READABLE = 13; // pixels of the smallest type, unless the reader wants to see all of it
const ZOOM = 1.25;
const DRAGGED = 4; // pixels; less is a click

/** A scrolled place for a drawing, below what can be chosen about it. */
function drawViewer(name, ui, svg, ...options) {
  const zoom = (key, label, words, change) => {
    const press = () => zoomTo(field, ui, change(scaleOf(field)), key === "read" ? null : placeOfHere(field));
    return button(`zoom-${key}`, label, press, { words });
  };
  const field = h("div", { class: "ls-field", "data-scroll": name, tabindex: "0", "data-key": name }, svg);
  letDrag(field);
  pinHeads(field);
  field.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = field.getBoundingClientRect();
    const change = event.deltaY < 0 ? ZOOM : 1 / ZOOM;
    zoomTo(field, ui, scaleOf(field) * change, [event.clientX - box.left, event.clientY - box.top]);
  });
  return h(
    "div",
    { class: `ls-viewer ls-${name}` },
    h(
      "div",
      { class: "ls-options" },
      options,
      svg &&
        h(
          "span",
          { class: "ls-group ls-end" },
          zoom("out", "−", "Smaller", (scale) => scale / ZOOM),
          zoom("in", "+", "Larger", (scale) => scale * ZOOM),
          zoom("fit", "fit", "All of it", () => "fit"),
          zoom("read", "read", "As large as can be read", () => null),
        ),
    ),
    field,
  );
}

/** The scale below which the smallest type of a drawing can't be read. */
function readableScale(svg, least = READABLE) {
  const sizes = [...svg.querySelectorAll("text")].map((each) => parseFloat(each.getAttribute("font-size")) || 99);
  return least / Math.min(2 * least, ...sizes);
}

const ownSize = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
const scaleOf = (field) => {
  const svg = field.querySelector("svg");
  return svg ? svg.getBoundingClientRect().width / ownSize(svg)[0] : 1;
};

/** Gives the drawing its size: once it is on the page, where its room is known. */
function layDrawing(panel, ui) {
  const field = panel.querySelector(".ls-field");
  const svg = field?.querySelector("svg");
  if (!svg) return;
  const [width, height] = ownSize(svg);
  const [across, down] = [(field.clientWidth - 4) / width, (field.clientHeight - 4) / height];
  const readable = readableScale(svg);
  const chosen = ui.zoom === "fit" ? Math.min(across, down) : (ui.zoom ?? Math.max(readable, Math.min(across, 1.4)));
  svg.style.width = `${width * Math.min(Math.max(chosen, 0.1), 4)}px`;
  svg.style.maxWidth = "none";
  field.dispatchEvent(new Event("scroll")); // what is pinned depends on the scale
}

const HEADS = 46; // the height of the heads of lifelines with what is above them, in the drawing

/** Keeps the heads of a sequence's lifelines in view while the rest is scrolled. */
function pinHeads(field) {
  const svg = field.querySelector("svg");
  const heads = [...field.querySelectorAll("[data-part='head']")];
  if (!heads.length) return;
  const pinned = s("g", { class: "ls-pinned" }, s("rect", { width: ownSize(svg)[0], height: HEADS }), heads);
  svg.append(pinned);
  field.addEventListener("scroll", () => pinned.setAttribute("transform", `translate(0 ${field.scrollTop / scaleOf(field)})`));
}

/** Changes the scale. What lies at a place of the field stays there; without one, it is looked at
 * from the current state again. */
function zoomTo(field, ui, zoom, place) {
  const before = scaleOf(field);
  const [left, top] = [field.scrollLeft, field.scrollTop];
  ui.zoom = zoom;
  layDrawing(field.closest(".ls-panel"), ui);
  const factor = scaleOf(field) / before;
  const [x, y] = place ?? middleOf(field);
  field.scrollLeft = (left + x) * factor - x;
  field.scrollTop = (top + y) * factor - y;
  if (!place) scrollToHere(field);
}

const middleOf = (field) => [field.clientWidth / 2, field.clientHeight / 2];

/** Where the current state stands in the field; the field's middle if it is not in view. */
function placeOfHere(field) {
  const [room, box] = [field, field.querySelector(".lab-here")].map((each) => each?.getBoundingClientRect());
  if (!box) return middleOf(field);
  const place = [box.left + box.width / 2 - room.left, box.top + box.height / 2 - room.top];
  const isInView = place[0] > 0 && place[1] > 0 && place[0] < room.width && place[1] < room.height;
  return isInView ? place : middleOf(field);
}

function letDrag(field) {
  let from = null;
  let isDrag = false;
  field.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // which scrolls by itself
    from = { x: event.clientX, y: event.clientY, left: field.scrollLeft, top: field.scrollTop };
    isDrag = false;
  });
  field.addEventListener("pointermove", (event) => {
    if (!from || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (!isDrag && Math.hypot(dx, dy) < DRAGGED) return;
    isDrag = true;
    field.scrollLeft = from.left - dx;
    field.scrollTop = from.top - dy;
  });
  // The end of a drag is no click on what lies there.
  field.addEventListener("click", (event) => isDrag && event.stopPropagation(), true);
}

/** Scrolls to the state from which a graph leads on to the right: it stands left of the middle. */
function scrollToHere(field) {
  const part = field?.querySelector(".lab-here");
  if (!part) return;
  const [room, box] = [field.getBoundingClientRect(), part.getBoundingClientRect()];
  field.scrollLeft += box.left - room.left - room.width / 4;
  field.scrollTop += box.top - room.top - (room.height - box.height) / 2;
}

/** Scrolls so that a part of the drawing is seen, in the middle if it was not. */
function scrollTo(field, part) {
  if (!field || !part) return;
  const [room, box] = [field.getBoundingClientRect(), part.getBoundingClientRect()];
  const above = field.querySelector(".ls-pinned")?.getBoundingClientRect().height ?? 0;
  const isTall = box.height > room.height - above; // then its beginning is seen
  if (!isTall && (box.top < room.top + above || box.bottom > room.bottom)) field.scrollTop += box.top - room.top - (room.height - box.height) / 2;
  if (box.left < room.left || box.right > room.right) field.scrollLeft += box.left - room.left - (room.width - box.width) / 2;
}
