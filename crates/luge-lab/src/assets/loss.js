// The loss over the run: lowest and highest per bucket, between the bounds it must keep; and step by step near the moment.

import { lossWords } from "./captions.js";
import { apart, axes, count, drawing, html, numeral, path, room, say, scale, stepTick, svg, tick, ticks } from "./draw.js";

const LOSS_HEIGHT = 300;
const NEAR_HEIGHT = 150;
const NAMES = 176;

/** A learner's loss of the data is many powers of ten below that of its machine: only a logarithm shows both. */
function lossScale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  const small = Math.min(...values.filter(value => value > 0));
  if (high > 1000 * Math.max(small, 1) && low >= 0) {
    const log = value => Math.log10(Math.max(value, 0) + 1);
    const place = scale(0, log(high) * 1.03, from, to);
    const powers = Array.from({ length: Math.floor(log(high)) + 1 }, (_, power) => 10 ** power).filter((_, power, all) => power % Math.ceil(all.length / 6) === 0);
    return { y: value => place(log(value)), marks: powers, log: true };
  }
  const margin = (high - low || 1) * 0.06;
  return { y: scale(low - margin, high + margin, from, to), marks: ticks(low, high, 5), log: false };
}

function lossLevels(bounds, x0, x1, y, beside) {
  const levels = [
    [bounds.running_high, "run", `running: at most ${tick(bounds.running_high)}`], [bounds.running_low, "run", `running: at least ${tick(bounds.running_low)}`],
    [bounds.stop, "stop", `training stops: ${tick(bounds.stop)}`], [bounds.halted_high, "halt", `halted: at most ${tick(bounds.halted_high)}`],
  ];
  const words = apart(levels.map(([value, kind, name]) => ({ at: y(value) + 4, kind, name })), 14, 16, LOSS_HEIGHT - 48);
  return {
    lines: [
      svg("rect", { x: x0, width: x1 - x0, y: y(bounds.running_high), height: Math.max(1, y(bounds.running_low) - y(bounds.running_high)), class: "band" }),
      levels.map(([value, kind]) => svg("line", { x1: x0, x2: x1, y1: y(value), y2: y(value), class: `level ${kind}` })),
    ],
    names: beside ? words.map(({ at, to, kind, name }) => [svg("path", { d: `M${x1} ${at - 4}L${x1 + 8} ${to - 4}`, class: `leader ${kind}` }), svg("text", { x: x1 + 11, y: to, class: `level-name ${kind}` }, name)]) : [],
    legend: beside ? "" : html("ul", { class: "legend" }, levels.map(([, kind, name]) => html("li", {}, svg("svg", { width: 26, height: 8, "aria-hidden": "true" }, svg("path", { d: "M1 4H25", class: `level ${kind}` })), name))),
  };
}

function lossCurve(overview, x, y) {
  const points = overview.buckets.map((bucket, i) => (bucket ? [(i + 0.5) * overview.width - 0.5, bucket[0], bucket[1]] : null)).filter(Boolean);
  if (overview.width === 1) {
    const line = svg("path", { d: path(points.map(([step, low]) => [x(step), y(low)])), class: "curve" });
    const dots = points.length <= 170 ? points.map(([step, low]) => svg("circle", { cx: x(step), cy: y(low), r: 2.4, class: "dot" })) : [];
    return [line, dots];
  }
  const upper = points.map(([step, , high]) => [x(step), y(high)]), lower = points.map(([step, low]) => [x(step), y(low)]);
  return [svg("path", { d: path(upper.concat(lower.reverse())) + "Z", class: "ribbon" })];
}

/** What the loss is of the data: before the labels are read, and after the machine has halted. */
function dataLosses({ overview, moment, opening, proof }, x, y, end) {
  if (!opening.lesson) return [];
  const first = overview.buckets[0]?.[0], last = proof?.learned?.after.loss ?? (moment.phase === "halted" ? moment.loss : null);
  const marks = [];
  const mark = (step, loss, anchor, dx, when) => marks.push(svg("circle", { cx: x(step), cy: y(loss), r: 5, class: "data-loss" }), svg("text", { x: x(step) + dx, y: y(loss) - 8, "text-anchor": anchor, class: "data-loss-name" }, `${when} ${numeral(loss)}`));
  if (Number.isFinite(first)) mark(0, first, "start", 4, "before");
  if (Number.isFinite(last) && moment.end?.step === end) mark(end, last, "end", -4, "after");
  return marks;
}

function lossPhases(state, x, end, y) {
  const { moment, opening } = state;
  const marks = [];
  if (opening.lesson) marks.push(svg("text", { x: x(0), y, class: "phase soft", "text-anchor": "start" }, "◆ labels read"));
  if (x(end) - x(0) > 330) marks.push(svg("text", { x: (x(0) + x(end)) / 2, y, class: "phase soft", "text-anchor": "middle" }, "● running"));
  if (moment.end?.how === "halted") marks.push(svg("text", { x: x(end), y, class: "phase soft", "text-anchor": "end" }, "■ halted"));
  return marks;
}

/** The losses of single steps around the moment. */
function nearChart({ nearby, moment, overview }, width) {
  if (!nearby || moment.step === 0 || overview.width === 1 && overview.buckets.length <= 170 || moment.step < nearby.from || moment.step >= nearby.from + nearby.losses.length) return "";
  // The loss of the data, far below, would hide the rest.
  const losses = nearby.losses.map((loss, i) => [nearby.from + i, loss]);
  const most = Math.max(...nearby.losses), shown = losses.filter(([, loss]) => loss > most / 1000 || nearby.losses.length < 3);
  const [left, top, right, bottom] = [74, 22, width - 34, NEAR_HEIGHT - 40];
  const low = Math.min(...shown.map(([, loss]) => loss)), margin = (most - low || 1) * 0.1;
  const x = scale(nearby.from, nearby.from + nearby.losses.length - 1, left + 6, right - 6), y = scale(low - margin, most + margin, bottom, top);
  return drawing(width, NEAR_HEIGHT, `The loss step by step from step ${count(nearby.from)} on`,
    axes([left, top, right, bottom], { x, y, xTicks: ticks(nearby.from, nearby.from + nearby.losses.length - 1, 4), yTicks: ticks(low, most, 2), xName: "gradient steps near here", yName: "loss", xWords: count }),
    svg("path", { d: path(shown.map(([step, loss]) => [x(step), y(loss)])), class: "curve" }), shown.map(([step, loss]) => svg("circle", { cx: x(step), cy: y(loss), r: 2.2, class: "dot" })),
    svg("line", { x1: x(moment.step), x2: x(moment.step), y1: top - 4, y2: bottom, class: "now" }));
}

/** Draws the loss; a click goes to its step. */
export function mountLoss(store, root, words, send) {
  let base = null;
  const near = html("div", {}), legend = html("div", {}), chart = html("div", {});
  root.replaceChildren(chart, legend, near);
  /** Everything that does not change from moment to moment. */
  const draw = state => {
    const { overview, moment, opening } = state;
    const width = room(root), beside = width >= 560, left = 74, right = beside ? NAMES : 12, top = 30, bottom = 44;
    const end = Math.max(1, moment.end?.step ?? Math.max(moment.front, overview.steps));
    const losses = overview.buckets.flatMap(bucket => bucket ?? []).concat(moment.loss).filter(Number.isFinite);
    const { bounds } = opening;
    const { y, marks, log } = lossScale(losses.concat(bounds.halted_high, bounds.running_high), LOSS_HEIGHT - bottom, top);
    const x = scale(0, end, left + 6, width - right - 6);
    const axis = axes([left, top, width - right, LOSS_HEIGHT - bottom], { x, y, xTicks: ticks(0, end, width < 560 ? 3 : 5), yTicks: marks, xName: "gradient steps", yName: log ? "loss, logarithmic" : "loss", xWords: stepTick });
    const levels = lossLevels(bounds, left, width - right, y, beside);
    const now = svg("line", { x1: 0, x2: 0, y1: top - 6, y2: LOSS_HEIGHT - bottom, class: "now" }), dot = svg("circle", { cx: 0, cy: 0, r: 6, class: "now-dot" });
    const picture = drawing(width, LOSS_HEIGHT, "The loss over the run", axis, levels.lines, lossCurve(overview, x, y), levels.names, lossPhases(state, x, end, top - 14), now, dataLosses(state, x, y, end), dot);
    picture.addEventListener("click", event => {
      const box = picture.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * width;
      const share = (at - left - 6) / (width - right - left - 12);
      send({ do: "seek", step: Math.round(Math.max(0, Math.min(1, share)) * end) });
    });
    chart.replaceChildren(picture);
    legend.replaceChildren(levels.legend);
    root.dataset.scale = log ? "log" : "linear";
    return { picture, x, y, now, dot, end, highest: Math.max(...losses), lowest: Math.min(...losses), width };
  };
  /** Where the moment is on it. */
  const mark = state => {
    const { overview, moment } = state, place = base.x(Math.min(base.end, moment.step));
    base.now.setAttribute("transform", `translate(${place.toFixed(1)} 0)`);
    base.dot.setAttribute("transform", `translate(${place.toFixed(1)} ${base.y(moment.loss).toFixed(1)})`);
    base.picture.setAttribute("aria-label", `Loss ${numeral(moment.loss)} at step ${count(moment.step)}`);
    say(words, lossWords(moment, overview, state.opening));
  };
  let drawn = {};
  store.on(["overview", "moment", "opening", "width", "proof"], state => {
    const { overview, moment, opening, proof } = state;
    if (!overview || !moment || !opening) return;
    const end = Math.max(1, moment.end?.step ?? Math.max(moment.front, overview.steps));
    const stale = !base || drawn.overview !== overview || drawn.opening !== opening || drawn.proof !== proof || base.end !== end || base.width !== room(root) || moment.loss > base.highest || moment.loss < base.lowest;
    drawn = { overview, opening, proof };
    if (stale) base = draw(state);
    mark(state);
  }, root);
  store.on(["nearby", "moment", "overview", "width"], state => {
    if (!state.overview || !state.moment) return;
    // While a run plays fast there is no picture of single steps; the last one goes when its steps have passed.
    const key = state.nearby ? `${state.nearby.from} ${state.nearby.losses.length} ${state.moment.step} ${room(root)} ${state.overview.width}` : "";
    if (near.dataset.drawn === key) return;
    near.dataset.drawn = key;
    near.replaceChildren(nearChart(state, room(root)));
  }, root);
}
