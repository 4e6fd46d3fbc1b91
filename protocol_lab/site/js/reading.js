// The other parts of a page: questions, progress, explained terms, cells to copy.

// --- What the reader has done, in the browser's storage ---

const STORED = "lab-site";

function stored() {
  try {
    return { predictions: {}, pages: {}, challenges: {}, ...JSON.parse(localStorage.getItem(STORED) ?? "{}") };
  } catch {
    return { predictions: {}, pages: {}, challenges: {} }; // pages may be kept from storing
  }
}

function store(change) {
  const kept = stored();
  change(kept);
  try {
    localStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // It then lasts as long as the page.
  }
  drawDone();
}

function drawDone() {
  const kept = stored();
  const place = document.querySelector(".lab-progress");
  const pages = Object.entries(kept.pages).filter(([, each]) => each.predictions.length);
  if (!place || !pages.length) return;
  const row = ([, { title, address, predictions }]) => {
    const made = predictions.map((each) => kept.predictions[each]).filter(Boolean);
    const right = made.filter((each) => each.right).length;
    const text = `${made.length} of ${predictions.length} predictions${right ? `, ${right} right` : ""}`;
    const bar = h("progress", { value: made.length, max: predictions.length, "aria-hidden": "true" });
    return h("li", {}, bar, h("a", { href: address }, title), ` ${text}`);
  };
  const won = Object.values(kept.challenges).map((each) =>
    h("li", {}, `✓ ${each.title}: ${each.points === 1 ? "1 point" : `${each.points} points`}`),
  );
  place.replaceChildren(h("h2", {}, "Your progress"), h("ul", {}, pages.map(row), won));
}

// --- Questions ---

/** Makes the card of each question; what follows from its answer comes out of the fold into the card. */
function showQuestions() {
  const names = [];
  for (const holder of document.querySelectorAll(".lab-asked")) {
    const asked = JSON.parse(holder.querySelector("script").textContent);
    const { name, question, choices, whys, right, why } = asked;
    names.push(name);
    const then = h("div", { class: "lq-then" });
    const fold = holder.closest(".cell_output").querySelector("details");
    const [, , ...following] = fold.children; // after the summary and the answer
    then.append(...following);
    fold.remove();
    const answer = (chosen) => card.show({ chosen, right, why, because: whys[chosen] ?? "" });
    const choose = (k) => {
      store(({ predictions }) => {
        predictions[name] = { guess: choices[k], right: k === right };
      });
      answer(k);
    };
    holder.classList.add("lab-ask");
    holder.replaceChildren();
    const card = questionCard(holder, { name, question, choices, choose, giveUp: () => answer(null) });
    holder.append(then);
    const before = choices.indexOf(stored().predictions[name]?.guess ?? null);
    if (before >= 0) answer(before);
  }
  if (!names.length) return drawDone();
  const title = document.querySelector("h1")?.firstChild?.textContent ?? document.title;
  const address = location.href.split("#")[0];
  store(({ pages }) => {
    pages[names[0].split(" ")[0]] = { title, address, predictions: names };
  });
}

// --- Terms of the glossary ---

const SKIPPED = "code, pre, a, h1, h2, h3, script, button, .lab-page-stepper, .lab-film, .lab-term, svg, table";
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The glossary's sections for pages in a protocol's folder, its own last; others have Kafka's. */
const SECTIONS = { bookkeeper: ["bookkeeper"], pulsar: ["bookkeeper", "pulsar"], kraft: ["kafka", "kraft"] };

/** The terms that a page explains: one word means another thing in another protocol. */
function termsOfPage() {
  const [, own] = /(\w+?)(?:_spec)?\/[^/]*$/.exec(location.pathname) ?? [];
  const sections = ["model checking", ...(SECTIONS[own] ?? ["kafka"])];
  return Object.assign({}, ...sections.map((each) => globalThis.labGlossary?.[each]));
}

/** Explains the first place of each term on the page, on hover and on focus. */
function explainTerms() {
  const article = document.querySelector("article");
  if (!article || location.pathname.endsWith("glossary.html")) return;
  const left = new Map(Object.entries(termsOfPage()).map(([term, meaning]) => [term.toLowerCase(), meaning]));
  const longestFirst = [...left.keys()].sort((one, other) => other.length - one.length).map(escaped);
  const any = new RegExp(`(?<![\\w-])(${longestFirst.join("|")})(?:s|es)?(?![\\w-])`, "gi");
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.closest(SKIPPED) && node.parentElement.closest("p, li")) found.push(node);
  }
  for (const node of found) {
    for (const match of [...node.data.matchAll(any)].reverse()) {
      const meaning = left.get(match[1].toLowerCase());
      if (!meaning) continue;
      left.delete(match[1].toLowerCase());
      const word = node.splitText(match.index);
      word.splitText(match[0].length);
      const tip = h("span", { role: "tooltip", class: "lab-tip" }, meaning);
      const term = h("span", { class: "lab-term", tabindex: "0" }, word.data, tip);
      word.replaceWith(term);
    }
  }
}

// --- Cells to copy ---

function offerCopies() {
  for (const cell of document.querySelectorAll(".cell_input pre")) {
    const onclick = async ({ target }) => {
      if (await copied(cell.textContent)) target.textContent = "copied";
      else getSelection().selectAllChildren(cell);
    };
    cell.parentElement.append(h("button", { class: "lab-copy", "aria-label": "Copy this cell", onclick }, "copy"));
    cell.setAttribute("tabindex", "0"); // it scrolls, and must do so by keyboard
  }
}
