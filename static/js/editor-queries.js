// The queries: two panes or one, laid out and nested on the server.

import { Pane } from "./editor-panes.js";

const PARTS = ["client_sql", "server_sql", "sql"];

export class Queries {
  #root;
  #draft;
  #problem;
  #last; // the pane that was written in last
  mode = "two";

  constructor(root, draft, words) {
    this.#root = root;
    this.#draft = draft;
    this.#problem = root.querySelector("#queries-problem");
    this.panes = Object.fromEntries(PARTS.map((part) => [part, this.#pane(part, words)]));
    this.#last = this.panes.client_sql;
    for (const button of root.querySelectorAll("[data-mode]")) {
      button.addEventListener("click", () => this.#switch(button.dataset.mode));
    }
    root.querySelector("[data-format-all]").addEventListener("click", () => this.format());
    document.addEventListener("keydown", (event) => {
      const isHotkey = event.altKey && event.shiftKey && event.code === "KeyF";
      if (!isHotkey || event.defaultPrevented) return;
      event.preventDefault();
      this.format();
    });
  }

  #pane(part, words) {
    const pane = new Pane(this.#root.querySelector(`[data-ace=${part}]`), {
      part,
      mode: "ace/mode/sql",
      minLines: 6,
      maxLines: 30,
      words,
      changed: (value) => this.#draft.change([part], value),
    });
    pane.onFocus(() => (this.#last = pane));
    pane.command("format", "Alt-Shift-F", () => this.format([pane]));
    return pane;
  }

  show(spec) {
    const found = spec.sql !== undefined ? "one" : "two";
    const isTyped = PARTS.some((part) => this.#draft.isPending([part]));
    if (found !== this.mode && !isTyped) this.setMode(found);
    for (const part of PARTS) {
      if (!this.#draft.isPending([part])) this.panes[part].show(String(spec[part] ?? ""));
    }
  }

  mark(diagnostics) {
    for (const part of PARTS) {
      this.panes[part].mark(diagnostics.filter((found) => found.part === part && found.line));
    }
  }

  // False where the finding lies in no query.
  go({ part, line, column }) {
    if (!this.panes[part] || !line) return false;
    this.panes[part].go(line, column ?? 1);
    return true;
  }

  insert(text) {
    this.#last.insert(text);
  }

  redraw() {
    for (const pane of Object.values(this.panes)) pane.redraw();
  }

  setMode(mode) {
    this.mode = mode;
    for (const button of this.#root.querySelectorAll("[data-mode]")) {
      button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    }
    for (const part of PARTS) {
      const place = this.#root.querySelector(`[data-pane=${part}]`);
      place.hidden = (part === "sql") !== (mode === "one");
    }
    this.redraw();
    this.#last = mode === "one" ? this.panes.sql : this.panes.client_sql;
  }

  async #switch(next) {
    if (next === this.mode) return;
    const { client_sql: client, server_sql: server, sql: nested } = this.panes;
    const body =
      next === "one"
        ? { client_sql: client.value, server_sql: server.value }
        : { sql: nested.value };
    const answer = await this.#draft.ask("statements", body);
    this.#complain(answer.ok ? "" : answer.message);
    if (!answer.ok) return;
    for (const part of PARTS) {
      const text = answer.body[part] ?? null;
      this.panes[part].show(text ?? "");
      this.#draft.change([part], text);
    }
    this.setMode(next);
  }

  #shown() {
    const { client_sql: client, server_sql: server, sql: nested } = this.panes;
    return this.mode === "one" ? [nested] : [client, server];
  }

  async format(which = this.#shown()) {
    this.#complain("");
    for (const pane of which.filter((each) => each.value.trim())) {
      const before = pane.value;
      const answer = await this.#draft.ask("format", { sql: before });
      if (!answer.ok) this.#complain(answer.message);
      else if (pane.value === before) pane.replace(answer.body.sql);
    }
  }

  #complain(words) {
    this.#problem.hidden = !words;
    this.#problem.textContent = words;
  }
}
