// For two features: what the primary network says over their plane, before training and now.

import { html, numeral, say, svg } from "./draw.js";

const SHADES = [[196, 102, 15], [255, 255, 255], [11, 92, 173]];

function shadeOf(share) {
  const [a, b] = share < 0.5 ? [SHADES[0], SHADES[1]] : [SHADES[1], SHADES[2]];
  const t = share < 0.5 ? share * 2 : share * 2 - 1;
  return a.map((part, i) => Math.round(part + (b[i] - part) * t));
}

function boundaryMap(boundary, values, range, points, caption) {
  const { n } = boundary, size = 240;
  const canvas = html("canvas", { width: n, height: n, class: "plane", role: "img", "aria-label": caption });
  const pen = canvas.getContext("2d"), image = pen.createImageData(n, n);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const share = (values[j * n + i] - range[0]) / (range[1] - range[0] || 1);
      const colour = shadeOf(Math.min(1, Math.max(0, share)));
      const at = 4 * ((n - 1 - j) * n + i);
      image.data.set([...colour, 255], at);
    }
  }
  pen.putImageData(image, 0, 0);
  const x = value => (value - boundary.x[0]) / (boundary.x[1] - boundary.x[0]) * size;
  const y = value => size - (value - boundary.y[0]) / (boundary.y[1] - boundary.y[0]) * size;
  const middle = (range[0] + range[1]) / 2;
  const marks = points.map(({ at: [a, b], label }) => (label > middle
    ? svg("circle", { cx: x(a), cy: y(b), r: 6, class: "point", fill: "#0b5cad" })
    : svg("path", { d: `M${x(a) - 6} ${y(b) + 5}L${x(a) + 6} ${y(b) + 5}L${x(a)} ${y(b) - 6}Z`, class: "point", fill: "#ffab5c" })));
  const overlay = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "plane-marks", "aria-hidden": "true" }, marks);
  return html("figure", {}, html("figcaption", {}, caption), html("div", { class: "plane-box" }, canvas, overlay));
}

/** Draws the decision boundary where there is one. */
export function mountBoundary(store, card, root, words) {
  store.on(["boundary", "opening"], ({ boundary, opening }) => {
    card.hidden = !boundary || !opening?.lesson;
    if (card.hidden) return;
    const { x, y, features, labels } = opening.lesson;
    const all = y.flat().concat(boundary.before, boundary.now);
    const range = [Math.min(...all), Math.max(...all)];
    const points = x.map((at, i) => ({ at, label: y[i][0] }));
    const one = values => Math.max(...values) - Math.min(...values) < 1e-9;
    const flat = one(boundary.now) ? ` It says **${numeral(boundary.now[0])}** everywhere.` : "";
    say(words, `${labels[0]} over ${features[0]} (across) and ${features[1]} (up): orange and triangles are low, blue and circles are high.${flat}`);
    root.replaceChildren(html("div", { class: "pair" }, boundaryMap(boundary, boundary.before, range, points, "before training"), boundaryMap(boundary, boundary.now, range, points, `at step ${boundary.step.toLocaleString("en")}`)));
  });
}
