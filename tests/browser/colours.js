// Mark one element for each way in which text is coloured on this page. Of two with the same
// colours, size and weight, on the same backgrounds, one tells about both; whatever something
// painted lies across is marked on its own. axe is told to look at what is marked (looking.py).
() => {
  const CLEAR = "rgba(0, 0, 0, 0),none";
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const painted = (element) => {
    const { backgroundColor, backgroundImage } = styleOf(element);
    return `${backgroundColor},${backgroundImage}`;
  };

  // What is painted below an element, from the outermost in.
  const grounds = new Map([[null, ""]]);
  const groundOf = (element) => {
    if (!grounds.has(element)) {
      const { opacity, filter } = styleOf(element);
      const own = `${painted(element)},${opacity},${filter}`;
      const below = groundOf(element.parentElement);
      grounds.set(element, own === `${CLEAR},1,none` ? below : `${below}|${own}`);
    }
    return grounds.get(element);
  };

  const everything = [...document.querySelectorAll("body *")];
  const floating = everything
    .filter((each) => styleOf(each).position !== "static" || styleOf(each).transform !== "none")
    .filter((each) => painted(each) !== CLEAR && each.checkVisibility())
    .map((each) => ({ each, box: each.getBoundingClientRect() }));
  const isCrossed = (element, box) =>
    floating.some(
      ({ each, box: other }) =>
        box.left < other.right && other.left < box.right &&
        box.top < other.bottom && other.top < box.bottom &&
        !each.contains(element) && !element.contains(each),
    );

  const look = (element) => {
    const { color, fontSize, fontWeight, textShadow } = styleOf(element);
    const isOff = Boolean(element.closest("[disabled], [aria-disabled=true]"));
    return [groundOf(element), color, fontSize, fontWeight, textShadow, isOff].join();
  };

  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const seen = new Set();
  let marked = 0;
  for (const element of everything) {
    element.removeAttribute("data-looked-at");
    const says = element.matches("input, select, textarea") || [...element.childNodes].some(isText);
    if (!says) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const key = isCrossed(element, box) ? Symbol("crossed") : look(element);
    if (seen.has(key)) continue;
    seen.add(key);
    element.setAttribute("data-looked-at", "");
    marked += 1;
  }
  return marked;
}
