// A film: pictures with their captions that play by themselves while they are seen, and rest on the last.

const PACE = 1900; // milliseconds a state
const REST = 6000; // on the last

function playFilm(holder) {
  const { frames, lost } = JSON.parse(holder.querySelector("script").textContent);
  const [sign, told] = holder.querySelector(".lab-film-told").children;
  const pictures = { wide: holder.querySelector(".lab-wide"), narrow: holder.querySelector(".lab-narrow") };
  const last = frames.length - 1;
  let at = 0, timer = null, stopped = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const button = h("button", { class: "lab-film-play", onclick: () => (timer ? stop() : go()) });
  const dots = frames.map((each, k) =>
    h("button", { "aria-label": `State ${k + 1}: ${each.caption}`, onclick: () => (stop(), show(k)) }),
  );
  holder.querySelector(".lab-film-bar").replaceChildren(button, h("div", { class: "lab-film-dots" }, dots));

  function show(k) {
    at = k;
    for (const [width, place] of Object.entries(pictures)) {
      const before = partsOf(place.checkVisibility() ? place.querySelector("svg") : null);
      place.innerHTML = frames[k][width]; // the kit's own drawing
      moveParts(before, place.querySelector("svg"));
    }
    told.textContent = frames[k].caption;
    const alarm = lost && k === last;
    holder.classList.toggle("lab-film-alarm", alarm);
    sign.textContent = alarm ? "✗" : k + 1;
    dots.forEach((dot, n) => {
      dot.className = n < k ? "lab-past" : "";
      if (n === k) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    button.textContent = timer ? "❚❚ Pause" : "▶ Play";
  }

  function next() {
    show(at === last ? 0 : at + 1);
    timer = setTimeout(next, at === last ? REST : PACE);
  }

  function go() {
    stopped = false;
    timer = setTimeout(next, at === last ? 0 : PACE);
    show(at);
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    show(at);
  }

  function stop() {
    stopped = true;
    pause();
  }

  if (stopped) return show(last);
  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    if (stopped) return;
    if (isIntersecting && !timer) go();
    else if (!isIntersecting && timer) pause();
  }, { threshold: 0.5 });
  show(0);
  seen.observe(holder);
}
