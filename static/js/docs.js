// Code can be copied and, where it is wide, scrolled from the keyboard; the list of headings
// follows the reader. Everything can be read without this file.

for (const block of document.querySelectorAll("pre[data-copy]")) {
  if (navigator.clipboard) block.after(copyButton(block));
  new ResizeObserver(() => makeScrollable(block)).observe(block);
}

function copyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser forbids it";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

function makeScrollable(block) {
  if (block.scrollWidth > block.clientWidth) {
    block.tabIndex = 0;
    block.setAttribute("role", "group");
    block.setAttribute("aria-label", "Code");
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) block.removeAttribute(name);
  }
}

const entries = new Map();
for (const link of document.querySelectorAll(".docs-toc a")) {
  const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (heading) entries.set(heading, link);
}

function markCurrent() {
  let current = null;
  for (const [heading, link] of entries) {
    link.removeAttribute("aria-current");
    if (heading.getBoundingClientRect().top < 160) current = link;
  }
  current?.setAttribute("aria-current", "true");
}

if (entries.size) {
  document.addEventListener("scroll", markCurrent, { passive: true });
  markCurrent();
}
