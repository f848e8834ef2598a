// How labels come in through the gradient, and a perceptron beside ordinary gradient descent.

import { latest } from "./ask.js";
import { axes, count, drawing, html, numeral, path, room, say, scale, svg, ticks } from "./draw.js";
import { figureOf } from "./export.js";

/** What the first step does. */
export function labelWords({ labels, gradient, after, elsewhere, learned, steps }) {
  const copied = after.every((z, i) => Math.abs(z - labels[i]) < 1e-6);
  return `The gradient on z is ${gradient.map(numeral).join(", ")}${elsewhere === 0 ? "; on every other weight it is 0" : `; on other weights at most ${numeral(elsewhere)}`}. ${copied ? "One step of rate 1 later z holds the labels." : "One step later z does **not** hold the labels."} The learner then finds **${learned}** in ${count(steps)} steps.`;
}

function drawLabels({ labels, before, gradient, after }, width) {
  const height = 250, frame = [52, 26, width - 12, height - 34], slot = (frame[2] - frame[0]) / labels.length;
  const most = Math.max(1, ...[...labels, ...before, ...after].map(Math.abs)) * 1.15, y = scale(-most, most, frame[3], frame[1]), x = i => frame[0] + slot * (i + 0.5);
  const bar = (i, value, dx, kind) => svg("rect", { x: x(i) + dx, width: slot * 0.2, y: Math.min(y(0), y(value)), height: Math.max(1, Math.abs(y(value) - y(0))), class: kind });
  const kinds = [["label y", "bar-label"], ["z before", "bar-before"], ["z after one step", "bar-after"]];
  return drawing(width, height, `Labels ${labels.map(numeral).join(", ")}; z before ${before.map(numeral).join(", ")}; z after one step ${after.map(numeral).join(", ")}`,
    axes(frame, { x, y, xTicks: labels.map((_, i) => i), yTicks: ticks(-most, most, 5), xWords: i => `row ${i + 1}`, yWords: numeral }),
    svg("line", { x1: frame[0], x2: frame[2], y1: y(0), y2: y(0), class: "middle" }),
    labels.map((label, i) => [bar(i, label, -slot * 0.35, "bar-label"), bar(i, before[i], -slot * 0.1, "bar-before"), bar(i, after[i], slot * 0.15, "bar-after"), svg("text", { x: x(i), y: frame[1] - 8, "text-anchor": "middle", class: "pull" }, `gradient ${numeral(gradient[i])}`)]),
    kinds.map(([name, kind], i) => [svg("rect", { x: frame[0] + i * 120, y: height - 12, width: 10, height: 10, class: kind }), svg("text", { x: frame[0] + 14 + i * 120, y: height - 3, class: "tape-note" }, name)]));
}

/** Labels that the reader sets. */
export function mountLabels(root, words, controls, ask) {
  const values = [1, 2.25, 2, 5];
  let figure = null;
  const show = () => {
    say(words, labelWords(figure));
    root.dataset.learned = figure.learned;
    root.replaceChildren(figureOf("labels", drawLabels(figure, Math.min(room(root), 700))));
  };
  const load = latest(async () => {
    figure = await ask({ name: "labels", labels: values });
    show();
  });
  controls.replaceChildren(...values.map((value, i) => {
    const told = html("output", {}, numeral(value));
    return html("label", {}, `label of row ${i + 1} `, html("input", { type: "range", min: 0, max: 7, step: 0.25, value, id: `label-${i}`, oninput: event => { values[i] = Number(event.target.value); told.textContent = numeral(values[i]); load(); } }), told);
  }));
  return { load, show: () => { if (figure) show(); } };
}

/** How both are doing in a frame. */
export function lineWords({ perceptron, ordinary, rows, rate }, frame) {
  const [ours, other] = [perceptron[frame], ordinary[frame]];
  return `Blue: the perceptron, run by gradient descent on Luge's network, after **${count(ours.step)}** steps; **${count(ours.right)}** of ${count(rows.length)} rows are on their side. Orange: ordinary gradient descent on the squared error of the same linear function, rate ${rate}, after **${count(other.step)}** steps; **${count(other.right)}** rows.`;
}

/** The part of a line bias + a x + b y = 0 inside a frame of numbers. */
function inside([bias, a, b], [x0, x1], [y0, y1]) {
  const ends = [];
  if (b) for (const x of [x0, x1]) { const y = -(bias + a * x) / b; if (y >= y0 && y <= y1) ends.push([x, y]); }
  if (a) for (const y of [y0, y1]) { const x = -(bias + b * y) / a; if (x >= x0 && x <= x1) ends.push([x, y]); }
  return ends.length > 1 ? [ends[0], ends.find(end => Math.hypot(end[0] - ends[0][0], end[1] - ends[0][1]) > 1e-9) ?? ends[1]] : null;
}

function drawLines(figure, frame, width) {
  const { rows, features, perceptron, ordinary } = figure, height = 400, box = [58, 12, width - 14, height - 46];
  const span = i => { const all = rows.map(row => row[i]), low = Math.min(...all), high = Math.max(...all); return [low - (high - low) * 0.08, high + (high - low) * 0.08]; };
  const [xs, ys] = [span(0), span(1)], x = scale(...xs, box[0], box[2]), y = scale(...ys, box[3], box[1]);
  const line = ({ theta }, kind) => { const ends = inside(theta, xs, ys); return ends ? svg("path", { d: path(ends.map(([a, b]) => [x(a), y(b)])), class: kind }) : ""; };
  return drawing(width, height, `${count(rows.length)} irises over ${features.join(" and ")}, and two boundaries: the perceptron's with ${perceptron[frame].right} rows right, ordinary descent's with ${ordinary[frame].right}`,
    axes(box, { x, y, xTicks: ticks(...xs, 5), yTicks: ticks(...ys, 5), xName: features[0], yName: features[1] }),
    rows.map(row => svg("circle", { cx: x(row[0]), cy: y(row[1]), r: 4, class: `point ${row[2] > 0 ? "high" : "low"}` })),
    line(ordinary[frame], "line-ordinary"), line(perceptron[frame], "line-perceptron"));
}

/** Two boundaries in one frame, over time. */
export function mountLines(root, words, controls, ask) {
  let figure = null, frame = 0, timer = null;
  const { scrub, play } = controls;
  const show = () => {
    scrub.value = frame;
    scrub.setAttribute("aria-valuetext", `step ${figure.perceptron[frame].step}`);
    root.dataset.right = `${figure.perceptron[frame].right} ${figure.ordinary[frame].right}`;
    say(words, lineWords(figure, frame));
    root.replaceChildren(figureOf("boundaries", drawLines(figure, frame, Math.min(room(root), 700))));
  };
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  scrub.addEventListener("input", () => { pause(); frame = Number(scrub.value); show(); });
  play.addEventListener("click", () => {
    if (timer) { pause(); return; }
    if (frame + 1 >= figure.perceptron.length) frame = 0;
    play.textContent = "Pause";
    timer = setInterval(() => { frame += 1; show(); if (frame + 1 >= figure.perceptron.length) pause(); }, 150);
  });
  return {
    load: async () => { figure = await ask({ name: "lines" }); scrub.max = figure.perceptron.length - 1; show(); },
    show: () => { if (figure) show(); },
  };
}
