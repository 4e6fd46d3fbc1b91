// A room of learners, in each of its pages. protocol_lab/room/room_server.py puts this into the site's script,
// whose functions it uses, and which calls globalThis.labRoom where it is. What is shown is text, never HTML.

{
  const STYLE = `
.lab-room { position: sticky; top: 0; z-index: 1030; padding: 6px 12px; background: #17202b; color: #edf2f7; font: 15px/1.4 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
.lab-room, .lr-row { display: flex; flex-wrap: wrap; gap: 8px; align-items: baseline }
.lr-row { flex: 100% }
.lab-room :is(button, input, a) { padding: 5px 11px; border: 1px solid #7b8b9c; border-radius: 8px; background: #243140; color: inherit; font: inherit; text-decoration: none }
.lab-room input { width: 9em }
.lab-room ::placeholder { color: inherit; opacity: 0.8 }
.lab-room [aria-pressed="true"] { border-color: #9cc3ff; background: #1a5cc0 }
.lab-room .lr-stuck { border-color: #ffb454; color: #ffd08a }
.lab-room big { font-size: 40px }
.lab-room img { width: 300px; background: #fff }
.lab-room:has([data-key^="learner"]) { max-height: 30vh; overflow: auto }
.lr-row:has([data-key^="learner"]) { flex: initial; gap: 4px }
.lab-room [data-key^="learner"] { padding: 0 6px }
.lab-cloud { pointer-events: none; fill: #1a5cc0; stroke: #fff; stroke-width: 2px; paint-order: stroke; font: 700 13px system-ui, "DejaVu Sans", sans-serif }
.lab-page-stepper, section { scroll-margin-top: 56px }
@media print { .lab-room { display: none } }`;

  // The key leaves the address at once: a projector shows it.
  const [, given] = /^#key=(.+)$/.exec(location.hash) ?? [];
  if (given) history.replaceState(null, "", location.pathname);
  const key = given ?? recall("room-key", "");
  remember("room-key", key);
  const leads = Boolean(key);
  const secret = recall("room-secret", "") || crypto.getRandomValues(new Uint32Array(4)).join("-");
  remember("room-secret", secret);
  const page = decodeURI(location.pathname).replace(/\/$/, "/index.html");

  let view = { revealed: {}, stand: "", ask: [], mine: { vote: {}, won: {} }, people: [], counts: {} };
  let isIn = false;
  const hasKeys = () => isIn && (view.keys ?? "leader") === view.me;
  /** How many chose each choice, as far as this member may know. */
  const votesOn = (name) => view.revealed[name] ?? (leads && isHeld(name) ? (view.counts[name] ?? cards.get(name)?.choices.map(() => 0)) : null);
  const isHeld = (name) => (view.follow || view.ask[0] === name) && !(name in view.revealed);

  // --- The connection: a message stays in the outbox until the room has it on its disk ---

  let socket;
  let trouble = "Joining the room …";
  const outbox = new Map(); // by what a message is about: a newer one replaces an older one
  let inFlight = null; // the message that was sent; the next one follows when the room has it

  function send(...message) {
    outbox.set(message.slice(0, 2).join(" "), message);
    flush();
  }

  function flush() {
    remember("room-outbox", JSON.stringify([...outbox.values()])); // for the next page
    if (!isIn || inFlight || !outbox.size) return;
    [inFlight] = outbox.values();
    socket.send(JSON.stringify(inFlight));
  }

  function connect() {
    socket = new WebSocket(`ws://${location.host}/socket?${leads ? `key=${key}` : `secret=${secret}`}`);
    socket.onmessage = ({ data }) => hear(JSON.parse(data));
    socket.onclose = ({ code, reason }) => {
      [isIn, inFlight] = [false, null];
      trouble = code > 4000 ? `You are not in the room: ${reason}.` : "No connection: your answers are kept until it is back.";
      if (code === 4003) remember("room-key", "");
      if (code < 4000) setTimeout(connect, 2000);
      draw();
    };
  }

  function hear(told) {
    const [had, wasLed, wasAsked, wasHeard] = [hasKeys(), ledTo(), view.ask[0], view.heard];
    view = { ...view, ...told };
    if (!isIn) sendPlace();
    isIn = true;
    if (view.heard !== wasHeard) {
      for (const [about, message] of outbox) if (message === inFlight) outbox.delete(about);
      inFlight = null;
    }
    flush();
    drawAll();
    if (view.ask[0] !== wasAsked) cards.get(view.ask[0])?.element.scrollIntoView({ block: "center" });
    if (hasKeys() && !had) stand(followed);
    if (ledTo() !== wasLed) follow();
  }

  function drawAll() {
    cards.forEach(tellCard);
    drawCloud();
    draw();
  }

  // --- Questions: what teaching/js/question_card.js asks of a room ---

  const cards = new Map(); // by the question's name
  const opened = new Set(); // the questions that were answered here

  function question(name, text, choices, card) {
    cards.set(name, { ...card, choices });
    setTimeout(drawAll);
    return {
      leads,
      ask: (on) => send("ask", name, on ? [text, ...choices] : []),
      reveal: () => send("reveal", name, true),
      /** A choice is pressed; returns whether its answer waits for the leader. */
      takes(choice) {
        const held = isHeld(name);
        if (leads) return held;
        if (!(name in view.mine.vote) || held) view.mine.vote[name] = choice;
        if (!held) opened.add(name);
        send("vote", name, choice);
        drawAll();
        return held;
      },
    };
  }

  function tellCard(card, name) {
    const held = isHeld(name);
    const mine = view.mine.vote[name] ?? null;
    const votes = votesOn(name);
    const own = mine === null ? "Choose: the leader shows what happens." : "Your answer is in. You can change it until the leader shows what happens.";
    const said = votes ? `${votes.reduce((all, each) => all + each)} have answered; ${view.here} are here.` : own;
    card.hear({ votes, held, polled: view.ask[0] === name, numbers: open === "Numbers", mine: held ? mine : null, said: held ? said : "" });
    if (held || !(votes || mine !== null) || opened.has(name) || !card.isOpen()) return;
    opened.add(name);
    card.settle(mine);
  }

  let pictured = null; // the picture of a question: { name, ask, svg, fields }, as in lesson.js

  /** Answers that are places in the picture: a drop for each, up the line or along the bottom of the lane, and their number. */
  function drawCloud() {
    pictured?.svg.querySelector(".lab-cloud")?.remove();
    const votes = pictured && (view.revealed[pictured.name] ?? (open === "Numbers" ? votesOn(pictured.name) : null));
    if (!votes) return;
    const { ask, svg, fields } = pictured;
    const cloud = s("g", { class: "lab-cloud" });
    const isLine = ask.kind === "where";
    const whole = isLine && (ask.node ? fields[ask.node - 1] : wholeOf(fields));
    ask.options.forEach(({ nodes, place }, k) => {
      for (const lane of !votes[k] ? [] : isLine ? [whole] : nodes.map((node) => fields[node - 1])) {
        const x = isLine ? lane?.places[place] + 4 : lane?.x + 12;
        if (!(x >= 0)) continue; // it is not in this picture
        const turn = isLine ? `${lane.y + lane.height - 28}) rotate(-90)` : `${lane.y + lane.height - 5})`;
        const textLength = Math.min(9 * votes[k] + 12, (isLine ? lane.height : lane.width) - 36);
        cloud.append(s("text", { transform: `translate(${x} ${turn}`, textLength, lengthAdjust: "spacingAndGlyphs" }, `${"●".repeat(votes[k])} ${votes[k]}`));
      }
    });
    svg.append(cloud);
  }

  // --- Where all stand ---

  let placed = ""; // at which beat or step
  let followed = location.hash;

  /** The address where the leader wants this page to stand, if it follows. */
  const ledTo = () => (isIn && view.follow && !view.mine.alone && !hasKeys() ? view.stand : "");
  const sendPlace = () => send("place", "", placed || document.title.split(" — ")[0]);

  function follow() {
    const [there, about] = ledTo().split(/(?=#)/);
    if (there && there !== page) return location.assign(ledTo());
    if (about && about !== followed) location.replace((followed = about)); // which opens it in this page
  }

  function stand(about) {
    followed = about;
    send("stand", "", page + (/^#(beat-|lab1\.|[\w-]+$)/.test(about) ? about : ""));
  }

  // All are led to the section whose heading is the last above the middle of the window, unless their stepper is below it.
  addEventListener("scroll", () => {
    if (!hasKeys()) return;
    const stepper = document.querySelectorAll(".lab-page-stepper")[followed.split("~")[1]];
    const places = [...document.querySelectorAll("section[id], .lab-page-stepper")].filter((each) => each.id || each === stepper);
    const { id } = places.findLast((each) => each.getBoundingClientRect().top < innerHeight / 2) ?? {};
    if (id && followed !== `#${id}`) stand(`#${id}`);
  });

  /** A stepper or lesson shows something else; isUsed: it was the last to be touched. */
  function moved(source, address, isUsed) {
    const { timeline, challenge, title } = source.get("view");
    const { lesson } = source.session;
    const { hash } = new URL(address);
    const [at, last] = lesson ? [source.beat + 1, lesson.beats.length] : [timeline.depth, timeline.length];
    if (isUsed || ledTo() || !placed) placed = `${lesson?.title ?? challenge?.title ?? title}, ${at} of ${last}`;
    if (challenge?.solved && !(view.mine.won[challenge.title]?.[0] <= challenge.steps)) send("won", challenge.title, [challenge.steps, challenge.par ?? 0, hash]);
    if (isUsed) followed = hash;
    sendPlace();
    if (isUsed && hasKeys()) stand(hash);
  }

  // --- The bar above the page, and the leader's panel ---

  let open = ""; // the leader's panel; Numbers: how many chose what, before the answer is shown
  const state = h("b", { class: "lr-state", role: "status" });
  const bar = h("section", { class: "lab-room", "aria-label": "The room" }, state);
  const called = ({ number, name }) => name || `learner ${number}`;
  const row = (...content) => h("div", { class: "lr-row" }, content);
  const toggle = (key, label, press, isOn, look) => button(key, label, press, { "aria-pressed": String(Boolean(isOn)), class: look });

  function draw() {
    const pilot = view.people.find((each) => each.number === view.keys);
    const joined = leads ? `${view.here} here${pilot ? `; ${called(pilot)} has the keys` : ""}` : hasKeys() ? "Everybody sees your steps: you have the keys." : "";
    const told = isIn ? joined : trouble;
    if (state.textContent !== told) state.textContent = told;
    // What has not changed stays: it may be pressed at this moment, or typed in.
    const [, ...old] = bar.children;
    const made = (leads ? drawLeaders() : drawLearners()).filter(Boolean);
    const next = made.map((each, k) => (old[k]?.isEqualNode(each) ? old[k] : each));
    if (next.length !== old.length || next.some((each, k) => each !== old[k])) keepingPlace(bar, () => put(bar, state, next));
  }

  function drawLearners() {
    const { name, hand, alone } = view.mine;
    return [
      h("input", { "data-key": "name", maxlength: 40, placeholder: `${view.me ?? ""}: your name?`, title: "Your number, and a name if you like, which stays on the leader's laptop", value: name, onchange: ({ target }) => send("name", "", target.value.trim()) }),
      toggle("hand", hand ? "Take your hand down" : "Raise a hand", () => send("hand", "", !hand), hand),
      view.follow && !hasKeys() && toggle("alone", alone ? "Follow the leader" : "Let go", () => send("alone", "", !alone)),
      // What stands in no card of this page, as a decision on call.
      view.ask.length && !cards.get(view.ask[0])?.settle && drawAsked(...view.ask),
    ];
  }

  function drawAsked(name, text, ...choices) {
    const votes = votesOn(name);
    const vote = (each, k) => toggle(`vote ${name} ${k}`, each, () => send("vote", name, k), view.mine.vote[name] === k);
    return row(h("b", {}, text), choices.map((each, k) => (votes ? h("span", {}, `${each} · ${votes[k]}`) : vote(each, k))));
  }

  function drawLeaders() {
    const hands = view.people.filter((each) => each.hand && each.here).length;
    const code = () => [row(h("big", {}, view.address)), row(h("img", { src: view.code, alt: "The address as a code to photograph" }))];
    const panels = { Numbers: () => [], Address: code, "Where are you?": drawWhere, "Shortest ways": drawWays };
    const turn = (panel) => {
      open = open === panel ? "" : panel;
      drawAll();
    };
    const label = (panel) => (panel === "Where are you?" && hands ? `${panel} Hands up: ${hands}` : panel);
    const tabs = Object.keys(panels).map((each) => toggle(each, label(each), () => turn(each), each === open));
    return [toggle("follow", view.follow ? "Let them go" : "Follow me", () => send("follow", "", !view.follow), view.follow), ...tabs, ...(panels[open]?.() ?? [])];
  }

  /** Who is at which beat or step, those who are farthest first. */
  function drawWhere() {
    const places = Object.groupBy(view.people, (each) => (each.here ? each.place || "just joined" : "No connection"));
    const sorted = Object.keys(places).sort((one, other) => other.localeCompare(one, "en", { numeric: true }));
    const back = view.keys && toggle("back", "Take the keys back", () => send("keys", "", null));
    return [h("span", {}, "Press a name or number to give that learner the keys."), back, ...sorted.map((place) => row(h("b", {}, place), places[place].map(drawPerson)))];
  }

  function drawPerson({ number, name, hand, here, since }) {
    const minutes = Math.floor((Date.now() / 1000 - since) / 60);
    const isStuck = here && since && !view.follow && minutes >= 3;
    const text = `${name || number}${hand ? ", hand up" : ""}${isStuck ? `, ${minutes} min here` : ""}`;
    return toggle(`learner ${number}`, text, () => send("keys", "", number), number === view.keys, isStuck ? "lr-stuck" : null);
  }

  function drawWays() {
    const link = ([steps, , who, about]) => h("a", { href: about }, `${steps} steps: ${called(view.people[who - 1])}`);
    const rows = Object.entries(view.ways).map(([challenge, ways]) => row(`${challenge}, par ${ways[0][1] || "?"}: `, ways.map(link)));
    return rows.length ? rows : [row("No challenge is won yet.")];
  }

  globalThis.labRoom = { question, moved, picture: (name, ask, svg, fields) => drawCloud((pictured = { name, ask, svg, fields })) };

  document.addEventListener("DOMContentLoaded", () => {
    for (const message of JSON.parse(recall("room-outbox", "[]"))) send(...message);
    document.head.append(h("style", {}, STYLE));
    document.body.prepend(bar);
    setInterval(draw, 20_000); // who is stuck changes with time
    draw();
    connect();
  });
}
