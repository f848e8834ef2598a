// An ordinary MLP: registers as biases, one SGD step as a clock cycle, and the same layers with other initial weights.

import { latest } from "./ask.js";
import { axes, count, drawing, numeral, path, room, say, scale, svg, ticks } from "./draw.js";
import { figureOf } from "./export.js";

/** What both networks do. */
export function ordinaryWords({ learner, learner_right: right, n_new: all, other, n_weights: weights, widths, hidden }) {
  const [steps, last] = other.at(-1);
  return `Both networks have **${count(weights)}** weights in ${widths.length - 1} linear layers, all trained by stock SGD, one sample a step. With the learner in its initial weights, the network finds which ${count(hidden.filter(Boolean).length)} of ${hidden.length} bits count in **${count(learner.length)}** steps: **${count(right)}** of ${count(all)} new inputs are right. With PyTorch's initial weights it gets **${count(last)}** right after ${count(steps)} steps.`;
}

/** What a step did. */
export function clockWords({ learner, registers }, step) {
  if (step === 0) return "Before the first step. Every column is one register of the learner's circuit: the bias of one unit.";
  const now = learner[step - 1], before = step > 1 ? learner[step - 2].registers : null;
  const changed = before ? now.registers.filter((bit, i) => bit !== before[i]).length : null;
  return `Step ${step}: the sample was ${now.x.map(bit => (bit > 0 ? 1 : 0)).join("")} with label ${now.y > 0 ? 1 : 0}. Its gradient step is one clock cycle${changed === null ? "" : `: **${changed}** of ${count(registers.length)} registers change`}. The loss was ${numeral(now.loss)}.`;
}

function drawRegisters({ learner, registers }, step, width) {
  const left = 44, high = Math.max(5, Math.min(13, 330 / learner.length)), side = (width - left - 4) / registers.length;
  const rows = learner.map((clock, r) => clock.registers.map((bit, c) => svg("rect", { x: left + c * side, y: 16 + r * high, width: Math.max(0.6, side - 0.6), height: high - 0.8, class: bit ? "tone-plus" : "tone-none", "fill-opacity": r < step ? 1 : 0.12 })));
  const marks = learner.map((_, r) => (r % Math.ceil(learner.length / 10) === 0 ? svg("text", { x: left - 6, y: 16 + r * high + high / 2 + 4, "text-anchor": "end", class: "tape-note" }, String(r + 1)) : ""));
  return drawing(width, 20 + learner.length * high, `${count(registers.length)} registers after each of ${count(learner.length)} steps, up to step ${step}; filled are those that hold 1`, svg("text", { x: 0, y: 11, class: "tape-note" }, "step ↓   registers, each the bias of one unit →"), marks, rows);
}

function drawRace({ learner, learner_right: right, n_new: all, other }, width) {
  const height = 300, frame = [58, 14, width - 16, height - 46], last = other.at(-1)[0];
  const x = scale(0, last, frame[0], frame[2]), y = scale(0.4, 1, frame[3], frame[1]);
  return drawing(width, height, `New inputs right: the learner ${Math.round(100 * right / all)} per cent after ${learner.length} steps; other weights ${Math.round(100 * other.at(-1)[1] / all)} per cent after ${last}`,
    axes(frame, { x, y, xTicks: ticks(0, last, 4), yTicks: [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], xName: "steps of SGD", yName: "new inputs right", yWords: share => `${Math.round(share * 100)} %`, xWords: count }),
    svg("line", { x1: frame[0], x2: frame[2], y1: y(0.5), y2: y(0.5), class: "level stop" }), svg("text", { x: frame[2], y: y(0.5) + 14, "text-anchor": "end", class: "level-name stop" }, "chance"),
    svg("path", { d: path(other.map(([step, found]) => [x(step), y(found / all)])), class: "line-ordinary" }),
    svg("circle", { cx: x(learner.length), cy: y(right / all), r: 6, class: "dot" }), svg("text", { x: x(learner.length) + 10, y: y(right / all) + 12, class: "vertex-name" }, `the learner, ${learner.length} steps`));
}

/** Draws both networks. */
export function mountOrdinary(root, words, clock, { scrub, seed }, ask) {
  let figure = null, step = 0;
  const show = () => {
    const width = Math.min(room(root), 1100), half = width > 760 ? (width - 16) / 2 : width;
    scrub.max = figure.learner.length;
    scrub.value = step;
    scrub.setAttribute("aria-valuetext", `step ${step}`);
    root.dataset.right = `${figure.learner_right} ${figure.other.at(-1)[1]}`;
    say(words, ordinaryWords(figure));
    say(clock, clockWords(figure, step));
    root.replaceChildren(figureOf("registers", drawRegisters(figure, step, half), "The biases of one layer, read as bits."), figureOf("race", drawRace(figure, half), "The same layers, two sets of initial weights."));
  };
  const load = latest(async () => { figure = await ask({ name: "ordinary", seed: Number(seed.value) || 0 }); step = figure.learner.length; show(); });
  scrub.addEventListener("input", () => { step = Number(scrub.value); show(); });
  seed.addEventListener("change", load);
  return { load, show: () => { if (figure) show(); } };
}
