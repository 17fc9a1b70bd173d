// Keep the page fresh from a stream of events; let people pause it; say so when it is lost.

const overview = document.querySelector("[data-live-from]");
const controls = document.querySelector("[data-live-controls]");
const state = controls.querySelector("[data-live-state]");
const pause = controls.querySelector("[data-live-pause]");
const lost = document.querySelector("[data-live-lost]");

let source = null;
let failures = 0;

function show(word, tone) {
  if (state.textContent === word) return;
  state.textContent = word;
  state.className = `badge live-badge badge-${tone}`;
}

const name = (element) => element.getAttribute("aria-label") ?? element.textContent.trim();

// What somebody is reading, or has reached with the keyboard, stays where it is.
function replace(html) {
  const active = overview.contains(document.activeElement) ? document.activeElement : null;
  const reached = active && [active.tagName, name(active)];
  const offsets = new Map();
  for (const wrap of overview.querySelectorAll(".table-wrap")) {
    offsets.set(name(wrap), wrap.scrollLeft);
  }
  overview.innerHTML = html;
  for (const wrap of overview.querySelectorAll(".table-wrap")) {
    wrap.scrollLeft = offsets.get(name(wrap)) ?? 0;
  }
  if (reached) {
    const same = [...overview.querySelectorAll(reached[0])].find((one) => name(one) === reached[1]);
    same?.focus({ preventScroll: true });
  }
}

function follow() {
  const events = new EventSource(overview.dataset.liveFrom);
  source = events;
  source.addEventListener("open", () => {
    failures = 0;
    lost.hidden = true;
    show("Live", "good");
  });
  source.addEventListener("overview", (event) => replace(event.data));
  source.addEventListener("error", () => {
    // A stream that has ended is opened again by the browser; one that was refused is not.
    if (events.readyState === EventSource.CLOSED) setTimeout(again, 5000);
    show("Connecting", "warning");
    failures += 1;
    lost.hidden = failures < 3;
  });
}

function again() {
  const paused = pause.getAttribute("aria-pressed") === "true";
  if (!paused && source?.readyState !== EventSource.OPEN) {
    stop();
    follow();
  }
}

function stop() {
  source?.close();
  source = null;
}

pause.addEventListener("click", () => {
  const pausing = pause.getAttribute("aria-pressed") === "false";
  pause.setAttribute("aria-pressed", String(pausing));
  pause.textContent = pausing ? "Go on" : "Pause";
  stop();
  if (pausing) show("Paused", "neutral");
  else follow();
});

// A page that is left, or kept for going back, holds no stream open.
addEventListener("pagehide", stop);
addEventListener("pageshow", (event) => {
  if (event.persisted) again();
});

controls.hidden = false;
follow();
