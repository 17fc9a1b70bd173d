// Say so when the page can no longer follow: its words would otherwise look fresh.

const lost = document.querySelector("[data-lost=health]");

for (const event of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(event, () => lost.removeAttribute("hidden"));
}
document.addEventListener("htmx:afterSwap", () => lost.setAttribute("hidden", ""));
