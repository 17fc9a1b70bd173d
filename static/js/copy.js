// Copy buttons. Where the browser has no clipboard (plain http), they stay hidden: the text can
// be selected with one click.

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

async function copy(button) {
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
  const label = button.querySelector("span");
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = "Copy"), 1500);
}
