// A room of learners, in each of its pages. protocol_lab/room/room_server.py adds this script; the
// site's own scripts call globalThis.labRoom where it is. What is shown is text, never HTML.

(() => {
  "use strict";
  const STYLE = `
.lab-room { position: sticky; top: 0; z-index: 1030; padding: 6px 12px; background: #17202b; color: #edf2f7; font: 15px/1.4 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
.lab-room :is(.lr-bar, li) { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 4px 0 }
.lab-room .lr-state { margin-right: auto; font-weight: 650 }
.lab-room :is(button, input, a) { padding: 5px 11px; border: 1px solid #7b8b9c; border-radius: 8px; background: #243140; color: inherit; font: inherit; text-decoration: none }
.lab-room input { width: 12em }
.lab-room [aria-pressed="true"] { border-color: #9cc3ff; background: #1a5cc0 }
.lab-room .lr-stuck { border-color: #ffb454; color: #ffd08a }
.lab-room ul { margin: 8px 0; padding: 0 }
.lab-room big { font-size: 40px; font-weight: 700 }
.lab-room img { display: block; width: 300px; background: #fff }
.lab-cloud { pointer-events: none; fill: #1a5cc0 }
.lab-cloud circle { opacity: 0.6 }
.lab-cloud text { fill: #0b2f66; stroke: #fff; stroke-width: 3px; paint-order: stroke; font: 700 15px system-ui, sans-serif }
@media print { .lab-room { display: none } }`;
  const STUCK = 180; // seconds at the same place
  const IN_FLIGHT = 20; // messages that are not acknowledged yet
  const KEPT = /^(vote|won) /; // messages that wait for a connection, also on the next page

  /** What the browser keeps; a page may be kept from storing: then it lasts as long as the page. */
  function kept(storage, name, value) {
    try {
      if (value !== undefined) storage().setItem(`lab-room-${name}`, value);
      return storage().getItem(`lab-room-${name}`) ?? "";
    } catch {
      return value ?? "";
    }
  }
  const [browser, tab] = [() => localStorage, () => sessionStorage];
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

  function make(name, attributes = {}, ...content) {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...content);
    return element;
  }

  // The key leaves the address at once: a projector shows it.
  const [, given] = /^#([\w-]{22})$/.exec(location.hash) ?? [];
  if (given) history.replaceState(null, "", location.pathname);
  const key = kept(tab, "key", given);
  const leads = Boolean(key);
  const page = decodeURI(location.pathname).replace(/\/$/, "/index.html");

  let view = { asked: [], revealed: {}, mine: {}, people: [], stand: {} };
  const isIn = () => view.me !== undefined;
  const hasKeys = () => (leads ? view.keys === null : view.keys === view.me);
  const isHeld = (name) => (view.follow || view.asked.includes(name)) && !(name in view.revealed);

  // --- The connection: messages stay in the outbox until the room has them on its disk ---

  let socket, delay, trouble;
  let number = 0;
  const outbox = new Map(); // by what they are about: a newer message replaces an older one
  if (!leads) for (const [about, message] of JSON.parse(kept(browser, "outbox") || "[]")) outbox.set(about, { message });

  function send(message) {
    outbox.set([message.kind, message.question ?? message.challenge].join(" "), { message });
    flush();
  }

  function flush() {
    const waiting = [...outbox].filter(([about]) => KEPT.test(about)).map(([about, { message }]) => [about, message]);
    if (!leads) kept(browser, "outbox", JSON.stringify(waiting));
    if (!isIn() || socket.readyState !== WebSocket.OPEN) return;
    let free = IN_FLIGHT - [...outbox.values()].filter((each) => each.sent).length;
    for (const each of outbox.values()) {
      if (each.sent || free-- <= 0) continue;
      each.sent = ++number;
      socket.send(JSON.stringify({ ...each.message, n: number }));
    }
  }

  function connect() {
    socket = new WebSocket(`ws://${location.host}/socket`);
    const who = leads ? { key } : { secret: kept(browser, "secret") };
    socket.onopen = () => socket.send(JSON.stringify({ kind: "join", ...who, n: 0 }));
    socket.onmessage = ({ data }) => hear(JSON.parse(data));
    socket.onclose = ({ code, reason }) => {
      view.me = undefined;
      for (const each of outbox.values()) each.sent = 0;
      trouble = code > 4000 ? `You are not in the room: ${reason}.` : "No connection: your answers are kept until it is back.";
      if (code < 4000) setTimeout(connect, (delay = Math.min(2 * delay, 5000)));
      draw();
    };
  }

  function hear(parts) {
    if (parts.secret) kept(browser, "secret", parts.secret);
    if (parts.refused) console.info(`The room refused a message: ${parts.refused}.`);
    const isNew = !isIn();
    const before = view;
    const wasHeld = new Set([...cards.keys()].filter(isHeld));
    view = { ...view, ...parts };
    if (!isIn()) return;
    for (const [about, { sent }] of outbox) if (sent && sent <= view.heard) outbox.delete(about);
    if (isNew) arrive();
    flush();
    for (const [name, card] of cards) tellCard(name, card, wasHeld.has(name));
    for (const name of view.asked) if (!before.asked.includes(name)) cards.get(name)?.element.scrollIntoView({ block: "center" });
    if (!isNew && "keys" in parts && hasKeys()) stand(followed);
    if (parts.stand || "follow" in parts || "keys" in parts) follow();
    drawCloud();
    draw();
  }

  function arrive() {
    delay = 500;
    if (!leads) send(placed);
    else if (hasKeys()) stand(location.hash);
  }

  // --- Questions: what teaching/js/question_card.js asks of a room ---

  const cards = new Map(); // by the question's name
  const opened = new Set(); // the questions that the room has answered here
  let numbers = false; // does the leader see how many chose what, before the answer is shown?

  function question(name, text, choices, card) {
    cards.set(name, Object.assign(card, { choices }));
    setTimeout(() => tellCard(name, card, false));
    return {
      leads,
      ask: (on) => send({ kind: "ask", question: name, on, text, choices }),
      reveal: () => send({ kind: "reveal", question: name }),
      /** A choice is pressed; returns whether its answer waits for the leader. */
      takes(choice) {
        const held = isHeld(name);
        if (leads) return held;
        if (!(name in view.mine) || held) view.mine = { ...view.mine, [name]: choice };
        send({ kind: "vote", question: name, choice });
        tellCard(name, card, false);
        return held;
      },
    };
  }

  function tellCard(name, card, wasHeld) {
    const held = isHeld(name);
    const revealed = view.revealed[name];
    const mine = view.mine[name] ?? null;
    if (leads) {
      const votes = revealed ?? (held ? (view.counts?.[name] ?? card.choices.map(() => 0)) : null);
      card.hear({ votes, held, numbers, said: held ? `${sum(votes)} of ${view.here} have answered.` : "" });
    } else {
      const said = mine === null ? "Choose: the leader shows what happens." : "Your answer is in. You can change it until the leader shows what happens.";
      card.hear({ votes: revealed ?? null, held, mine: held ? mine : null, said: held ? said : "" });
    }
    const opens = leads ? revealed : !held && (mine !== null || (wasHeld && revealed));
    if (!opens || opened.has(name) || !card.isOpen()) return;
    opened.add(name);
    card.settle(mine);
  }

  let pictured = null; // the picture of a question: { name, ask, svg, fields }, as in lesson.js

  /** Answers that are places in the picture: a drop for each, and their number. */
  function drawCloud() {
    if (!pictured) return;
    const { name, ask, svg, fields } = pictured;
    svg.querySelector(".lab-cloud")?.remove();
    const votes = view.revealed[name] ?? (numbers && isHeld(name) ? view.counts[name] : null);
    if (!votes) return;
    const shape = (tag, values, text = "") => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const each in values) element.setAttribute(each, values[each]);
      element.append(text);
      return element;
    };
    const cloud = shape("g", { class: "lab-cloud" });
    ask.options.forEach(({ nodes, place }, k) => {
      for (const node of votes[k] ? (ask.kind === "where" ? [ask.node] : nodes) : []) {
        const lane = fields[node - 1];
        const x = ask.kind === "where" ? lane?.places[place] : lane?.x + lane?.width - 64;
        if (!(x >= 0)) continue; // it is not in this picture
        const y = lane.y + lane.height / 2;
        const apart = Math.min(7, (lane.height / 2 - 8) / Math.sqrt(Math.max(...votes)));
        for (let drop = 0; drop < votes[k]; drop++) {
          const [far, turned] = [apart * Math.sqrt(drop), 2.4 * drop];
          cloud.append(shape("circle", { cx: x + far * Math.cos(turned), cy: y + far * Math.sin(turned), r: 0.8 * apart }));
        }
        cloud.append(shape("text", { x: x + apart * Math.sqrt(votes[k]) + 5, y: y + 5 }, votes[k]));
      }
    });
    svg.append(cloud);
  }

  // --- Where all stand ---

  let openHere = null; // opens a walk, or a beat of a lesson, in this page
  let placed = { kind: "place", page, at: 0, of: 0 };
  let followed = location.hash;
  let timer = null;
  let letGo = kept(tab, "let-go") === "yes";
  const won = {};

  const isFollowing = () => isIn() && view.follow && !letGo && !hasKeys() && Boolean(view.stand.page);
  const follow = () => isFollowing() && goTo(view.stand);

  function goTo({ page: there, about }) {
    if (there !== page) return location.assign(there + about);
    if (openHere && about && about !== followed) openHere((followed = about));
    const [, which] = /~(\d+)$/.exec(about) ?? [];
    if (which) document.querySelectorAll(".lab-page-stepper")[which]?.scrollIntoView({ block: "nearest" });
  }

  function stand(about) {
    followed = about;
    send({ kind: "stand", page, about: /^#(beat-|lab1\.)/.test(about) ? about : "" });
  }

  /** A stepper or lesson shows something else; isUsed: it was the last to be touched. */
  function moved(source, address, isUsed) {
    const { timeline, challenge } = source.get("view");
    const { lesson } = source.session;
    const { hash } = new URL(address);
    if (isUsed || isFollowing()) placed = { kind: "place", page, at: lesson ? source.beat + 1 : timeline.depth, of: lesson ? lesson.beats.length : timeline.length };
    if (!leads && challenge?.solved && !(won[challenge.name] <= challenge.steps)) {
      won[challenge.name] = challenge.steps;
      send({ kind: "won", challenge: challenge.name, steps: challenge.steps, link: hash });
    }
    if (isUsed) followed = hash;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!leads) send(placed);
      if (isUsed && isIn() && hasKeys()) stand(hash);
    }, 60);
  }

  // --- The bar above the page, and the leader's panel ---

  const button = (onclick, text = "") => make("button", { type: "button", onclick }, text);
  const called = ({ number: each, name }) => name || `learner ${each}`;
  const state = make("b", { className: "lr-state", role: "status" });
  const name = make("input", { maxLength: 40, placeholder: "your name, if you like", title: "It stays on the leader's laptop", onchange: () => send({ kind: "name", name: name.value }) });
  const hand = button(() => send({ kind: "hand", up: !view.hand }));
  const goes = button(() => {
    if (view.follow) letGo = kept(tab, "let-go", letGo ? "" : "yes") === "yes";
    followed = "";
    goTo(view.follow && letGo ? { page } : view.stand);
    draw();
  });
  const leading = button(() => send({ kind: "follow", on: !view.follow }));
  const seeing = button(() => {
    numbers = !numbers;
    hear({});
  }, "Numbers");
  seeing.title = "How many chose what, before the answer is shown";
  const panels = { address: drawAddress, where: drawWhere, ways: drawWays };
  let open = null;
  const tabs = Object.keys(panels).map((each) => button(() => ((open = open === each ? null : each), draw())));
  const panel = make("div");
  const bar = make("section", { className: "lab-room" }, make("div", { className: "lr-bar" }, state, ...(leads ? [leading, seeing, ...tabs] : [name, hand, goes])), panel);
  bar.setAttribute("aria-label", "The room");

  function draw() {
    const hands = view.people.filter((each) => each.hand && each.here).length;
    const pilot = view.people.find((each) => each.number === view.keys);
    const mine = view.keys === view.me ? "Everybody sees your steps: you have the keys." : `You are learner ${view.me}.`;
    const told = leads ? `${view.here} here${pilot ? `; ${called(pilot)} has the keys` : ""}` : mine;
    const label = (element, text, pressed) => {
      if (element.textContent !== text) element.textContent = text;
      if (pressed !== undefined) element.setAttribute("aria-pressed", String(pressed));
    };
    label(state, isIn() ? told : (trouble ?? "Joining the room …"));
    if (isIn() && document.activeElement !== name) name.value = view.name ?? "";
    label(hand, view.hand ? "Take your hand down" : "Raise a hand", view.hand);
    label(goes, !view.follow ? "To the leader" : letGo ? "Follow the leader" : "Let go");
    goes.hidden = !isIn() || hasKeys() || !view.stand.page || (!view.follow && view.stand.page === page && !view.stand.about);
    label(leading, view.follow ? "Let them go" : "Follow me", view.follow);
    label(seeing, "Numbers", numbers);
    const words = ["Address", `Where are you?${hands ? ` Hands up: ${hands}` : ""}`, "Shortest ways"];
    tabs.forEach((each, k) => label(each, words[k], Object.keys(panels)[k] === open));
    panel.replaceChildren(...(open ? panels[open]() : view.own ? drawOwn(view.own) : []));
  }

  /** A learner votes here on what stands in no card of the pages, as a decision on call. */
  function drawOwn({ name: about, text, choices }) {
    const votes = view.revealed[about];
    const buttons = choices.map((each, k) => button(() => send({ kind: "vote", question: about, choice: k }), votes ? `${each} · ${votes[k]}` : each));
    buttons.forEach((each, k) => each.setAttribute("aria-pressed", String(view.mine[about] === k)));
    return [make("li", {}, make("b", {}, text), ...buttons)];
  }

  function drawAddress() {
    return [make("big", {}, view.address), make("img", { src: view.code, alt: "The address as a code to photograph" })];
  }

  /** Who is at which beat or step, those who are farthest first. */
  function drawWhere() {
    const places = new Map();
    for (const each of [...view.people].sort((one, other) => other.place[1] - one.place[1])) {
      const [there, at, of] = each.place;
      const text = each.here ? `${view.pages[there] ?? "just joined"}${of ? `, ${at} of ${of}` : ""}: ` : "No connection: ";
      places.set(text, [...(places.get(text) ?? []), drawPerson(each)]);
    }
    const back = view.keys === null ? [] : [button(() => send({ kind: "keys", to: null }), "Take the keys back")];
    const rows = [...places].map(([text, people]) => make("li", {}, text, ...people));
    return ["Press a name to give that learner the keys. ", ...back, make("ul", {}, ...rows)];
  }

  function drawPerson(each) {
    const seconds = each.since ? Date.now() / 1000 - each.since : 0;
    const isStuck = each.here && !view.follow && seconds > STUCK;
    const text = `${called(each)}${each.hand ? ", hand up" : ""}${isStuck ? `, ${Math.floor(seconds / 60)} min here` : ""}`;
    return Object.assign(button(() => send({ kind: "keys", to: each.number }), text), { className: isStuck ? "lr-stuck" : "" });
  }

  function drawWays() {
    const rows = Object.entries(view.ways).map(([challenge, ways]) => {
      const { par, page: there } = view.challenges[challenge];
      const links = ways.map(([steps, who, link]) => make("a", { href: there + link }, `${steps} steps: ${called(view.people.find((each) => each.number === who))}`));
      return make("li", {}, `${challenge.replaceAll("_", " ")}, par ${par}: `, ...links);
    });
    return [rows.length ? make("ul", {}, ...rows) : "No challenge is won yet."];
  }

  globalThis.labRoom = {
    question,
    moved,
    /** A question's picture, whose lanes are `fields`. */
    picture(name, ask, svg, fields) {
      pictured = { name, ask, svg, fields };
      drawCloud();
    },
    /** The page gives what opens a walk or a beat in it. */
    opens(openAddress) {
      openHere = openAddress;
      follow();
    },
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.head.append(make("style", {}, STYLE));
    document.body.prepend(bar);
    setInterval(draw, 20_000); // who is stuck changes with time
    draw();
    connect();
  });
})();
