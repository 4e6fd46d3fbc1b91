// A page of the site: puts a stepper where the notebook has one, and keeps the walk in the address.

const FOLDER = (document.currentScript?.src ?? "").replace(/[^/]*$/, "");
const NEARBY = "900px"; // a stepper is made when it is so near to what is seen

const sessions = new Map(); // by the element that holds the stepper

function sessionOf(holder) {
  if (!sessions.has(holder)) sessions.set(holder, JSON.parse(holder.querySelector("script").textContent));
  return sessions.get(holder);
}

/** Makes the stepper of a holder, once; its static drawing goes when it is there. */
function mount(holder) {
  holder.mounted ??= recordingOf(sessionOf(holder).recording, `${FOLDER}recordings/`).then((recording) => {
    const source = new RecordedSource(recording, sessionOf(holder));
    holder.replaceChildren();
    render({ model: source, el: holder });
    source.on("change:view", () => {
      if (holder.contains(document.activeElement)) keepInAddress(source);
      keepWon(source.get("view").challenge);
    });
    return source;
  });
  return holder.mounted;
}

function keepWon(challenge) {
  if (!challenge?.solved || stored().challenges[challenge.name]?.points >= challenge.points) return;
  store(({ challenges }) => {
    challenges[challenge.name] = { title: challenge.title, points: challenge.points };
  });
}

let keeping = null;

function keepInAddress(source) {
  clearTimeout(keeping);
  keeping = setTimeout(async () => {
    history.replaceState(null, "", `#${await source.link()}`);
  }, 300);
}

/** Opens the walk in the page's address in the first stepper of its model. */
async function openAddress(holders) {
  if (!LINK.test(location.hash)) return;
  let text;
  try {
    text = await textOfLink(location.hash);
  } catch (error) {
    tellAbove(error.message);
    return;
  }
  const { about } = parsedScenario(text);
  for (const holder of holders) {
    const same = sessionOf(holder).about.split(" ").filter(Boolean).sort().join(" ");
    if (same !== about.split(" ").filter(Boolean).sort().join(" ")) continue;
    const source = await mount(holder);
    await source.paste(text);
    holder.scrollIntoView({ block: "center" });
    return;
  }
  tellAbove(`The link's walk is about ${about}, and no stepper of this page is: the kit opens it.`);
}

function tellAbove(sentence) {
  const place = document.querySelector("main") ?? document.body;
  place.prepend(h("p", { class: "lab-told", role: "alert" }, sentence));
}

function begin() {
  const holders = [...document.querySelectorAll(".lab-recorded")];
  const seen = new IntersectionObserver(
    (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => mount(each.target)),
    { rootMargin: NEARBY },
  );
  holders.forEach((each) => seen.observe(each));
  document.querySelectorAll(".lab-film").forEach(playFilm);
  showPredictions();
  explainTerms();
  offerCopies();
  openAddress(holders);
  addEventListener("hashchange", () => openAddress(holders));
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
