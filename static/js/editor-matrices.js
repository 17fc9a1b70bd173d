// The numbers of the rotated mechanism: for each slice a basis, and under it the correction.

const MECHANISM = ["anonymization", "mechanism"];

export class Matrices {
  #part;
  #drawers;

  constructor(part) {
    this.#part = part;
    this.#drawers = part.querySelector("[data-matrices]");
  }

  get inputs() {
    return [...this.#drawers.querySelectorAll("input")];
  }

  // What the document holds, except in an input that somebody is typing in.
  show(mechanism, facts, isPending, diagnostics) {
    this.#part.hidden = mechanism?.kind !== "rotated" || !facts?.slices.length;
    if (this.#part.hidden) return;
    const shape = JSON.stringify([facts.slices, facts.metrics]);
    if (this.#drawers.dataset.shape !== shape) {
      this.#drawers.dataset.shape = shape;
      this.#drawers.replaceChildren(
        ...facts.slices.map((slice, at) => drawer(slice, facts.metrics, at)),
      );
    }
    for (const input of this.inputs) {
      const path = JSON.parse(input.dataset.path);
      const value = path.slice(2).reduce((inner, step) => inner?.[step], mechanism);
      if (input !== document.activeElement && !isPending(path)) input.value = value ?? "";
      input.toggleAttribute("data-odd", typeof value !== "number");
    }
    for (const each of this.#drawers.children) mark(each, diagnostics);
  }

  // The input that a finding is about: one number, or the first of a slice's.
  find(part) {
    return this.inputs.find((input) => {
      const path = JSON.parse(input.dataset.path);
      return path.join(".") === part || path.slice(0, 4).join(".") === part;
    });
  }
}

function mark(each, diagnostics) {
  const parts = ["basis", "correction"].map((what) =>
    [...MECHANISM, what, each.dataset.slice].join("."),
  );
  const own = diagnostics.filter(({ part }) => parts.includes(part));
  const place = each.querySelector(".error");
  place.hidden = own.length === 0;
  place.textContent = own.map(({ message, hint }) => `${message} ${hint}`).join(" ");
  const wrong = new Set(own.map(({ part }) => part));
  for (const input of each.querySelectorAll("input")) {
    const part = JSON.parse(input.dataset.path).slice(0, 4).join(".");
    if (wrong.has(part) || input.hasAttribute("data-odd")) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

function drawer(slice, metrics, at) {
  const made = document.createElement("details");
  made.className = "matrix";
  made.dataset.slice = slice;
  made.open = at === 0;
  const summary = document.createElement("summary");
  summary.textContent = slice;
  const wrap = document.createElement("div");
  wrap.className = "table-wrap";
  wrap.append(table(slice, metrics, `matrix-error-${at}`));
  const error = document.createElement("p");
  error.className = "error";
  error.id = `matrix-error-${at}`;
  error.hidden = true;
  made.append(summary, wrap, error);
  return made;
}

function table(slice, metrics, described) {
  const made = document.createElement("table");
  made.className = "table";
  const cell = (label, ...steps) => entry([...MECHANISM, ...steps], label, described);
  const rows = metrics.map((_, row) =>
    line(
      `u${row + 1}`,
      metrics.map((metric, column) =>
        cell(`Basis of ${slice}: ${metric} in u${row + 1}`, "basis", slice, `${row}`, `${column}`),
      ),
    ),
  );
  const factors = metrics.map((metric, at) =>
    cell(`Correction of ${metric} in ${slice}`, "correction", slice, `${at}`),
  );
  made.createTHead().append(line("", metrics.map((name) => header(name, "col"))));
  made.createTBody().append(...rows);
  made.createTFoot().append(line("ρ", factors));
  return made;
}

function line(name, cells) {
  const made = document.createElement("tr");
  const first = name ? header(name, "row") : document.createElement("td");
  made.append(first, ...cells);
  return made;
}

function header(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  if (scope === "col") cell.className = "num";
  return cell;
}

function entry(path, label, described) {
  const cell = document.createElement("td");
  const input = document.createElement("input");
  input.inputMode = "text"; // a minus sign is not on every pad of numbers
  input.autocomplete = "off";
  input.setAttribute("aria-label", label);
  input.setAttribute("aria-describedby", described);
  input.dataset.path = JSON.stringify(path);
  cell.append(input);
  return cell;
}
