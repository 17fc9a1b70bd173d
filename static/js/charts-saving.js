// A chart as a file: the drawing with its colours written out, as it looks now, between its title
// and where it comes from.

const WRITTEN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linejoin", "font-family", "font-size", "font-weight", "paint-order", "vector-effect",
  "display",
];
const MARGIN = 16;
const TITLE = { size: 15, weight: 600, line: 20 };
const SOURCE = { size: 12, weight: 400, line: 16 };
const FINENESS = 2;

export async function saveAs(chart, kind, source) {
  const text = new XMLSerializer().serializeToString(still(chart, source));
  const name = fileName(chart.querySelector("title").textContent);
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  if (kind === "svg") {
    keep(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  } else {
    keep(await picture(address), `${name}.png`);
  }
}

function still(chart, source) {
  const copy = chart.cloneNode(true);
  const { width, height } = chart.viewBox.baseVal;
  const copies = [copy, ...copy.querySelectorAll("*")];
  [chart, ...chart.querySelectorAll("*")].forEach((original, index) => {
    if (["title", "desc", "defs"].includes(original.localName)) return;
    const style = getComputedStyle(original);
    for (const property of WRITTEN) {
      copies[index].setAttribute(property, style.getPropertyValue(property));
    }
  });
  // A pattern is named by the same words in both documents, whatever this page's address is.
  for (const one of copy.querySelectorAll('[fill*="url("]')) {
    one.setAttribute("fill", `url(#${one.getAttribute("fill").match(/#([\w-]+)/)[1]})`);
  }
  const own = chart.querySelector(".chart-title") ? "" : chart.querySelector("title").textContent;
  const [title, above] = written(chart, own, TITLE, width);
  const [small, below] = written(chart, source, SOURCE, width);
  set(title, { transform: `translate(0 ${-above - MARGIN / 2})` });
  set(small, { transform: `translate(0 ${height})` });
  const top = MARGIN + (above && above + MARGIN / 2);
  const size = { width: width + 2 * MARGIN, height: top + height + below + MARGIN };
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  set(copy, { ...size, viewBox: `-${MARGIN} -${top} ${size.width} ${size.height}` });
  set(ground, { ...size, x: -MARGIN, y: -top, fill: groundOf(chart) });
  copy.insertBefore(ground, copy.querySelector("defs"));
  copy.append(title, small);
  return copy;
}

// Words in as many lines as they need, and how high those are.
function written(chart, words, { size, weight, line }, width) {
  const { color, fontFamily } = getComputedStyle(chart);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px ${fontFamily}`;
  const lines = [];
  for (const word of words.split(" ").filter(Boolean)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const group = document.createElementNS(chart.namespaceURI, "g");
  set(group, { fill: color, "font-family": fontFamily, "font-size": size, "font-weight": weight });
  lines.forEach((one, index) => {
    const text = document.createElementNS(chart.namespaceURI, "text");
    set(text, { y: (index + 1) * line });
    text.textContent = one;
    group.append(text);
  });
  return [group, lines.length * line];
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function groundOf(element) {
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent") return colour;
  }
  return "white";
}

async function picture(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = FINENESS * image.naturalWidth;
  canvas.height = FINENESS * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(title) {
  const plain = title.normalize("NFKD").replace(/[^\w\s-]/g, "").trim();
  return plain.replace(/\s+/g, "-").toLowerCase().slice(0, 80) || "chart";
}
