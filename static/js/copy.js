// Copy buttons. Where the browser has no clipboard (plain http), they stay hidden: the text can
// be selected with one click, and a hash be read in full as the title of its code.

const buttons = "[data-copies], [data-copy]";
// Labels that say what has just happened.
const saying = new Set();

if (navigator.clipboard) {
  reveal();
  document.addEventListener("htmx:afterSwap", reveal);
  document.addEventListener("click", (event) => {
    const button = event.target.closest(buttons);
    if (button) copy(button);
  });
}

function reveal() {
  for (const button of document.querySelectorAll(buttons)) button.hidden = false;
}

async function copy(button) {
  const { copy: text, copies: id } = button.dataset;
  const label = button.querySelector("span");
  if (saying.has(label)) return;
  saying.add(label);
  let words = "Copied";
  try {
    await navigator.clipboard.writeText(text ?? document.getElementById(id).textContent);
  } catch {
    words = "The browser forbids it";
  }
  say(label, words);
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
