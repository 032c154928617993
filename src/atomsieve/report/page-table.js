"use strict";

// The table of coefficients: search, filter by verdict, sort, and a bar for every interval.

const first = LETTERS.filter((letter) => letter !== "z" && tallies[letter] > 0);
const state = {
  search: "",
  only: null,
  letters: new Set(first.length ? first : ["z"]),
  key: "weight",
  falling: true,
  limit: first.length ? PAGE : FEW,
};

const COLUMNS = [
  { key: "name", title: "feature", width: "22%" },
  ...(several ? [{ key: "output", title: "of", width: "11%" }] : []),
  { key: "value", title: "coefficient", width: "10.5%", style: "number" },
  { key: "within", title: "proven within", width: "12.5%" },
  ...(data.scaled ? [{ key: "weight", title: "per SD", width: "8%", style: "number" }] : []),
  { key: null, title: "interval", width: "" },
  { key: "verdict", title: "verdict", width: "13%" },
];

const lowered = { names: null };
function matches(feature) {
  if (state.only !== null) return feature === state.only;
  if (!state.search) return true;
  lowered.names ??= Array.from({ length: count }, (_, j) => `${nameOf(j)}\n${groupOf(j) ?? ""}`.toLowerCase());
  return lowered.names[feature].includes(state.search);
}

function chosen() {
  const places = [];
  data.verdicts.forEach((verdicts, output) => {
    for (let feature = 0; feature < count; feature += 1) {
      if (state.letters.has(verdicts[feature]) && matches(feature)) places.push(output * count + feature);
    }
  });
  return sorted(places);
}

const collator = new Intl.Collator("en", { numeric: true });
const ORDERS = {
  name: (a, b) => collator.compare(nameOf(featureOf(a)), nameOf(featureOf(b))),
  output: (a, b) => outputOf(a) - outputOf(b),
  value: (a, b) => Number(rowOf(a).coefficient) - Number(rowOf(b).coefficient),
  weight: (a, b) => weightOf(a) - weightOf(b),
  within: (a, b) => widthOf(a) - widthOf(b),
  verdict: (a, b) => LETTERS.indexOf(letterOf(a)) - LETTERS.indexOf(letterOf(b)),
};

function widthOf(place) {
  const { within } = rowOf(place);
  return { exactly: 0, unknown: Infinity }[within] ?? Number(within.replace("± ", ""));
}

// Coefficients without a number of their own are zero, and in order already: there may be very many of them.
function sorted(places) {
  if (state.key === "weight" && state.falling) {
    const told = places.filter((place) => rows.has(place)).sort((a, b) => weightOf(b) - weightOf(a) || a - b);
    return told.concat(places.filter((place) => !rows.has(place)));
  }
  const order = ORDERS[state.key];
  const sign = state.falling ? -1 : 1;
  return places.sort((a, b) => sign * order(a, b) || weightOf(b) - weightOf(a) || a - b);
}

// The scale of all bars: that of the coefficients. Intervals that are much wider are cut off.
const WIDEST = 2;
const [low, high] = barEnds();
function barEnds() {
  let largest = 0;
  for (const row of rows.values()) largest = Math.max(largest, Math.abs(row.value));
  let [least, most] = [0, 0];
  for (const { value, lower, upper } of rows.values()) {
    least = Math.min(least, value, Math.max(lower ?? 0, -WIDEST * largest));
    most = Math.max(most, value, Math.min(upper ?? 0, WIDEST * largest));
  }
  const room = 0.03 * (most - least || 1);
  return [least - room, most + room];
}

function bar(row) {
  const at = (value) => Math.min(100, Math.max(0, (100 * (value - low)) / (high - low)));
  const svg = shape("svg", { class: "bar", "aria-hidden": "true" });
  svg.append(shape("line", { class: "axis", x1: `${at(0)}%`, x2: `${at(0)}%`, y1: 0, y2: 16 }));
  const stem = [Math.min(at(0), at(row.value)), Math.abs(at(row.value) - at(0))];
  if (row.lower === null || row.upper === null) {
    if (row.within !== "exactly") svg.append(shape("line", { class: "open", x1: 0, x2: "100%", y1: 8, y2: 8 }));
    if (row.value) svg.append(shape("circle", { class: "held", cx: `${at(row.value)}%`, cy: 8, r: 3.5 }));
    return svg;
  }
  svg.append(shape("rect", { class: "stem", x: `${stem[0]}%`, width: `${stem[1]}%`, y: 5, height: 6 }));
  const width = at(row.upper) - at(row.lower);
  const [x, middle] = [`${at(row.lower)}%`, `${at(row.value)}%`];
  svg.append(shape("rect", { class: "held", x, width: `${width}%`, y: 2, height: 12 }));
  svg.append(shape("line", { class: "mark", x1: middle, x2: middle, y1: 1, y2: 15 }));
  return svg;
}

function tableRow(place) {
  const row = rowOf(place);
  const feature = featureOf(place);
  const verdict = VERDICTS[letterOf(place)];
  const name = element("td", { class: "name" }, nameOf(feature));
  if (data.groups) name.append(element("small", {}, groupOf(feature) ?? ""));
  const cells = [name];
  if (several) cells.push(element("td", { class: "output" }, data.outputs[outputOf(place)]));
  cells.push(element("td", { class: "number coefficient", title: row.exact }, row.coefficient));
  cells.push(element("td", { class: "within", title: row.exact }, row.within));
  if (data.scaled) cells.push(element("td", { class: "number scaled" }, row.scaled));
  const negative = row.value < 0 && letterOf(place) !== "u" ? " negative" : "";
  cells.push(element("td", { class: `drawn ${verdict.style}${negative}` }, bar(row)));
  cells.push(element("td", { class: "verdict" }, element("span", { class: `chip ${verdict.style}${negative}` }, verdict.word)));
  return element("tr", {}, ...cells);
}

function drawTable() {
  const places = chosen();
  const body = document.querySelector("#table tbody");
  body.replaceChildren(...places.slice(0, state.limit).map(tableRow));
  const shown = Math.min(places.length, state.limit);
  const noun = several ? "coefficients" : "features";
  document.getElementById("shown").textContent = `${shown.toLocaleString("en")} of ${places.length.toLocaleString("en")} ${noun} shown.`;
  document.getElementById("more").hidden = shown === places.length;
  for (const head of document.querySelectorAll("#table th")) {
    if (head.dataset.key === state.key) head.setAttribute("aria-sort", state.falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

function drawHead() {
  const cells = COLUMNS.map(({ key, title, width, style }) => {
    const label = key ? element("button", { type: "button" }, title) : title;
    if (key) label.addEventListener("click", () => sortBy(key));
    const attributes = { scope: "col", "data-key": key, class: `${style ?? ""} c-${key}`, style: width && `width:${width}` };
    return element("th", attributes, label);
  });
  document.getElementById("table").classList.toggle("several", several);
  document.querySelector("#table thead").replaceChildren(element("tr", {}, ...cells));
}

function sortBy(key) {
  const same = state.key === key;
  state.falling = same ? !state.falling : key === "weight" || key === "value";
  state.key = key;
  drawTable();
}

function drawFilters() {
  const buttons = LETTERS.filter((letter) => tallies[letter] > 0).map((letter) => {
    const verdict = VERDICTS[letter];
    const words = `${verdict.word} ${tallies[letter].toLocaleString("en")}`;
    const button = element("button", { type: "button", class: verdict.style, "data-letter": letter, "aria-pressed": state.letters.has(letter) }, words);
    button.addEventListener("click", () => toggle(letter, button));
    return button;
  });
  document.getElementById("filters").replaceChildren(...buttons);
}

function toggle(letter, button) {
  if (!state.letters.delete(letter)) state.letters.add(letter);
  button.setAttribute("aria-pressed", state.letters.has(letter));
  state.limit = PAGE;
  drawTable();
}

function find(feature, letter) {
  state.only = feature;
  document.getElementById("search").value = nameOf(feature);
  if (!state.letters.has(letter)) {
    state.letters.add(letter);
    drawFilters();
  }
  state.limit = PAGE;
  drawTable();
}

document.getElementById("search").addEventListener("input", (event) => {
  state.search = event.target.value.trim().toLowerCase();
  state.only = null;
  state.limit = PAGE;
  drawTable();
});
document.getElementById("more").addEventListener("click", () => {
  state.limit += 200;
  drawTable();
});
window.addEventListener("beforeprint", () => {
  state.limit = Math.max(state.limit, PRINTED);
  drawTable();
});
drawHead();
drawFilters();
drawTable();
