// On a phone, opening what can be chosen brings it to the top: the answer below is seen to follow.
// On a larger screen it is open from the start.

const still = matchMedia("(prefers-reduced-motion: reduce)");

for (const choices of document.querySelectorAll("details.choices")) {
  choices.addEventListener("toggle", () => {
    if (!choices.open) return;
    choices.scrollIntoView({ block: "start", behavior: still.matches ? "auto" : "smooth" });
  });
}
