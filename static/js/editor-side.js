// The side panel: problems, explanation, and the tabs that the server draws on demand.

export class Side {
  #root;
  #ask;
  #drawn = new Map(); // panel → the text it was drawn for
  #wanted = null; // the last that was judged
  #isAsking = false;
  #timer = 0;

  constructor(root, { ask, jump }) {
    this.#root = root;
    this.#ask = ask;
    root.querySelector("[data-problems]").addEventListener("click", (event) => {
      const button = event.target.closest("button[data-at]");
      if (button) jump(JSON.parse(button.dataset.at));
    });
  }

  show(checked) {
    this.#showProblems(checked);
    this.#showExplain(checked.explain);
    this.refresh(checked);
  }

  #showProblems({ diagnostics, accepted, shortage }) {
    const refusals = diagnostics.filter(({ severity }) => severity === "refusal").length;
    const warnings = diagnostics.length - refusals;
    const count = this.#root.querySelector("[data-problem-count]");
    count.textContent = diagnostics.length || "";
    count.hidden = diagnostics.length === 0;
    count.className = `badge ${refusals ? "badge-bad" : "badge-warning"}`;
    const summary = this.#root.querySelector("#stops");
    const words = verdict(accepted, refusals, warnings, shortage);
    if (summary.textContent !== words) summary.textContent = words;
    summary.dataset.accepted = accepted;
    summary.toggleAttribute("data-short", Boolean(shortage));
    const list = this.#root.querySelector("[data-problems]");
    const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
    list.replaceChildren(...diagnostics.map(problem));
    list.querySelectorAll("button")[focused]?.focus();
  }

  #showExplain(paragraphs) {
    const place = this.#root.querySelector("[data-explain]");
    if (!paragraphs) {
      place.dataset.stale = "";
      if (!place.childElementCount) place.append(later());
      return;
    }
    delete place.dataset.stale;
    place.replaceChildren(
      ...paragraphs.flatMap(([title, words]) => {
        const head = document.createElement("h3");
        head.textContent = title;
        const text = document.createElement("p");
        text.textContent = words;
        return [head, text];
      }),
    );
  }

  // Draw the open tab anew where the text has changed since. One question at a time: what is
  // typed meanwhile is asked when the answer is there.
  refresh(checked) {
    this.#wanted = checked;
    if (!this.#isAsking) this.#draw();
  }

  async #draw() {
    const { text, accepted } = this.#wanted;
    const panel = this.#open();
    clearTimeout(this.#timer);
    if (!panel) return;
    if (!accepted || this.#drawn.get(panel) === text) return void this.#keep(panel, accepted);
    this.#isAsking = true;
    panel.setAttribute("aria-busy", "true");
    if (!panel.childElementCount) panel.append(paragraph("Working it out …", "muted"));
    const answer = await this.#ask(panel.dataset.panel, text);
    this.#isAsking = false;
    panel.removeAttribute("aria-busy");
    if (answer.ok) this.#fill(panel, text, answer.body);
    else this.#excuse(panel, text, answer);
    if (this.#wanted.text !== text || this.#open() !== panel) this.#draw();
  }

  #open = () => this.#root.querySelector("[data-panel]:not([hidden])");

  #keep(panel, isCurrent) {
    panel.toggleAttribute("data-stale", !isCurrent);
    if (!panel.childElementCount) panel.replaceChildren(later());
  }

  #fill(panel, text, html) {
    const opened = [...panel.querySelectorAll("details")].map((each) => each.open);
    this.#drawn.set(panel, text);
    delete panel.dataset.stale;
    panel.innerHTML = html;
    panel.querySelectorAll("details").forEach((each, place) => {
      if (place in opened) each.open = opened[place];
    });
    document.dispatchEvent(new CustomEvent("htmx:afterSettle")); // wide tables can be scrolled
  }

  // What is shown is of an older text: say why, and ask again where that helps.
  #excuse(panel, text, { message, passing, wait }) {
    panel.dataset.stale = "";
    panel.querySelector(".muted:only-child, [data-excuse]")?.remove();
    const words = paragraph(message.charAt(0).toUpperCase() + message.slice(1), "hint");
    words.dataset.excuse = "";
    panel.prepend(words);
    if (passing) this.#timer = setTimeout(() => this.#draw(), 1000 * (wait || 5));
    else this.#drawn.set(panel, text);
  }
}

function verdict(accepted, refusals, warnings, shortage) {
  const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const seen = warnings ? `, with ${count(warnings, "warning")} for the reviewer to see` : "";
  const short = shortage ? `, but not approved as the ledger stands: ${shortage}` : "";
  if (accepted) return `The compiler accepts this task${seen}. It can be submitted${short}.`;
  return `${count(refusals, "problem")} keep${refusals === 1 ? "s" : ""} this task from being submitted.`;
}

function problem(found) {
  const item = document.createElement("li");
  item.className = `problem ${found.severity}`;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.at = JSON.stringify(found);
  const place = document.createElement("span");
  place.className = "problem-place";
  place.append(found.place, tag(found.severity));
  const message = document.createElement("span");
  message.className = "problem-message";
  message.textContent = found.message;
  button.append(place, message);
  item.append(button);
  if (found.hint) item.append(paragraph(found.hint, "problem-hint"));
  return item;
}

function tag(severity) {
  const word = document.createElement("span");
  word.className = `badge ${severity === "warning" ? "badge-warning" : "badge-bad"}`;
  word.textContent = severity;
  return word;
}

function paragraph(text, className) {
  const made = document.createElement("p");
  made.textContent = text;
  made.className = className;
  return made;
}

const later = () => paragraph("This appears once the compiler accepts the task.", "muted");
