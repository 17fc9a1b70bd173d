// A chart as a file: the drawing with its colours written out, as it looks now.

const WRITTEN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linejoin", "font-family", "font-size", "font-weight", "paint-order", "vector-effect",
  "display",
];
const MARGIN = 16;
const FINENESS = 2;

export async function saveAs(chart, kind) {
  const text = new XMLSerializer().serializeToString(still(chart));
  const name = fileName(chart.querySelector("title").textContent);
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  if (kind === "svg") {
    keep(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  } else {
    keep(await picture(address), `${name}.png`);
  }
}

function still(chart) {
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
  const size = { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
  const box = `-${MARGIN} -${MARGIN} ${size.width} ${size.height}`;
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  set(copy, { ...size, viewBox: box });
  set(ground, { ...size, x: -MARGIN, y: -MARGIN, fill: groundOf(chart) });
  copy.insertBefore(ground, copy.querySelector("defs"));
  return copy;
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
