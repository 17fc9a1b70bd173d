// Tabs by mouse and arrow keys. `may` can refuse to leave for a tab.

export function tabs(list, { opened = () => {}, may = () => true } = {}) {
  const all = [...list.querySelectorAll("[role=tab]")];

  function open(tab, { focus = true } = {}) {
    if (!may(tab)) return;
    for (const each of all) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      document.getElementById(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    opened(tab);
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) open(tab);
  });
  list.addEventListener("keydown", (event) => {
    const here = all.indexOf(document.activeElement);
    const steps = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: -1 };
    if (here < 0 || !(event.key in steps)) return;
    event.preventDefault();
    open(all.at(steps[event.key] % all.length));
  });
  open(all.find((tab) => tab.getAttribute("aria-selected") === "true"), { focus: false });
  return { open };
}
