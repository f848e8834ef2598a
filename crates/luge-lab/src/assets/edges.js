// The loss along the edges that leave this vertex: the slide, its rivals, the barriers, and the depths it does not go to.

import { edgeWords } from "./captions.js";
import { apart, arrowhead, axes, drawing, html, path, room, say, scale, shortName, svg, ticks } from "./draw.js";

const EDGE_KINDS = ["other", "halting", "predecessor", "rival", "successor"];
const EDGE_WORDS = { successor: "the way the step goes", rival: "same state, other symbols", predecessor: "back to where it came from", halting: "where the machine halts", other: "any other vertex" };

/** How far along an edge its tangent is drawn. */
const TANGENT = 0.09;

/** How the loss begins, enlarged: the first eighth of the way of those edges that matter. */
function beginning(around, box) {
  const far = 0.125, last = around.places.findLastIndex(place => place <= far);
  const edges = around.edges.filter(edge => edge.part === "successor" || edge.part === "rival").slice(0, 4);
  const losses = edges.flatMap(edge => edge.curve.slice(0, last + 1)).concat(around.loss);
  const low = Math.min(...losses), high = Math.max(...losses), margin = (high - low || 1) * 0.1;
  const x = scale(0, far, box[0] + 4, box[2] - 4), y = scale(low - margin, high + margin, box[3] - 4, box[1] + 16);
  const curves = edges.map(edge => svg("path", { d: path(edge.curve.slice(0, last + 1).map((loss, i) => [x(around.places[i]), y(loss)])), class: `edge ${edge.part}` }));
  return svg("g", {}, svg("rect", { x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1], rx: 6, class: "inset" }),
    svg("text", { x: box[0] + 6, y: box[1] + 12, class: "tape-note" }, "the first eighth of the way"), curves, svg("circle", { cx: x(0), cy: y(around.loss), r: 5, class: "ball" }));
}

function edgeChart(around, width) {
  const height = 310, left = 74, right = Math.min(190, width * 0.3), top = 14, bottom = 44;
  const losses = around.edges.flatMap(edge => edge.curve).concat(around.loss);
  const low = Math.min(...losses), high = Math.max(...losses), margin = (high - low || 1) * 0.06;
  const x = scale(0, 1, left, width - right), y = scale(low - margin, high + margin, height - bottom, top);
  const frame = [left, top, width - right, height - bottom];
  const axis = axes(frame, { x, y, yTicks: ticks(low, high, 5), yName: "loss" });
  axis.append(svg("text", { x: left, y: height - 26 }, "here"), svg("text", { x: width - right, y: height - 26, "text-anchor": "end" }, "there"), svg("text", { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle", class: "axis-name" }, "share of the way to the other vertex"));
  const curves = [], names = [];
  const sorted = [...around.edges].sort((a, b) => EDGE_KINDS.indexOf(a.part) - EDGE_KINDS.indexOf(b.part));
  for (const edge of sorted) {
    const points = edge.curve.map((loss, i) => [x(around.places[i]), y(loss)]);
    curves.push(svg("path", { d: path(points), class: `edge ${edge.part}` }));
    if (edge.part !== "other") names.push({ at: y(edge.end) + 4, text: shortName(edge.name, Math.max(8, Math.floor((right - 12) / 7))), kind: edge.part, full: edge.name });
    if (edge.part === "successor") {
      const [a, b] = points.slice(-2);
      curves.push(arrowhead(b[0], b[1], b[0] - a[0], b[1] - a[1], 13, "arrow-go"));
      const end = y(around.loss + edge.slope * TANGENT);
      if (Number.isFinite(end)) curves.push(svg("path", { d: path([[x(0), y(around.loss)], [x(TANGENT), end]]), class: "tangent" }));
    }
  }
  const strongest = ["successor", "halting", "rival", "predecessor"];
  const once = [...new Map(names.map(name => [name.text + name.kind, name])).values()];
  const kept = apart(once.sort((a, b) => strongest.indexOf(a.kind) - strongest.indexOf(b.kind)).slice(0, 8), 14, top + 8, height - bottom);
  const labels = kept.map(name => [
    Math.abs(name.to - name.at) > 6 ? svg("path", { d: `M${width - right + 1} ${name.at - 4}L${width - right + 9} ${name.to - 4}`, class: "leader" }) : "",
    svg("text", { x: width - right + 11, y: name.to, class: `vertex-name name-${name.kind}` }, name.text, svg("title", {}, name.full)),
  ]);
  const ball = svg("circle", { cx: x(0), cy: y(around.loss), r: 8, class: "ball" });
  const goes = around.edges.find(edge => edge.part === "successor");
  const dip = goes ? around.loss - Math.min(...goes.curve.filter((_, i) => around.places[i] <= 0.25)) : 0;
  // Where the slide is too shallow beside the barriers to be seen, it is shown once more, enlarged.
  const inset = goes && goes.slope < 0 && dip < 0.05 * (high - low) && width > 420 ? beginning(around, [left + 24, top + 6, left + 24 + (width - right - left) * 0.36, top + 110]) : "";
  const label = `Loss along ${around.edges.length} edges from ${around.name}; ${around.n_falling} fall, ${around.n_rising} rise`;
  return drawing(width, height, label, axis, curves, ball, labels, inset);
}

function edgeLegend(around) {
  const present = EDGE_KINDS.filter(kind => around.edges.some(edge => edge.part === kind)).reverse();
  const line = kind => svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("path", { d: "M1 5H29", class: kind }));
  const tangent = around.edges.some(edge => edge.part === "successor") ? html("li", {}, line("tangent"), "its slope here") : "";
  return html("ul", { class: "legend" }, present.map(kind => html("li", {}, line(`edge ${kind}`), EDGE_WORDS[kind])), tangent);
}

/** Draws the loss around the vertex. */
export function mountEdges(store, root, words) {
  store.on(["around", "moment", "width", "opening", "playing"], ({ around, moment, opening, playing }) => {
    if (!moment || !opening) return;
    if (around === null) {
      root.classList.remove("stale");
      say(words, "This landscape is too large, or the network still waits for its labels: nothing to draw here.");
      root.replaceChildren(html("p", { class: "none" }, "No picture of the edges at this step."));
      return;
    }
    const late = !around || around.step !== moment.step;
    root.classList.toggle("stale", late);
    if (late) {
      if (!around) say(words, "…");
      else if (playing) say(words, "Drawn for an earlier step: pause, or play slowly, to see every step's own.");
      return;
    }
    say(words, edgeWords(around, moment, opening));
    if (root.dataset.step === String(around.step) && root.dataset.width === String(room(root)) && root.querySelector("svg")) return;
    root.replaceChildren(edgeChart(around, room(root)), edgeLegend(around));
    Object.assign(root.dataset, { step: String(around.step), width: String(room(root)) });
  }, root);
  store.on(["opening"], () => { root.dataset.step = ""; });
}
