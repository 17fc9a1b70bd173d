// A button beside each hash copies the whole of it. Without this file, or where the browser has no
// clipboard, the buttons stay hidden, and the hash can be read in full as the title of its code.

function showButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const words = button.querySelector(".visually-hidden");
  const before = words.textContent;
  words.textContent = "Copied";
  words.setAttribute("role", "status");
  button.classList.add("copied");
  setTimeout(() => {
    words.textContent = before;
    words.removeAttribute("role");
    button.classList.remove("copied");
  }, 1500);
});

showButtons(document);
document.addEventListener("htmx:afterSettle", (event) => showButtons(event.target));
