// The form: fields of the document by their path, and the sentences beside them.

import { Matrices } from "./editor-matrices.js";
import { Terms } from "./editor-terms.js";

const at = (value, path) => path.reduce((inner, step) => inner?.[step], value);

const shown = (value) => (Array.isArray(value) ? value.join(", ") : (value ?? ""));

export class Form {
  #fields;
  #changed;
  #mechanism;
  #matrices;
  #terms;
  #remembered = new Map(); // parameters of each kind of mechanism, so that going back loses nothing

  constructor(root, changed) {
    this.#changed = changed;
    this.#fields = [...root.querySelectorAll("[data-field]")];
    this.#mechanism = root.querySelector("[data-mechanism]");
    this.#matrices = new Matrices(root.querySelector("[data-mechanism-matrices]"));
    for (const field of this.#fields) {
      const kind = field.dataset.kind;
      const event = ["choice", "choices", "flag"].includes(kind) ? "change" : "input";
      field.addEventListener(event, () => this.#tell(field));
    }
    this.#mechanism.addEventListener("input", (event) => this.#tellMechanism(event));
    this.#terms = new Terms(root.querySelector("[data-clip-terms]"), changed);
  }

  #tell(field) {
    const path = field.dataset.field.split(".");
    if (field.dataset.field === "anonymization.mechanism.kind") {
      const kind = field.querySelector("select").value;
      const known = this.#remembered.get(kind);
      if (known) this.#changed(path.slice(0, 2), known);
      else this.#changed(path, kind);
      return;
    }
    this.#changed(path, this.#valueOf(field));
  }

  #valueOf(field) {
    switch (field.dataset.kind) {
      case "choices":
        return [...field.querySelectorAll("input:checked")].map((input) => input.value);
      case "flag":
        return field.querySelector("input").checked;
      case "choice":
        return field.querySelector("select").value || null;
      default:
        return field.querySelector("input, textarea").value;
    }
  }

  #tellMechanism(event) {
    const { path } = event.target.dataset;
    if (path) this.#changed(JSON.parse(path), event.target.value);
    if (event.target.dataset.key === undefined) return;
    const chosen = [...this.#mechanism.querySelectorAll("[data-key]:checked")];
    const name = this.#mechanism.dataset.by;
    this.#changed(["anonymization", "mechanism", name], chosen.map((input) => input.value));
  }

  // Show what the document holds, except in a field that somebody is typing in.
  show(checked, isPending) {
    if (!checked.document) return;
    for (const field of this.#fields) {
      const path = field.dataset.field.split(".");
      if (!isPending(path)) this.#fill(field, at(checked.document, path));
      const so = field.querySelector("[data-so]");
      const sentence = checked.consequences[field.dataset.field] ?? "";
      if (so.textContent !== sentence) so.textContent = sentence;
    }
    this.#drawMechanism(checked, isPending);
    const clip = checked.document.anonymization?.clip_uncertainty;
    this.#terms.show(clip, checked.mechanism?.metrics, isPending, checked.diagnostics);
    this.#markErrors(checked.diagnostics);
  }

  #fill(field, value) {
    const given = value ?? field.dataset.default;
    if (field.dataset.kind === "choices") {
      const chosen = value ?? (field.dataset.field === "schedule.conditions" ? ["idle"] : []);
      for (const input of field.querySelectorAll("input")) {
        input.checked = Array.isArray(chosen) && chosen.includes(input.value);
      }
    } else if (field.dataset.kind === "flag") {
      field.querySelector("input").checked = value !== false;
    } else {
      const control = field.querySelector("input, select, textarea");
      if (control !== document.activeElement || control.matches("select")) {
        if (control.value !== String(shown(given))) control.value = shown(given);
      }
    }
  }

  #markErrors(diagnostics) {
    for (const field of this.#fields) {
      const path = field.dataset.field;
      const own = diagnostics.filter(({ part }) => part === path || part.startsWith(`${path}.`));
      const place = field.querySelector("[data-error]");
      place.hidden = own.length === 0;
      place.textContent = own.map(({ message, hint }) => `${message} ${hint}`).join(" ");
      const control = field.querySelector("input, select, textarea");
      if (own.some(({ severity }) => severity === "refusal")) {
        control.setAttribute("aria-invalid", "true");
      } else {
        control.removeAttribute("aria-invalid");
      }
    }
  }

  #drawMechanism({ document: spec, mechanism: facts, diagnostics }, isPending) {
    const mechanism = spec.anonymization?.mechanism;
    const kind = mechanism?.kind;
    const clip = this.#fields.find((each) => each.dataset.field.endsWith("mechanism.clip"));
    clip.hidden = !["joint_clipping", "group_scaling"].includes(kind);
    const by = { group_scaling: "scale_by", budget_split: "slice_by", rotated: "by" }[kind];
    this.#mechanism.hidden = !by;
    if (mechanism && kind) this.#remembered.set(kind, mechanism);
    if (!by) return;
    this.#mechanism.dataset.by = by;
    this.#drawKeys(facts);
    this.#drawScales(mechanism, facts, isPending);
    this.#matrices.show(mechanism, facts, isPending, diagnostics);
    const note = this.#mechanism.querySelector("[data-mechanism-note]");
    note.hidden = Boolean(facts?.slices.length);
    this.#markScales(diagnostics);
  }

  #drawKeys(facts) {
    const part = this.#mechanism.querySelector("[data-mechanism-by]");
    const place = part.querySelector("[data-mechanism-keys]");
    part.hidden = !facts?.keys.length;
    if (part.hidden) return;
    const wanted = JSON.stringify([facts.keys, facts.by]);
    if (place.dataset.drawn === wanted) return;
    const focused = place.contains(document.activeElement) ? document.activeElement.value : null;
    place.dataset.drawn = wanted;
    place.replaceChildren(
      ...facts.keys.map(({ name, count }) => {
        const label = document.createElement("label");
        label.className = "check-label";
        const input = document.createElement("input");
        Object.assign(input, { type: "checkbox", value: name, checked: facts.by.includes(name) });
        input.dataset.key = "";
        label.append(input, ` ${name} (${count})`);
        return label;
      }),
    );
    if (focused !== null) place.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
  }

  #drawScales(mechanism, facts, isPending) {
    const part = this.#mechanism.querySelector("[data-mechanism-scales]");
    part.hidden = !facts?.slices.length || mechanism.kind === "rotated";
    if (part.hidden) return;
    const table = part.querySelector("table");
    const shape = JSON.stringify([facts.slices, facts.metrics]);
    if (table.dataset.shape !== shape) {
      table.dataset.shape = shape;
      this.#layOutScales(table, facts);
    }
    for (const input of table.querySelectorAll("input")) {
      const path = JSON.parse(input.dataset.path);
      const value = at(mechanism.scales, path.slice(3));
      if (input !== document.activeElement && !isPending(path)) input.value = value ?? "";
    }
  }

  #layOutScales(table, { slices, metrics }) {
    const head = table.tHead;
    head.replaceChildren(head.ownerDocument.createElement("tr"));
    const corner = document.createElement("th");
    corner.scope = "col";
    corner.textContent = "Slice";
    head.rows[0].append(corner, ...metrics.map((name) => header(name, "col")));
    table.tBodies[0].replaceChildren(
      ...slices.map((slice) => {
        const row = document.createElement("tr");
        row.append(header(slice, "row"), ...metrics.map((metric) => scaleCell(slice, metric)));
        return row;
      }),
    );
  }

  #markScales(diagnostics) {
    const parts = new Set(diagnostics.map(({ part }) => part));
    for (const input of this.#mechanism.querySelectorAll(".scales input")) {
      const part = JSON.parse(input.dataset.path).join(".");
      if (parts.has(part)) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  // Bring a field of the document before the eyes; false where the form has none.
  go(part) {
    const found = this.#fields
      .filter(({ dataset }) => part === dataset.field || part.startsWith(`${dataset.field}.`))
      .at(-1);
    const scales = this.#mechanism.querySelectorAll(".scales input");
    const scale = [...scales, ...this.#terms.inputs].find(
      (input) => JSON.parse(input.dataset.path).join(".") === part,
    );
    const number = scale ?? this.#matrices.find(part);
    const control = number ?? found?.querySelector("input, select, textarea");
    if (!control || control.closest("[hidden]")) return false;
    for (let around = control; (around = around.parentElement.closest("details")); ) {
      around.open = true;
    }
    control.focus();
    control.scrollIntoView({ block: "center" });
    return true;
  }
}

function header(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  if (scope === "col") cell.className = "num";
  return cell;
}

function scaleCell(slice, metric) {
  const cell = document.createElement("td");
  const input = document.createElement("input");
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.setAttribute("aria-label", `Scale of ${metric} in ${slice}`);
  input.dataset.path = JSON.stringify(["anonymization", "mechanism", "scales", slice, metric]);
  cell.append(input);
  return cell;
}
