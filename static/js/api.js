// Trying the API: a form's fields become an address, the answer appears below it.
// The calls are made with the session of who looks at the page; no token comes near it.

const SHOWN_CHARACTERS = 200_000;

for (const form of document.querySelectorAll("form[data-path]")) {
  const endpoint = form.closest(".endpoint");
  const line = endpoint.querySelector("[data-curl-path]");
  form.addEventListener("input", () => (line.textContent = addressOf(form)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, endpoint.querySelector("[data-answer]"));
  });
}

function addressOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("[name]")) {
    const value = field.value.trim();
    if (field.dataset.place === "path") {
      if (value) path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    } else if (value) {
      query.append(field.name, value);
    }
  }
  return query.size ? `${path}?${query}` : path;
}

async function send(form, answer) {
  const button = form.querySelector("button");
  button.disabled = true;
  const began = performance.now();
  try {
    const response = await fetch(addressOf(form), { headers: { Accept: "application/json" } });
    const text = await response.text();
    show(answer, `${response.status} ${response.statusText}`, response.ok, pretty(text), began);
  } catch (error) {
    show(answer, "No answer", false, `The server did not answer: ${error.message}.`, began);
  } finally {
    button.disabled = false;
  }
}

function show(answer, status, good, text, began) {
  const badge = answer.querySelector("[data-status]");
  badge.textContent = status;
  badge.className = `badge badge-${good ? "good" : "bad"}`;
  answer.querySelector("[data-time]").textContent = `${Math.round(performance.now() - began)} ms`;
  answer.querySelector("pre code").textContent = text;
  answer.hidden = false;
}

function pretty(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: shown as it came.
  }
  if (shown.length <= SHOWN_CHARACTERS) return shown;
  return `${shown.slice(0, SHOWN_CHARACTERS)}\n… ${shown.length - SHOWN_CHARACTERS} characters more`;
}

// A link to one endpoint opens it.
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  if (named instanceof HTMLDetailsElement) named.open = true;
}

openNamed();
window.addEventListener("hashchange", openNamed);
