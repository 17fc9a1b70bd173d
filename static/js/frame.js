// Menus close when one looks elsewhere; wide tables can be scrolled from the keyboard; lists that
// scroll begin at where one is.
// Everything works without this file, a little less comfortably.

const openMenus = () => document.querySelectorAll("details[data-menu][open]");

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("focusin", (event) => {
  for (const menu of openMenus()) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

const nameOf = (wrap) =>
  wrap.querySelector("caption")?.textContent.trim() ||
  wrap.closest(".card, section")?.querySelector("h2, h3")?.textContent.trim() ||
  "Table";

const watched = new ResizeObserver((entries) => {
  for (const { target } of entries) makeScrollable(target);
});

function makeScrollable(wrap) {
  if (wrap.scrollWidth > wrap.clientWidth) {
    wrap.tabIndex = 0;
    wrap.setAttribute("role", "region");
    wrap.setAttribute("aria-label", nameOf(wrap));
  } else if (wrap.getAttribute("role") === "region") {
    wrap.removeAttribute("tabindex");
    wrap.removeAttribute("role");
    wrap.removeAttribute("aria-label");
  }
}

function watchTables(root) {
  for (const wrap of root.querySelectorAll(".table-wrap, .page-body pre")) {
    watched.observe(wrap);
    makeScrollable(wrap);
  }
}

watchTables(document);
document.addEventListener("htmx:afterSettle", (event) => watchTables(event.target));

function showCurrent() {
  for (const list of document.querySelectorAll(".windows ol, .docs-side, .rail-nav")) {
    const marked = [...list.querySelectorAll("[aria-current]")];
    const current = marked.find((one) => one.checkVisibility());
    if (!current) continue;
    const [outer, inner] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
    const isCut = inner.left < outer.left || inner.right > outer.right;
    if (isCut) list.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    const isBelow = inner.bottom > Math.min(outer.bottom, innerHeight);
    if (isBelow) list.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }
}

showCurrent();
document.addEventListener("htmx:afterSettle", showCurrent);
