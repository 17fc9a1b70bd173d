// Two people on one draft: both texts side by side, and a choice between them.

export class Stale {
  #root;

  constructor(root, { takeTheirs, keepMine }) {
    this.#root = root;
    const choose = (button, act) =>
      root.querySelector(button).addEventListener("click", () => {
        root.hidden = true;
        act();
      });
    choose("[data-take-theirs]", takeTheirs);
    choose("[data-keep-mine]", keepMine);
  }

  show(theirs, mine) {
    const fill = (name, text) => {
      this.#root.querySelector(`[data-stale-${name}]`).textContent = text;
    };
    fill("by", theirs.by);
    fill("version", theirs.version);
    marked(this.#root.querySelector("[data-stale-theirs]"), theirs.text, mine);
    marked(this.#root.querySelector("[data-stale-mine]"), mine, theirs.text);
    this.#root.hidden = false;
    this.#root.querySelector("h2").focus();
    this.#root.scrollIntoView({ block: "start" });
  }
}

// Lines that the other text has not are marked.
function marked(place, text, other) {
  const known = new Set(other.split("\n"));
  const parts = text.split("\n").map((line) => {
    if (known.has(line)) return `${line}\n`;
    const mark = document.createElement("mark"); // a block: the next line begins below it
    mark.textContent = line || " ";
    return mark;
  });
  place.replaceChildren(...parts);
}
