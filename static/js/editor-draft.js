// One text behind everything: what is typed goes into it on the server, is judged, and is saved.
// One request at a time; what is typed meanwhile goes with the next one. Nothing is dropped.

const SOON = 350; // milliseconds after the last key
const AGAIN = 5000; // after a failure

export class Draft {
  #urls;
  #pending = new Map(); // path as JSON → change
  #timer = 0;
  #isChecking = false;
  #isSaving = false;
  #turn = 0; // grows when the whole text is replaced
  #saved;
  #conflict = null;
  #on;

  constructor({ urls, token, text, version, on }) {
    this.#urls = urls;
    this.token = token;
    this.text = text;
    this.#saved = text;
    this.version = version;
    this.#on = on; // checked(result), state(name, words), stale(theirs)
  }

  get isSaved() {
    return this.text === this.#saved && this.#pending.size === 0 && !this.#isSaving;
  }

  isPending = (path) => this.#pending.has(JSON.stringify(path));

  change(path, value) {
    this.#pending.set(JSON.stringify(path), { path, value });
    this.#on.state("typing", "Not saved yet");
    this.#soon();
  }

  replace(text) {
    this.#turn += 1;
    this.#pending.clear();
    this.text = text;
    this.#on.state("typing", "Not saved yet");
    this.#soon();
  }

  #soon(wait = SOON) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.check(), wait);
  }

  async check() {
    if (this.#isChecking) return;
    this.#isChecking = true;
    clearTimeout(this.#timer);
    const turn = this.#turn;
    const sent = new Map(this.#pending);
    const body = { text: this.text, version: this.version, changes: [...sent.values()] };
    const answer = await this.#post("check", body);
    this.#isChecking = false;
    if (turn !== this.#turn) return this.#soon(0);
    if (!answer.ok) return this.#failed(answer, () => this.check());
    this.text = answer.body.text;
    for (const [key, change] of sent) {
      if (this.#pending.get(key) === change) this.#pending.delete(key);
    }
    this.#on.checked(answer.body);
    if (this.#pending.size) this.#soon();
    return this.#isOlder(answer.body.draft) ? undefined : this.save();
  }

  // Somebody else saved: with nothing of one's own to lose, their text is shown at once.
  #isOlder(held) {
    if (this.#isSaving || this.#conflict || held.version <= this.version) return false;
    this.#conflict = held;
    if (this.text !== this.#saved || this.#pending.size) {
      this.#on.state("failed", `Not saved: ${held.by} saved it meanwhile`);
      this.#on.stale(held, this.text);
    } else {
      this.takeTheirs();
      this.#on.replaced(held);
    }
    return true;
  }

  async save() {
    if (this.#isSaving || this.#conflict || this.text === this.#saved) {
      if (this.isSaved) this.#on.state("saved", `Saved, version ${this.version}`);
      return;
    }
    this.#isSaving = true;
    const text = this.text;
    this.#on.state("saving", "Saving …");
    const answer = await this.#post("save", { text, version: this.version });
    this.#isSaving = false;
    if (answer.status === 409 && answer.body?.stale) {
      this.#conflict = answer.body.stale;
      this.#on.state("failed", `Not saved: ${this.#conflict.by} saved it meanwhile`);
      this.#on.stale(this.#conflict, text);
      return;
    }
    if (!answer.ok) return void this.#failed(answer, () => this.save());
    this.version = answer.body.version;
    this.#saved = text;
    if (this.text !== text) return this.save();
    if (this.#pending.size === 0) this.#on.state("saved", `Saved, version ${this.version}`);
  }

  // Of two texts, somebody has chosen one.
  takeTheirs() {
    const { text, version } = this.#conflict;
    this.#conflict = null;
    this.version = version;
    this.#saved = text;
    this.replace(text);
  }

  keepMine() {
    this.version = this.#conflict.version;
    this.#conflict = null;
    return this.save();
  }

  #failed(answer, again) {
    this.#on.state("failed", `Not saved: ${answer.message}`);
    if (answer.passing) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(again, AGAIN);
    }
  }

  // Whether all that was typed is judged and saved; waits for what is under way.
  async settled() {
    for (let turn = 0; turn < 50 && !this.isSaved && !this.#conflict; turn += 1) {
      await this.check();
      if (!this.isSaved) await new Promise((resume) => setTimeout(resume, 100));
    }
    return this.isSaved;
  }

  ask(name, body) {
    return this.#post(name, body);
  }

  async #post(name, body) {
    try {
      const answer = await fetch(this.#urls[name] ?? `${this.#urls.panels}/${name}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.token },
        body: JSON.stringify(body),
        redirect: "manual",
      });
      return await read(answer);
    } catch {
      return { ok: false, passing: true, message: "the server cannot be reached; trying again" };
    }
  }
}

async function read(answer) {
  if (answer.type === "opaqueredirect" || answer.status === 403) {
    const message = "you are signed out, or may not edit; sign in again in another tab";
    return { ok: false, passing: true, status: answer.status, message };
  }
  const isJson = answer.headers.get("Content-Type")?.includes("json");
  const body = isJson ? await answer.json() : await answer.text();
  const error = isJson ? body.error : null;
  return {
    ok: answer.ok,
    status: answer.status,
    body,
    passing: answer.status >= 500 || answer.status === 429,
    wait: Number(answer.headers.get("Retry-After")) || 0,
    message: error ? `${error.message} ${error.hint}`.trim() : "something went wrong on our side",
  };
}
