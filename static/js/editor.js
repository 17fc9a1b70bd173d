// The task editor: panes, form and YAML over one draft, with the side panel following along.

import { Draft } from "./editor-draft.js";
import { Form } from "./editor-form.js";
import { Pane } from "./editor-panes.js";
import { Queries } from "./editor-queries.js";
import { Side } from "./editor-side.js";
import { Stale } from "./editor-stale.js";
import { tabs } from "./editor-tabs.js";

const root = document.getElementById("editor");
const { dataset } = root;
const schema = JSON.parse(dataset.schema);
let checked = JSON.parse(dataset.checked);

for (const scripted of root.querySelectorAll("[data-scripted]")) scripted.hidden = false;
for (const plain of root.querySelectorAll("[data-plain]")) plain.hidden = true;

const stateLine = document.getElementById("save-state");
const draft = new Draft({
  urls: {
    check: dataset.check,
    save: dataset.save,
    format: dataset.format,
    statements: dataset.statements,
    panels: dataset.panels,
  },
  token: dataset.token,
  text: document.getElementById("text").value,
  version: Number(dataset.version),
  on: {
    checked: show,
    state(name, words) {
      stateLine.dataset.state = name;
      stateLine.firstElementChild.textContent = words;
    },
    stale: (theirs, mine) => stale.show(theirs, mine),
    replaced(theirs) {
      yaml.show(theirs.text);
      this.state("saved", `${theirs.by} saved version ${theirs.version}, which is shown now`);
    },
  },
});

const stale = new Stale(document.getElementById("stale"), {
  takeTheirs() {
    draft.takeTheirs();
    yaml.show(draft.text);
  },
  keepMine: () => draft.keepMine(),
});

// What completion knows

const words = {
  streams: () => {
    const named = checked.document?.streams;
    const chosen = schema.filter(({ name }) => Array.isArray(named) && named.includes(name));
    return chosen.length ? chosen : schema;
  },
  results: () => checked.results,
  async search(stream, column, text) {
    const query = new URLSearchParams({ stream, column, text });
    const answer = await fetch(`${dataset.values}?${query}`);
    return answer.ok ? (await answer.json()).values : [];
  },
};

// Panes

const queries = new Queries(root, draft, words);

const textarea = document.getElementById("text");
const yamlPlace = document.createElement("div");
yamlPlace.className = "ace";
yamlPlace.dataset.label = "The task's document, YAML or JSON";
textarea.before(yamlPlace);
textarea.hidden = true;
const yaml = new Pane(yamlPlace, {
  part: "document",
  mode: "ace/mode/yaml",
  minLines: 24,
  maxLines: 60,
  changed: (value) => draft.replace(value),
});
yaml.show(draft.text);

const form = new Form(document.getElementById("view-form"), (path, value) =>
  draft.change(path, value),
);

const side = new Side(root.querySelector(".editor-side"), {
  jump,
  ask: (name, text) => draft.ask(name, { text }),
});

// Tabs

if (!checked.document) {
  document.getElementById("tab-form").setAttribute("aria-selected", "false");
  document.getElementById("tab-yaml").setAttribute("aria-selected", "true");
}

const views = tabs(root.querySelector(".editor-tabs"), {
  may(tab) {
    if (tab.id !== "tab-form" || checked.document) return true;
    side.show(checked);
    problemsTab.open(document.getElementById("tab-problems"));
    return false;
  },
  opened: (tab) => {
    if (tab.id === "tab-yaml") yaml.show(draft.text);
    queries.redraw();
    yaml.redraw();
  },
});
const problemsTab = tabs(root.querySelector(".side-tabs"), {
  opened: () => side.refresh(checked),
});

if (checked.accepted && checked.diagnostics.length === 0 && !checked.shortage) {
  problemsTab.open(document.getElementById("tab-explain"), { focus: false });
}

const isOpen = (name) =>
  document.getElementById(`tab-${name}`).getAttribute("aria-selected") === "true";

// Showing what the server says

function show(result) {
  checked = result;
  if (result.document) queries.show(result.document);
  if (!isOpen("yaml")) yaml.show(result.text);
  queries.mark(result.diagnostics);
  markYaml(result.diagnostics);
  form.show(result, draft.isPending);
  side.show(result);
  const formTab = document.getElementById("tab-form");
  formTab.setAttribute("aria-disabled", String(!result.document));
  document.getElementById("no-form").hidden = Boolean(result.document);
}

function markYaml(diagnostics) {
  yaml.mark(
    diagnostics
      .filter((found) => found.document_line)
      .map((found) => ({
        ...found,
        line: found.document_line,
        column: found.document_column ?? 1,
      })),
  );
}

function jump(found) {
  if (!isOpen("yaml") && checked.document) {
    if (queries.go(found) || form.go(found.part)) return;
  }
  views.open(document.getElementById("tab-yaml"));
  yaml.go(found.document_line ?? 1, found.document_column ?? 1);
}

root.querySelector("[data-open-yaml]").addEventListener("click", () => {
  views.open(document.getElementById("tab-yaml"));
  const at = draft.text.split("\n").findIndex((line) => /^\s*mechanism:/.test(line));
  yaml.go(Math.max(1, at + 1), 1);
});

// Schema browser

root.querySelector("#side-schema").addEventListener("click", (event) => {
  const button = event.target.closest("[data-insert], [data-insert-value]");
  if (!button) return;
  const { insert, insertValue, type } = button.dataset;
  if (!isOpen("form")) views.open(document.getElementById("tab-form"));
  const text = insert ?? (type === "text" ? `'${insertValue}'` : insertValue);
  queries.insert(text);
});

// Upload, submit, leave

document.getElementById("upload").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const text = await file.text();
  event.target.value = "";
  views.open(document.getElementById("tab-yaml"));
  yaml.replace(text);
});

root.querySelector("#document").addEventListener("submit", async (event) => {
  event.preventDefault();
  const sender = event.submitter;
  if (!(await draft.settled())) return;
  if (sender?.value !== "submit") return;
  if (!checked.accepted) {
    problemsTab.open(document.getElementById("tab-problems"));
    return;
  }
  textarea.value = draft.text;
  event.target.querySelector("[data-version-field]").value = draft.version;
  const action = Object.assign(document.createElement("input"), {
    type: "hidden",
    name: "action",
    value: "submit",
  });
  event.target.append(action);
  leaving = true;
  event.target.submit();
});

let leaving = false;
window.addEventListener("beforeunload", (event) => {
  if (!leaving && !draft.isSaved) event.preventDefault();
});
window.addEventListener("focus", () => draft.check());

show(checked);
root.dataset.ready = "";
