// Copy buttons. Where the browser has no clipboard (plain http), they stay hidden: the text can
// be selected with one click.

const buttons = "[data-copies], [data-copy]";

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
  await navigator.clipboard.writeText(text ?? document.getElementById(id).textContent);
  const label = button.querySelector("span");
  const before = label.textContent;
  if (before === "Copied") return;
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = before), 1500);
}
