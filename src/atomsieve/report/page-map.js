"use strict";

// The map of all features: a cell for each, in the colour of its verdict.

const STRIPS = 12;
const strips = several && data.outputs.length > STRIPS ? [{ title: "in any of them", at: summed }] : data.outputs.map(stripOf);

function stripOf(title, output) {
  return { title, output, at: (feature) => data.verdicts[output][feature] };
}

function summed(feature) {
  const letters = new Set(data.verdicts.map((verdicts) => verdicts[feature]));
  if (letters.has("n") || letters.has("g")) return "n";
  return letters.size === 1 ? letters.values().next().value : "u";
}

function drawStrip(strip) {
  const { canvas } = strip;
  const width = canvas.parentElement.clientWidth;
  const tallest = strips.length > 1 ? 150 : 320;
  const size = Math.max(2, Math.min(26, Math.floor(Math.sqrt((width * tallest) / count))));
  const across = Math.floor(width / size);
  const ratio = window.devicePixelRatio || 1;
  Object.assign(strip, { size, across });
  canvas.width = width * ratio;
  canvas.height = Math.ceil(count / across) * size * ratio;
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  for (const [colour, features] of cellsByColour(strip)) drawCells(pen, colour, features, strip);
}

// Lists of features by the colour of their cells, those of most interest last.
function cellsByColour({ at, output }) {
  const cells = new Map(["--zero", "--undecided", "--unpenalised", "--group", "--nonzero", "--negative"].map((colour) => [colour, []]));
  for (let feature = 0; feature < count; feature += 1) cells.get(colourOf(at(feature), output, feature)).push(feature);
  return cells;
}

function colourOf(letter, output, feature) {
  const signed = output !== undefined && (letter === "n" || letter === "g");
  return signed && (rows.get(output * count + feature)?.value ?? 0) < 0 ? "--negative" : VERDICTS[letter].colour;
}

// Small cells that are few are drawn larger than they are, so that they are seen. Cells without gaps are drawn in runs.
function drawCells(pen, colour, features, { size, across }) {
  const few = colour !== "--zero" && features.length < count / 10;
  const more = size < 5 && few ? 2 : 0;
  const gap = size > 3 ? 1 : 0;
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(colour);
  for (let k = 0; k < features.length; ) {
    const first = features[k];
    let cells = 1;
    k += 1;
    while (!gap && features[k] === first + cells && features[k] % across !== 0) {
      cells += 1;
      k += 1;
    }
    const [x, y] = [(first % across) * size, Math.floor(first / across) * size];
    pen.fillRect(x - more / 2, y - more / 2, cells * size - gap + more, size - gap + more);
  }
}

function drawMap() {
  const place = document.getElementById("strips");
  const parts = strips.map((strip) => {
    const words = LETTERS.map((letter) => `${tallies[letter]} ${VERDICTS[letter].word}`).join(", ");
    strip.canvas = element("canvas", { role: "img", "aria-label": `Verdicts on all features: ${words}` });
    strip.canvas.addEventListener("pointermove", (event) => point(event, strip));
    strip.canvas.addEventListener("pointerleave", hideTip);
    strip.canvas.addEventListener("click", (event) => visit(event, strip));
    const title = strip.title === null ? [] : [element("h3", {}, strip.title)];
    return element("div", { class: "strip" }, ...title, strip.canvas);
  });
  const held = LETTERS.filter((letter) => tallies[letter] > 0);
  const signs = held.includes("n") ? [["chip v-non-zero", "non-zero, positive"], ["chip negative", "non-zero, negative"]] : [];
  const others = held.filter((letter) => letter !== "n").map((letter) => [`chip ${VERDICTS[letter].style}`, VERDICTS[letter].word]);
  const legend = [...signs, ...others].map(([style, word]) => element("span", { class: style }, word));
  place.replaceChildren(...parts, element("div", { class: "legend" }, ...legend));
  strips.forEach(drawStrip);
}

function under(event, { canvas, size, across }) {
  const box = canvas.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / size);
  const feature = Math.floor((event.clientY - box.top) / size) * across + column;
  return column < across && feature < count ? nearest(feature, size, across) : null;
}

function nearest(feature, size, across) {
  if (size >= 5) return feature;
  const around = [0, 1, -1, across, -across].map((step) => feature + step).filter((j) => j >= 0 && j < count);
  return around.find((j) => summed(j) === "n") ?? feature;
}

function point(event, strip) {
  const feature = under(event, strip);
  if (feature === null) return hideTip();
  const tip = document.getElementById("tip");
  const letter = strip.at(feature);
  const row = strip.output === undefined ? null : rows.get(strip.output * count + feature);
  const number = row ? `: ${row.coefficient} ${row.within === "unknown" ? "" : row.within}` : "";
  tip.replaceChildren(element("b", {}, nameOf(feature)), `${VERDICTS[letter].word}${number}`);
  tip.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${event.clientY + 18}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

function visit(event, strip) {
  const feature = under(event, strip);
  if (feature === null) return;
  find(feature, strip.at(feature));
  document.getElementById("coefficients").scrollIntoView();
}

function redraw() {
  strips.forEach(drawStrip);
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
let drawnWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === drawnWidth) return;
  drawnWidth = window.innerWidth;
  redraw();
});
window.addEventListener("beforeprint", redraw);
drawMap();
