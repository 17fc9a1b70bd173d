// A map can be moved and enlarged: buttons, keys + − 0, drag, two fingers, and the wheel with
// Ctrl or once the map has the focus (so that a page can be scrolled past it).

const MOST = 24;

export function makeMovable(chart) {
  const stage = chart.querySelector(".map-stage");
  const { width, height } = stage.viewBox.baseVal;
  const view = { x: 0, y: 0, zoom: 1 };
  const tools = toolbar((action) => act(action));
  const room = chart.closest(".chart-room");
  (room ?? chart).before(tools);
  if (room) keepInSight(chart, room);

  function draw() {
    const seen = { width: width / view.zoom, height: height / view.zoom };
    view.x = Math.min(Math.max(view.x, 0), width - seen.width);
    view.y = Math.min(Math.max(view.y, 0), height - seen.height);
    stage.setAttribute("viewBox", `${view.x} ${view.y} ${seen.width} ${seen.height}`);
    stage.style.setProperty("--unzoom", 1 / view.zoom);
    chart.classList.toggle("moved", view.zoom > 1);
    tools.lastElementChild.disabled = view.zoom === 1;
  }

  // Where on the stage a point of the screen lies, in the drawing's units.
  function onStage(clientX, clientY) {
    const at = new DOMPoint(clientX, clientY).matrixTransform(stage.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  function enlarge(factor, around) {
    const zoom = Math.min(Math.max(view.zoom * factor, 1), MOST);
    const grown = zoom / view.zoom;
    view.x = around.x - (around.x - view.x) / grown;
    view.y = around.y - (around.y - view.y) / grown;
    view.zoom = zoom;
    draw();
  }

  function act(action) {
    const middle = { x: view.x + width / view.zoom / 2, y: view.y + height / view.zoom / 2 };
    if (action === "reset") Object.assign(view, { x: 0, y: 0, zoom: 1 });
    enlarge({ in: 1.6, out: 1 / 1.6, reset: 1 }[action], middle);
  }

  chart.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !chart.contains(document.activeElement)) return;
    event.preventDefault();
    enlarge(Math.exp(-event.deltaY / 300), onStage(event.clientX, event.clientY));
  }, { passive: false });

  chart.addEventListener("keydown", (event) => {
    const action = { "+": "in", "=": "in", "-": "out", 0: "reset" }[event.key];
    if (action && !event.ctrlKey && !event.metaKey) act(action);
  });

  drag(stage, onStage, (move, factor, around) => {
    view.x -= move.x;
    view.y -= move.y;
    enlarge(factor, around);
  });
  draw();
}

// A map that is wider than its room begins in its middle, fades where it goes on, and its legend
// stays in the room.
function keepInSight(chart, room) {
  const legend = chart.querySelector(".map-legend");
  const stage = chart.querySelector(".map-stage");
  function fade() {
    const left = room.scrollLeft;
    const right = room.scrollWidth - room.clientWidth - left;
    const height = stage.getBoundingClientRect().height;
    room.style.setProperty("--fade-start", left > 1 ? "2.5rem" : "0px");
    room.style.setProperty("--fade-end", right > 1 ? "2.5rem" : "0px");
    room.style.setProperty("--map-height", `${height}px`);
  }
  function place() {
    fade();
    const whole = chart.getBoundingClientRect().width;
    const part = room.clientWidth / whole;
    if (!legend || !(part < 0.999)) return legend?.removeAttribute("transform");
    const left = (room.scrollLeft / whole) * chart.viewBox.baseVal.width;
    const top = (stage.y.baseVal.value + stage.height.baseVal.value) * (1 - part);
    legend.setAttribute("transform", `translate(${left} ${top}) scale(${part})`);
  }
  room.scrollLeft = (room.scrollWidth - room.clientWidth) / 2;
  room.addEventListener("scroll", place, { passive: true });
  new ResizeObserver(place).observe(room);
  place();
}

// One finger or the mouse moves; two fingers move and enlarge.
function drag(stage, onStage, change) {
  const held = new Map();
  let dragged = false;
  stage.addEventListener("pointerdown", (event) => {
    held.set(event.pointerId, event);
    dragged = false;
  });
  addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const from = onStage(before.clientX, before.clientY);
    const to = onStage(event.clientX, event.clientY);
    const others = [...held.values()].filter((one) => one.pointerId !== event.pointerId);
    const far = Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (!dragged && !others.length && far < 4) return;
    dragged = true;
    held.set(event.pointerId, event);
    const move = { x: to.x - from.x, y: to.y - from.y };
    if (!others.length) return change(move, 1, to);
    const fixed = onStage(others[0].clientX, others[0].clientY);
    const grown = Math.hypot(to.x - fixed.x, to.y - fixed.y) /
      Math.max(Math.hypot(from.x - fixed.x, from.y - fixed.y), 1e-6);
    change({ x: 0, y: 0 }, grown, fixed);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => held.delete(event.pointerId));
  }
  // The end of a drag is no click on what lies below.
  stage.addEventListener("click", (event) => dragged && event.preventDefault(), true);
  stage.addEventListener("dragstart", (event) => event.preventDefault());
}

function toolbar(onAction) {
  const tools = document.createElement("div");
  tools.className = "map-tools";
  const labels = { in: ["+", "Enlarge the map"], out: ["−", "Reduce the map"], reset: ["Reset", "Show the whole map"] };
  for (const [action, [words, label]] of Object.entries(labels)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.title = label;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => onAction(action));
    tools.append(button);
  }
  return tools;
}
