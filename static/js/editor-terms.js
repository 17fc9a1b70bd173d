// Clip uncertainty in the form: three terms for each metric.

const TERMS = ["random", "together", "systematic"];

export class Terms {
  #part;
  #table;

  constructor(part, changed) {
    this.#part = part;
    this.#table = part.querySelector("table");
    part.addEventListener("input", ({ target }) =>
      changed(JSON.parse(target.dataset.path), target.value),
    );
  }

  // What the document holds, except in an input that somebody is typing in.
  show(given, metrics, isPending, diagnostics) {
    this.#part.hidden = !metrics?.length;
    if (this.#part.hidden) return;
    const shape = JSON.stringify(metrics);
    if (this.#table.dataset.shape !== shape) {
      this.#table.dataset.shape = shape;
      this.#table.tBodies[0].replaceChildren(...metrics.map(row));
    }
    const parts = new Set(diagnostics.map(({ part }) => part));
    for (const input of this.inputs) {
      const path = JSON.parse(input.dataset.path);
      const value = given?.metrics?.[path[3]]?.[path[4]];
      if (input !== document.activeElement && !isPending(path)) input.value = value ?? "";
      if (parts.has(path.join("."))) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  get inputs() {
    return [...this.#table.querySelectorAll("input")];
  }
}

function row(metric) {
  const made = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = metric;
  made.append(head, ...TERMS.map((term) => entry(metric, term)));
  return made;
}

function entry(metric, term) {
  const cell = document.createElement("td");
  const input = document.createElement("input");
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.setAttribute("aria-label", `Clip uncertainty of ${metric}, ${term}`);
  input.dataset.path = JSON.stringify([
    "anonymization",
    "clip_uncertainty",
    "metrics",
    metric,
    term,
  ]);
  cell.append(input);
  return cell;
}
