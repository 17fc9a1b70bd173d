// Copy buttons. Where the browser has no clipboard (plain http), they stay hidden: the text can
// be selected with one click.

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
  const before = label.textContent;
  if (saying.has(label)) return;
  saying.add(label);
  try {
    await navigator.clipboard.writeText(text ?? document.getElementById(id).textContent);
    label.textContent = "Copied";
  } catch {
    label.textContent = "The browser forbids it";
  }
  setTimeout(() => {
    label.textContent = before;
    saying.delete(label);
  }, 1500);
}
