// A learner's tapes as numbers: its variables by name, with those that the last step changed, and the sample at hand.

import { count, html, numeral, say } from "./draw.js";

/** Whether a variable means something in a line. */
export function inScope({ lines }, line) {
  return line === null || line === undefined || (line >= lines[0] && line <= lines[1]);
}

/** A value as the program's reader would write it. */
export function valueWords(info, values) {
  const one = value => (info.bit ? (value ? "true" : "false") : String(+value.toFixed(6)).replace("-", "−"));
  if (info.length === null) return one(values[0] ?? 0);
  const shown = values.slice(0, 12).map(one).join(", ");
  return `[${shown}${info.length > 12 ? ", …" : ""}]`;
}

/** The values of a variable, each with its name: one, or one per element. */
function namedValues(info, values) {
  const word = value => (info.bit ? (value ? "true" : "false") : String(+value.toFixed(6)).replace("-", "−"));
  return info.length === null ? [[info.name, word(values[0] ?? 0)]] : values.slice(0, 40).map((value, i) => [`${info.name}[${i}]`, word(value)]);
}

function valueChip([name, value]) {
  return html("span", { class: "value" }, html("span", { class: "value-name" }, name), " = ", html("b", {}, value));
}

/** The sample that the program is at, with the columns' names. */
function sampleRow(moment, { lesson }) {
  const { sample } = moment;
  if (sample === null || sample === undefined || !lesson.x[sample]) return "";
  const parts = lesson.features.map((name, i) => [name, lesson.x[sample][i]]).concat(lesson.labels.map((name, i) => [name, lesson.y[sample][i]]));
  return html("div", { class: "variable sample" }, html("span", { class: "value" }, html("b", {}, `sample ${count(sample + 1)} of ${count(lesson.n_samples)}`)),
    parts.map(([name, value]) => html("span", { class: "value" }, html("span", { class: "value-name" }, name), " = ", html("b", {}, numeral(value)))));
}

/** Puts values into chips that are there already; those that differ from before are marked. */
function fillChips(row, values, again) {
  values.forEach(([, value], i) => {
    const chip = row.children[i], held = chip.lastChild;
    if (held.textContent !== value) {
      held.textContent = value;
      chip.classList.add("changed");
    } else if (again) chip.classList.remove("changed");
  });
}

/** Draws the variables where the program has names for them. */
export function mountVariables(store, card, root, words) {
  let shown = "", rows = [], step = null, sample = null;
  const list = html("div", { class: "variables" });
  root.replaceChildren(list);
  store.on(["opening"], ({ opening }) => { card.hidden = !opening?.variables?.length; });
  store.on(["moment", "opening"], ({ moment, opening }) => {
    if (card.hidden || !moment) return;
    const { line } = moment;
    say(words, `The weights on the tapes, read as numbers (${opening.lesson.format}). ${line ? `Line **${line}** is running; what has changed since the moment before is marked.` : ""}`);
    const listed = opening.variables.map((info, i) => ({ info, i, live: inScope(info, line) }));
    // A name that is used again stands for what it means now.
    const known = new Set(listed.filter(one => one.live).map(one => one.info.name));
    const wanted = listed.filter(one => one.live || !known.has(one.info.name));
    const key = `${opening.name} ${wanted.map(one => `${one.i}${one.live}`)}`;
    if (key !== shown) {
      shown = key;
      rows = wanted.map(({ info, i, live }) => html("div", { class: `variable${live ? "" : " ended"}`, "data-name": info.name }, namedValues(info, moment.variables[i] ?? []).map(valueChip)));
      sample = null;
    }
    wanted.forEach(({ info, i }, k) => fillChips(rows[k], namedValues(info, moment.variables[i] ?? []), step !== moment.step));
    if (sample !== moment.sample) list.replaceChildren(...[sampleRow(moment, opening), ...rows].filter(Boolean));
    [step, sample] = [moment.step, moment.sample];
  }, root);
}
