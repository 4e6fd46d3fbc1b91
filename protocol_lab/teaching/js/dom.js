// Creates elements. Text is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: h("button", { class: "x", onclick: f }, "text", child, ...). */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A button; by its `key` it is found again when all is drawn anew. words: what it does, where its label
 * does not say it. */
function button(key, label, onclick, { words, ...more } = {}) {
  return h("button", { "data-key": key, title: words, "aria-label": words, onclick, ...more }, label);
}

/** A list to choose from. options: values, or pairs of a value and its label. */
function select(key, options, chosen, more = {}) {
  const draw = ([value, label = value]) => h("option", { value, selected: value === chosen }, label);
  return h("select", { "data-key": key, ...more }, options.map((each) => draw([each].flat())));
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...contents(children));
  return element;
}

/** Puts these children in the place of what an element had. All scripts of widgets change their
 * contents through this or `h`: the browser's own functions would write a null out as a word. */
function put(element, ...children) {
  element.replaceChildren(...contents(children));
}

/** Elements, texts and numbers; what is null or undefined is left out, and all else is an error. */
function contents(children) {
  const present = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  const wrong = present.find((child) => !(child instanceof Node || typeof child === "string" || Number.isFinite(child)));
  if (wrong !== undefined) throw new TypeError(`${wrong} is not something to show`);
  return present;
}

/** Puts a text on the clipboard; returns whether that worked: browsers keep it from pages without https. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Keeps keyboard focus and scrolling where they are while `change` rebuilds parts of `root`. */
function keepingPlace(root, change) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  const scrolled = [...root.querySelectorAll("[data-scroll]")];
  const places = new Map(scrolled.map((each) => [each.dataset.scroll, [each.scrollLeft, each.scrollTop]]));
  change();
  for (const each of root.querySelectorAll("[data-scroll]")) {
    const place = places.get(each.dataset.scroll);
    if (place) [each.scrollLeft, each.scrollTop] = place;
  }
  if (focused && !root.contains(document.activeElement)) {
    const again = key ? root.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`) : null;
    (again?.checkVisibility() ? again : root).focus({ preventScroll: true }); // a choice may be gone from an answered question
  }
}
