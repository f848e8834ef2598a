// The loss over the run: lowest and highest per bucket, between the bounds it must keep.

import { count, drawing, numeral, path, room, say, scale, svg, tick, ticks } from "./draw.js";

const LOSS_HEIGHT = 300;

function lossLevels(bounds, x0, x1, y) {
  const levels = [
    [bounds.running_high, "run", `running: at most ${numeral(bounds.running_high)}`], [bounds.running_low, "run", `running: at least ${numeral(bounds.running_low)}`],
    [bounds.stop, "stop", `training stops: ${numeral(bounds.stop)}`], [bounds.halted_high, "halt", `halted: at most ${numeral(bounds.halted_high)}`],
  ];
  // Names do not lie on each other: each keeps its distance to the one above.
  let last = -Infinity;
  const names = levels.map(([value, kind, name], i) => {
    const at = Math.max(y(value) + (i === 0 ? -5 : 13), last + 13);
    last = at;
    return svg("text", { x: x0 + 8, y: at, class: `level-name ${kind}` }, name);
  });
  return {
    lines: [
      svg("rect", { x: x0, width: x1 - x0, y: y(bounds.running_high), height: Math.max(1, y(bounds.running_low) - y(bounds.running_high)), class: "band" }),
      levels.map(([value, kind]) => svg("line", { x1: x0, x2: x1, y1: y(value), y2: y(value), class: `level ${kind}` })),
    ],
    names,
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

function lossPhases(state, x, end, y) {
  const { moment, opening } = state;
  const marks = [];
  const name = (from, to, text) => {
    const [a, b] = [x(from), x(to)];
    if (b - a > text.length * 6.2) marks.push(svg("text", { x: (a + b) / 2, y, class: "phase soft", "text-anchor": "middle" }, text));
  };
  const labelled = opening.lesson ? 1 : 0;
  if (opening.lesson) {
    marks.push(svg("line", { x1: x(1), x2: x(1), y1: y - 10, y2: LOSS_HEIGHT - 34, class: "phase-tick" }));
    marks.push(svg("text", { x: x(1) + 3, y, class: "phase soft", "text-anchor": "start" }, "◆ labels read"));
  }
  name(labelled + (end - labelled) * (opening.lesson ? 0.25 : 0), end, "● running");
  if (moment.end?.how === "halted") marks.push(svg("text", { x: x(moment.end.step), y, class: "phase soft", "text-anchor": "end" }, "■ halted"));
  return marks;
}

/** Draws the loss; a click goes to its step. */
export function mountLoss(store, root, words, send) {
  const draw = state => {
    const { overview, moment, opening } = state;
    if (!overview || !moment || !opening) return;
    const width = room(root), left = 62, right = 10, top = 30, bottom = 34;
    const end = Math.max(1, moment.end?.step ?? Math.max(moment.front, overview.steps));
    const losses = overview.buckets.flatMap(bucket => bucket ?? []).concat(moment.loss).filter(Number.isFinite);
    const { bounds } = opening;
    const low = Math.min(...losses, bounds.halted_high), high = Math.max(...losses, bounds.running_high), margin = (high - low || 1) * 0.06;
    const x = scale(0, end, left + 6, width - right - 6), y = scale(low - margin, high + margin, LOSS_HEIGHT - bottom, top);
    const axis = svg("g", { class: "axis" });
    for (const at of ticks(low, high, 5)) axis.append(svg("line", { x1: left, x2: width - right, y1: y(at), y2: y(at) }), svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, tick(at)));
    for (const at of ticks(0, end, width < 420 ? 3 : 5)) axis.append(svg("text", { x: x(at), y: LOSS_HEIGHT - 14, "text-anchor": "middle" }, tick(at)));
    const here = Math.min(end, moment.step), levels = lossLevels(bounds, left, width - right, y);
    const picture = drawing(width, LOSS_HEIGHT, `Loss ${numeral(moment.loss)} at step ${count(moment.step)}`,
      axis, levels.lines, lossCurve(overview, x, y), levels.names, lossPhases(state, x, end, top - 14),
      svg("line", { x1: x(here), x2: x(here), y1: top - 6, y2: LOSS_HEIGHT - bottom, class: "now" }),
      svg("circle", { cx: x(here), cy: y(moment.loss), r: 6, class: "now-dot" }));
    picture.addEventListener("click", event => {
      const box = picture.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * width;
      const share = (at - left - 6) / (width - right - left - 12);
      send({ do: "seek", step: Math.round(Math.max(0, Math.min(1, share)) * end) });
    });
    const sampled = overview.seen < overview.steps ? ` So far the curve holds ${count(overview.seen)} of ${count(overview.steps + 1)} losses.` : overview.width > 1 ? " The curve holds the lowest and highest of every step." : "";
    const where = moment.phase === "halted" ? "below the level at which training stops" : moment.phase === "labels" ? "the labels are not read yet" : "inside the band of a running machine";
    say(words, `Loss **${numeral(moment.loss)}**, ${where}.${sampled}`);
    root.replaceChildren(picture);
  };
  store.on(["overview", "moment", "opening", "width"], draw);
}
