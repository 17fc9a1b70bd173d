// Copy buttons. Where the browser has no clipboard (plain http) or forbids it, the text is shown
// selected, so that the keyboard copies it.

const buttons = "[data-copies], [data-copy]";
// Labels that say what has just happened.
const saying = new Set();

reveal();
document.addEventListener("htmx:afterSwap", reveal);
document.addEventListener("click", (event) => {
  const button = event.target.closest(buttons);
  if (button) copy(button);
});

function reveal() {
  for (const button of document.querySelectorAll(buttons)) button.hidden = false;
}

async function copy(button) {
  const { copy: text, copies: id } = button.dataset;
  const place = document.getElementById(id);
  const label = button.querySelector("span");
  if (saying.has(label)) return;
  saying.add(label);
  let words = "Copied";
  try {
    await navigator.clipboard.writeText(text ?? place.textContent);
  } catch {
    words = "Copy what is selected";
    if (place) getSelection().selectAllChildren(place);
    else fieldAfter(button, label.textContent, text).select();
  }
  say(label, words);
}

function fieldAfter(button, name, text) {
  const next = button.nextElementSibling;
  const field = next?.matches(".copy-field") ? next : document.createElement("input");
  field.className = "copy-field mono";
  field.readOnly = true;
  field.value = text;
  field.setAttribute("aria-label", name);
  button.after(field);
  field.focus();
  return field;
}

// To everyone, for a moment: also where the button has a picture alone.
function say(label, words) {
  const { textContent: before, className: look } = label;
  label.setAttribute("role", "status");
  label.className = "";
  label.textContent = words;
  setTimeout(() => {
    label.removeAttribute("role");
    label.className = look;
    label.textContent = before;
    saying.delete(label);
  }, 1500);
}
