"use strict";

// The findings, and what table and map share. A coefficient has a place: its output times the number of features, plus its feature.

const data = JSON.parse(document.getElementById("data").textContent);
data.verdicts = data.verdicts.map((runs) => runs.replace(/(\d+)(\w)/g, (_, length, letter) => letter.repeat(length)));
const count = typeof data.names === "number" ? data.names : data.names.length;
const several = data.outputs.length > 1;

const VERDICTS = {
  n: { word: "non-zero", style: "v-non-zero", colour: "--nonzero" },
  g: { word: "in a non-zero group", style: "v-group", colour: "--group" },
  u: { word: "undecided", style: "v-undecided", colour: "--undecided" },
  f: { word: "not penalised", style: "v-unpenalised", colour: "--unpenalised" },
  z: { word: "zero", style: "v-zero", colour: "--zero" },
};
const LETTERS = Object.keys(VERDICTS);
const PAGE = 50;
const FEW = 10;
const PRINTED = 500;

const rows = new Map();
for (const [output, feature, coefficient, within, exact, scaled, value, lower, upper] of data.rows) {
  rows.set(output * count + feature, { coefficient, within, exact, scaled, value, lower, upper });
}
const tallies = Object.fromEntries(LETTERS.map((letter) => [letter, 0]));
for (const verdicts of data.verdicts) for (const letter of verdicts) tallies[letter] += 1;

const featureOf = (place) => place % count;
const outputOf = (place) => Math.floor(place / count);
const letterOf = (place) => data.verdicts[outputOf(place)][featureOf(place)];
const nameOf = (feature) => (typeof data.names === "number" ? `x${feature}` : data.names[feature]);
const weightOf = (place) => Math.abs(rows.get(place)?.value ?? 0);
const groupOf = (feature) => (data.groups ? data.groups.names[data.groups.of[feature]] : undefined);

function rowOf(place) {
  const silent = letterOf(place) === "z" ? "exactly" : "unknown";
  return rows.get(place) ?? { coefficient: "0", within: silent, exact: "0", scaled: "0", value: 0, lower: null, upper: null };
}

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shape(name, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
