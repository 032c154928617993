"use strict";

// The map of all features: a cell for each, in the colour of its verdict.

const STRIPS = 12;
const strips = several && data.outputs.length > STRIPS ? [{ title: "in any of them", at: summed }] : data.outputs.map((title, output) => ({ title, at: (feature) => data.verdicts[output][feature], output }));

function summed(feature) {
  const letters = new Set(data.verdicts.map((verdicts) => verdicts[feature]));
  if (letters.has("n") || letters.has("g")) return "n";
  return letters.size === 1 ? letters.values().next().value : "u";
}

function drawStrip(strip) {
  const { canvas, at, output } = strip;
  const width = canvas.parentElement.clientWidth;
  const tallest = strips.length > 1 ? 150 : 320;
  const size = Math.max(2, Math.min(26, Math.floor(Math.sqrt((width * tallest) / count))));
  const across = Math.floor(width / size);
  const ratio = window.devicePixelRatio || 1;
  const height = Math.ceil(count / across) * size;
  Object.assign(strip, { size, across });
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const gap = size > 3 ? 1 : 0;
  const grown = size < 5 ? 2 : 0;
  for (const letter of ["z", "u", "f", "g", "n"]) {
    for (const [sign, colour] of [[1, VERDICTS[letter].colour], [-1, "--negative"]]) {
      pen.fillStyle = style.getPropertyValue(colour);
      const more = letter === "z" || (letter === "u" && tallies.u > count / 10) ? 0 : grown;
      for (let feature = 0; feature < count; feature += 1) {
        if (at(feature) !== letter || signOf(letter, output, feature) !== sign) continue;
        const x = (feature % across) * size;
        const y = Math.floor(feature / across) * size;
        pen.fillRect(x - more / 2, y - more / 2, size - gap + more, size - gap + more);
      }
    }
  }
}

function signOf(letter, output, feature) {
  if (output === undefined || !"ng".includes(letter)) return 1;
  return (rows.get(output * count + feature)?.value ?? 0) < 0 ? -1 : 1;
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
