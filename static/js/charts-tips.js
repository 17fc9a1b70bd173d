// What a mark says, beside the pointer. Arrow keys walk from mark to mark; a first touch shows,
// a second one follows the link.

const MANY_LINKS = 30;
const tip = document.createElement("div");
tip.className = "chart-tip";
tip.setAttribute("role", "status");
tip.hidden = true;

let shown = null;

export function watchTips(chart) {
  if (!tip.isConnected) document.body.append(tip);
  chart.tabIndex = 0;
  const links = chart.querySelectorAll("a");
  // The arrows reach them all; the tab key would need a thousand strokes to get past.
  if (links.length > MANY_LINKS) for (const link of links) link.tabIndex = -1;
  chart.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") showAt(markAt(event.target), event.clientX, event.clientY);
  });
  chart.addEventListener("pointerleave", () => hide());
  chart.addEventListener("focusin", (event) => {
    const mark = event.target === chart ? null : markAt(event.target);
    if (mark) showBeside(mark);
  });
  chart.addEventListener("focusout", hide);
  chart.addEventListener("click", (event) => onClick(event), true);
  chart.addEventListener("keydown", (event) => onKey(event, chart));
}

function marksOf(chart) {
  return [...chart.querySelectorAll(".mark, .point, .ring")].filter(titleOf);
}

function markAt(element) {
  const mark = element.closest(".mark, .point, .ring");
  if (mark) return titleOf(mark) && mark;
  return element.closest("a")?.querySelector(".mark, .point, .ring");
}

function titleOf(mark) {
  return [...mark.children].find((child) => child.localName === "title");
}

function onClick(event) {
  const mark = markAt(event.target);
  if (event.pointerType !== "touch" || !mark || mark === shown?.mark) return;
  event.preventDefault();
  showAt(mark, event.clientX, event.clientY);
}

function onKey(event, chart) {
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  if (event.key === "Escape") return hide();
  if (event.key === "Enter" && shown && event.target === chart) {
    return shown.mark.closest("a")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }
  if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const marks = marksOf(chart);
  const at = marks.indexOf(shown?.mark);
  const next = at < 0 ? 0 : (at + steps[event.key] + marks.length) % marks.length;
  if (marks.length) showBeside(marks[next]);
}

function showBeside(mark) {
  const box = mark.getBoundingClientRect();
  showAt(mark, box.left + Math.min(box.width, 120), box.top + box.height / 2);
}

function showAt(mark, x, y) {
  if (!mark) return hide();
  if (mark !== shown?.mark) {
    hide();
    const title = titleOf(mark);
    shown = { mark, title, words: title.textContent };
    // Or the browser would show it, too.
    title.textContent = "";
    mark.classList.add("shown");
    tip.textContent = shown.words;
    tip.hidden = false;
  }
  const right = x + tip.offsetWidth + 24 > window.innerWidth;
  const left = Math.max(8, right ? x - tip.offsetWidth - 14 : x + 14);
  const top = Math.max(8, y - tip.offsetHeight - 10);
  // On the page, not in the window: it stays beside its mark when the page is scrolled.
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
}

function hide() {
  if (!shown) return;
  shown.title.textContent = shown.words;
  shown.mark.classList.remove("shown");
  shown = null;
  tip.hidden = true;
}
