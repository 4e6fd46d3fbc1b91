// An incident to be played: a terminal, what can be done now, and at the end the rewind with the lights
// on. What it shows is a view that Python makes of a case, a seed and the commands that were given
// (real_systems/kafka/on_call/play.py); `ask({case, seed, keys})` is answered with the next one.

/** Shows an incident in an element; returns what shows another view. `kept(link)` keeps the address. */
function playIncident(el, { ask, kept = () => {}, notebooks = null }) {
  let view = null;
  let moment = 0;
  let shown = 0; // lines of the terminal
  let hands = null; // how many each choice has, while a room is polled
  let isCounting = false;
  let asked = ""; // the name of the question what to do now, in a room of learners

  const root = h("section", { class: "lab-question lab-incident", "aria-label": "On call", tabindex: "-1" });
  el.append(root);

  function go(keys, { name = view.case, seed = view.seed } = {}) {
    root.dataset.busy = "";
    tell(keys.at(-1) === "close" ? "The lights go on: looking for the best play…" : "…");
    return ask({ case: name, seed, keys });
  }

  function show(next) {
    delete root.dataset.busy;
    if (next.error) return tell(next.error);
    const isOther = !view || next.case !== view.case || next.seed !== view.seed || next.keys.length < view.keys.length;
    view = next;
    [hands, isCounting] = [null, false];
    moment = view.over ? view.rewind.moments.length - 1 : 0;
    if (isOther) shown = 0;
    kept(view.link);
    draw();
  }

  function tell(text) {
    const place = root.querySelector("[role=status]");
    if (place) place.textContent = text;
    else put(root, h("p", { class: "inc-told", role: "status" }, text));
  }

  function draw() {
    const terminal = root.querySelector(".inc-screen");
    const old = terminal?.scrollTop ?? 0;
    put(root, header(), h("div", { class: "inc-body" }, screen(), side()), view.over ? rewind() : null);
    const screenNow = root.querySelector(".inc-screen");
    screenNow.scrollTop = old;
    const first = screenNow.children[Math.min(shown, screenNow.children.length - 1)];
    const top = shown ? first.offsetTop - screenNow.clientHeight / 3 : 0;
    screenNow.scrollTo({ top });
    shown = view.screen.length;
  }

  function header() {
    const pick = h("select", {
      "aria-label": "Case", onchange: ({ target }) => void answerWith(go([], { name: target.value, seed: 0 })),
    }, view.cases.map(({ name, title }) => h("option", { value: name, selected: name === view.case }, title)));
    const lost = view.over ? view.rewind.lost : "?";
    return h("header", { class: "inc-head" },
      h("label", {}, h("b", {}, "On call: "), pick),
      h("span", { class: "inc-about" }, `${view.clock} · ${view.about}`),
      h("span", { class: "inc-score" },
        h("span", {}, `${view.of}: `, h("b", {}, `${view.offline} min`)),
        h("span", {}, "acknowledged and lost: ", h("b", {}, String(lost)))));
  }

  function screen() {
    const lines = view.screen.map(({ kind, text }, k) =>
      h("div", { class: `inc-${kind}${k >= shown && shown ? " inc-new" : ""}` }, text));
    return h("div", { class: "inc-screen", role: "log", "aria-label": "Terminal", tabindex: "0", "data-scroll": "screen" }, lines);
  }

  const answerWith = async (asked) => {
    try {
      const answer = await asked;
      if (answer) show(answer);
    } catch (error) {
      delete root.dataset.busy;
      tell(error.message);
    }
  };

  function choice({ key, text, more, minutes }) {
    const press = () => {
      if (isCounting) hands[key] = (hands[key] ?? 0) + !globalThis.labRoom;
      else void answerWith(go([...view.keys, key]));
    };
    const isCounted = hands && !isCounting && (key in hands || !globalThis.labRoom);
    const counted = isCounted ? ` · ${hands[key] ?? 0} ✋` : "";
    return h("button", { class: "inc-choice", "data-key": key, onclick: press },
      h("b", {}, text, counted), minutes ? h("i", {}, `${minutes} min`) : null, h("small", {}, more));
  }

  function side() {
    if (view.over) return result();
    return h("div", { class: "inc-side" },
      h("h3", {}, "What do you do now?"),
      h("p", { class: "inc-told", role: "status" }),
      view.choices.map(choice),
      h("h3", {}, "Look at something first"),
      view.looks.map(choice),
      h("div", { class: "inc-row" }, back(), poll()));
  }

  function back() {
    if (!view.keys.length) return null;
    return h("button", { class: "inc-plain", "data-key": "back", onclick: () => void answerWith(go(view.keys.slice(0, -1))) },
      "↶ Take the last one back");
  }

  /** For a presenter: a press counts a hand of the room, until the hands are shown. A room of learners
   * (protocol_lab/room) votes instead. */
  function poll() {
    const hear = ({ votes, said }) => {
      if (!isCounting || name !== asked) return;
      if (votes) hands = Object.fromEntries(votes.map((count, k) => [view.choices[k].key, count]));
      if (said) tell(said);
    };
    const name = (asked = `on call: ${view.case} ${view.seed} ${view.keys}`);
    const room = globalThis.labRoom?.question(name, `${view.clock}: what do you do now?`, view.choices.map((each) => each.text), { element: root, isOpen: () => false, hear });
    if (room?.leads === false) return null;
    const turn = () => {
      if (isCounting) room?.reveal();
      else room?.ask(true);
      if (!isCounting) hands = {};
      isCounting = !isCounting;
      draw();
      root.querySelector("[data-key=poll]").focus({ preventScroll: true });
    };
    return h("button", { class: "inc-plain", "data-key": "poll", title: "For a presenter: count the hands of a room", onclick: turn }, isCounting ? "show the hands" : "poll");
  }

  function result() {
    const { bad, yours, par, best, best_keys: keys, is_par: isPar, better, green, lesson, notebook, run } = view.rewind;
    return h("div", { class: "inc-side" },
      h("h3", { class: bad ? "inc-bad" : "inc-good" }, bad ? "✗ " : "✓ ", yours),
      bad && green ? h("p", {}, "All metrics are green.") : null,
      h("p", { class: "inc-told", role: "status" }),
      h("p", {}, h("b", {}, better ? "Better than par: " : isPar ? "That is par. " : "Par: "), isPar && !better ? "" : `${par}. `,
        "The best play found, on average over all that was possible for somebody who sees only what you saw: ", best.map((each, k) => [k ? ", " : "", h("b", {}, each)]), "."),
      h("p", {}, lesson),
      h("p", {}, notebooks ? h("a", { href: notebooks(notebook) }, "The lesson about it") : ["The lesson about it: ", h("code", {}, notebook)], run ? [". On real brokers: ", h("code", {}, `python3 lab.py real ${run}`)] : null),
      h("div", { class: "inc-row" },
        isPar ? null : h("button", { class: "inc-choice", "data-key": "best", onclick: () => void answerWith(go(keys)) }, "Show the best play"),
        h("button", { class: "inc-choice", "data-key": "again", onclick: () => void answerWith(go([])) }, "Play it again"),
        h("button", { class: "inc-choice", "data-key": "other", onclick: () => void answerWith(go([], { seed: 2 + Math.floor(Math.random() * 9998) })) }, "Another night")),
      back());
  }

  function rewind() {
    const { moments, first, ways } = view.rewind;
    const { time, text, line, rows } = moments[moment];
    const to = (place) => {
      moment = Math.max(0, Math.min(moments.length - 1, place));
      root.querySelector(".inc-rewind").replaceWith(rewind());
      root.querySelector(".inc-rewind input").focus({ preventScroll: true });
    };
    const boxes = (each) => each.boxes.map(({ text: name, there, gone, safe }) =>
      h("span", { class: `inc-box${there ? "" : gone ? " inc-gone" : " inc-none inc-soft"}` }, name, there ? (safe ? " ✓" : "") : gone ? " gone" : " never"));
    return h("div", { class: "inc-rewind" },
      h("h3", {}, "Rewind, with the lights on"),
      h("div", { class: "inc-row" },
        h("button", { class: "inc-choice", onclick: () => to(moment - 1), disabled: moment === 0 }, "Back"),
        h("input", {
          type: "range", min: 0, max: moments.length - 1, value: moment, "aria-label": "Moment",
          oninput: ({ target }) => to(Number(target.value)),
        }),
        h("button", { class: "inc-choice", onclick: () => to(moment + 1), disabled: moment === moments.length - 1 }, "Next")),
      h("p", {}, h("b", {}, `${time} `), text, line ? h("code", {}, ` ${line}`) : null),
      h("div", { class: "inc-table", role: "table" },
        h("div", { role: "row" }, ["", "what was true", "what you could know"].map((each) => h("span", { role: "columnheader" }, each))),
        rows.map((each) => h("div", { role: "row" },
          h("b", { role: "rowheader" }, `${each.broker} `, h("small", {}, each.role)),
          h("span", { role: "cell" }, boxes(each)),
          h("span", { role: "cell" }, each.known)))),
      first ? h("p", {}, h("b", {}, "The first line that told it: "), h("code", {}, first.line), ` ${first.text}`) : null,
      h("p", { class: "inc-soft" }, `✓: acknowledged. What you could know: of all states of the model that agree with what stood on your screen then; ${ways} when the page came.`));
  }

  return { show, tell, start: (wanted) => answerWith(ask(wanted)) };
}
