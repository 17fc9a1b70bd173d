// The SQL panes and the YAML pane: Ace, without anything that a strict content policy forbids.

import { completerFor, followLiterals } from "./editor-completion.js";

const { ace } = window;
const { Range } = ace.require("ace/range");

ace.config.set("useStrictCSP", true); // its styles come as a file
ace.define("ace/theme/mayfly", ["require", "exports", "module"], (_, exports) => {
  exports.isDark = false;
  exports.cssClass = "ace-mayfly";
  exports.cssText = "";
});

const OPTIONS = {
  theme: "ace/theme/mayfly",
  useWorker: false,
  enableKeyboardAccessibility: true,
  enableBasicAutocompletion: true,
  enableLiveAutocompletion: true,
  showPrintMargin: false,
  highlightActiveLine: true,
  highlightGutterLine: true,
  tabSize: 2,
  useSoftTabs: true,
  fontSize: 13,
  scrollPastEnd: 0,
  fixedWidthGutter: true,
  wrap: true,
  indentedSoftWrap: false,
  useSvgGutterIcons: true,
};

export class Pane {
  #quiet = false;
  #marks = [];

  constructor(element, { part, mode, minLines, maxLines, changed, words }) {
    this.part = part;
    this.editor = ace.edit(element, { ...OPTIONS, mode, minLines, maxLines });
    this.editor.completers = words ? [completerFor(part, words)] : [];
    this.editor.setOption("enableLiveAutocompletion", Boolean(words));
    const { label } = element.dataset;
    this.editor.setOption("textInputAriaLabel", label);
    this.editor.renderer.scroller.setAttribute(
      "aria-label",
      `${label}: press Enter to write, Escape to leave`,
    );
    if (words) followLiterals(this.editor);
    this.editor.commands.removeCommands(["gotoline", "showSettingsMenu"]);
    this.editor.session.on("change", () => {
      if (!this.#quiet) changed(this.value);
    });
  }

  get value() {
    return this.editor.getValue();
  }

  // Show another text without telling it back; the cursor stays where it was.
  show(text) {
    if (text === this.value) return;
    this.#quiet = true;
    const at = this.editor.getCursorPosition();
    this.editor.session.doc.setValue(text);
    this.editor.clearSelection();
    this.editor.moveCursorToPosition(at);
    this.#quiet = false;
  }

  // As if it had been typed: it can be undone.
  replace(text) {
    if (text === this.value) return;
    const at = this.editor.getCursorPosition();
    this.editor.setValue(text, -1);
    this.editor.moveCursorToPosition(at);
  }

  mark(findings) {
    this.#underline(findings);
    this.editor.session.setAnnotations(
      findings.map(({ line, column, severity, message, hint }) => ({
        row: Math.max(0, Math.min(line, this.editor.session.getLength()) - 1),
        column: column - 1,
        type: severity === "warning" ? "warning" : "error",
        text: hint ? `${message} ${hint}` : message,
      })),
    );
  }

  // The word that a finding stands at.
  #underline(findings) {
    const { session } = this.editor;
    for (const id of this.#marks) session.removeMarker(id);
    this.#marks = findings.map(({ line, column, severity }) => {
      const text = session.getLine(line - 1) ?? "";
      const word = /^(\w+|.)?/.exec(text.slice(column - 1))[0];
      const end = column - 1 + Math.max(1, word.length);
      return session.addMarker(new Range(line - 1, column - 1, line - 1, end), `problem-mark ${severity}`, "text");
    });
  }

  go(line, column) {
    this.editor.resize(true);
    this.editor.gotoLine(line, Math.max(0, column - 1), false);
    this.editor.focus();
    this.editor.container.scrollIntoView({ block: "nearest" });
  }

  insert(text) {
    this.editor.insert(text);
    this.editor.focus();
  }

  onFocus(listener) {
    this.editor.on("focus", listener);
  }

  command(name, keys, run) {
    this.editor.commands.addCommand({ name, bindKey: { win: keys, mac: keys }, exec: run });
  }

  redraw() {
    this.editor.resize(true);
  }
}
