// Charts work without this file: it adds tooltips that follow pointer, keys and touch, maps that
// can be moved, and pictures to keep.

import { watchTips } from "./charts-tips.js";
import { makeMovable } from "./charts-maps.js";
import { saveAs } from "./charts-saving.js";

function prepare(root) {
  for (const button of root.querySelectorAll("[data-chart-png], [data-chart-svg]")) {
    button.hidden = false;
  }
  for (const chart of root.querySelectorAll("svg.chart:not([data-ready])")) {
    chart.dataset.ready = "";
    watchTips(chart);
    if (chart.querySelector(".map-stage")) makeMovable(chart);
  }
}

// A button names its chart by id, or belongs to the visible one of its figure.
function chartOf(button, named) {
  if (named) return document.getElementById(named);
  const around = button.closest("figure, section, .card") ?? document;
  return [...around.querySelectorAll("svg.chart")].find((chart) => chart.getClientRects().length);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-chart-png], [data-chart-svg]");
  if (!button) return;
  const kind = "chartPng" in button.dataset ? "png" : "svg";
  const chart = chartOf(button, button.dataset.chartPng || button.dataset.chartSvg);
  if (chart) saveAs(chart, kind, button.dataset.source ?? "");
});

prepare(document);
document.addEventListener("htmx:afterSettle", (event) => prepare(event.target));
