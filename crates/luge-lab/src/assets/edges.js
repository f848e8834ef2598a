// The loss along the edges that leave this vertex: the slide, its rivals, the barriers.

import { arrowhead, count, drawing, html, numeral, path, room, say, scale, svg, tick, ticks } from "./draw.js";

const EDGE_KINDS = ["other", "predecessor", "rival", "successor"];
const EDGE_WORDS = { successor: "the way the step goes", rival: "same state, other symbols", predecessor: "back to where it came from", other: "any other vertex" };

function edgeChart(around, width) {
  const height = 300, left = 62, right = Math.min(150, width * 0.26), top = 14, bottom = 34;
  const losses = around.edges.flatMap(edge => edge.curve).concat(around.loss);
  const low = Math.min(...losses), high = Math.max(...losses), margin = (high - low || 1) * 0.06;
  const x = scale(0, 1, left, width - right), y = scale(low - margin, high + margin, height - bottom, top);
  const axis = svg("g", { class: "axis" });
  for (const at of ticks(low, high, 5)) {
    axis.append(svg("line", { x1: left, x2: width - right, y1: y(at), y2: y(at) }), svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, tick(at)));
  }
  axis.append(svg("text", { x: left, y: height - 14 }, "here"), svg("text", { x: width - right, y: height - 14, "text-anchor": "end" }, "the other vertex"), width > 420 ? svg("text", { x: (left + width - right) / 2, y: height - 14, "text-anchor": "middle" }, "share of the way") : "");
  const curves = [], names = [];
  const sorted = [...around.edges].sort((a, b) => EDGE_KINDS.indexOf(a.part) - EDGE_KINDS.indexOf(b.part));
  for (const edge of sorted) {
    const points = edge.curve.map((loss, i) => [x(i / (edge.curve.length - 1)), y(loss)]);
    curves.push(svg("path", { d: path(points), class: `edge ${edge.part}` }));
    if (edge.part !== "other") names.push({ at: y(edge.end), text: edge.name, kind: edge.part });
    if (edge.part === "successor") {
      const [a, b] = points.slice(-2);
      curves.push(arrowhead(b[0], b[1], b[0] - a[0], b[1] - a[1], 13, "arrow-go"));
    }
  }
  const strongest = ["successor", "rival", "predecessor"];
  names.sort((a, b) => strongest.indexOf(a.kind) - strongest.indexOf(b.kind));
  const kept = names.slice(0, 7).sort((a, b) => a.at - b.at);
  let last = -Infinity;
  const labels = kept.map((name, i) => {
    const at = Math.max(Math.min(name.at + 4, height - bottom - 14 * (kept.length - 1 - i)), last + 14);
    last = at;
    return svg("text", { x: width - right + 8, y: at, class: `vertex-name name-${name.kind}` }, name.text.length > 18 ? name.text.slice(0, 17) + "…" : name.text);
  });
  const ball = svg("circle", { cx: x(0), cy: y(around.loss), r: 8, class: "ball" });
  const label = `Loss along ${around.edges.length} edges from ${around.name}; ${around.n_falling} fall, ${around.n_rising} rise`;
  return drawing(width, height, label, axis, curves, ball, labels);
}

function edgeLegend(around) {
  const present = EDGE_KINDS.filter(kind => around.edges.some(edge => edge.part === kind)).reverse();
  const line = kind => svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("path", { d: "M1 5H29", class: `edge ${kind}` }));
  return html("ul", { class: "legend" }, present.map(kind => html("li", {}, line(kind), EDGE_WORDS[kind])));
}

/** Draws the loss around the vertex. */
export function mountEdges(store, root, words) {
  store.on(["around", "moment", "width", "opening"], ({ around, moment, opening }) => {
    if (!moment) return;
    if (around === null) {
      say(words, "This landscape is too large, or the network still waits for its labels: nothing to draw here.");
      root.replaceChildren(html("p", { class: "none" }, "No picture of the edges at this step."));
      return;
    }
    if (!around || around.step !== moment.step) {
      root.classList.add("stale");
      if (!around) say(words, "…");
      return;
    }
    root.classList.remove("stale");
    const goes = around.edges.find(edge => edge.part === "successor");
    const rivals = around.edges.filter(edge => edge.part === "rival").length;
    let text;
    if (goes && opening?.landscape === "plain") text = `No simplex here: a bowl whose lowest point is the next configuration, **${goes.name}**.`;
    else if (goes) text = `From **${around.name}** the loss falls steepest towards **${goes.name}** (slope ${numeral(goes.slope)}): the step goes all the way.${rivals ? ` ${rivals === 1 ? "Its rival has" : `Its ${rivals} rivals have`} the same state, but other symbols than will be read.` : ""}`;
    else if (around.stopped) text = `At **${around.name}** the machine has halted: every way leads up.`;
    else text = `The next vertex is **${around.name}** again: only tapes and heads move.`;
    if (opening?.lesson) text += " Drawn is ℓ, the machine's part of the loss.";
    say(words, text);
    root.replaceChildren(edgeChart(around, room(root)), edgeLegend(around));
    root.dataset.step = String(around.step);
  });
  store.on(["playing"], ({ playing }) => root.classList.toggle("stale", Boolean(playing)));
}
