// What the primary network says over the plane of two features, before training and now, beside the rows it learned from.

import { contourPath } from "./contour.js";
import { axes, count, drawing, html, numeral, room, say, scale, svg, ticks } from "./draw.js";
import { lookCommand } from "./state.js";

const LOW = [196, 102, 15], MIDDLE = [255, 255, 255], HIGH = [11, 92, 173];
const CLASSES = [[11, 92, 173], [196, 102, 15], [47, 125, 79], [123, 63, 160], [179, 38, 30], [90, 104, 120]];

const mixed = (a, b, share) => a.map((part, i) => Math.round(part + (b[i] - part) * share));
const rgb = colour => `rgb(${colour.join()})`;

/** How labels are told apart: by class, by a threshold between two values, or not at all. */
export function labelScale(y, boundary) {
  if (boundary.classes) return { kind: "classes", of: row => row.indexOf(Math.max(...row)), right: (said, row) => said === row.indexOf(Math.max(...row)) };
  const values = [...new Set(y.map(row => row[0]))].sort((a, b) => a - b);
  if (values.length === 2) {
    const middle = (values[0] + values[1]) / 2;
    return { kind: "threshold", middle, of: row => Number(row[0] > middle), right: (said, row) => (said - middle) * (row[0] - middle) > 0 };
  }
  return { kind: "numbers", middle: (values[0] + values.at(-1)) / 2, of: row => row[0], right: () => true };
}

/** Colours around the middle: white there, and near it already clearly one or the other. */
function shades(told, values, y) {
  if (told.kind === "classes") return { colour: value => mixed(MIDDLE, CLASSES[value % CLASSES.length], 0.45), low: 0, high: 0 };
  const all = values.concat(y.map(row => row[0])).filter(Number.isFinite);
  const reach = Math.max(...all.map(value => Math.abs(value - told.middle)), 1e-9);
  const share = value => Math.sign(value - told.middle) * Math.sqrt(Math.min(1, Math.abs(value - told.middle) / reach));
  return { colour: value => (share(value) < 0 ? mixed(MIDDLE, LOW, -share(value)) : mixed(MIDDLE, HIGH, share(value))), low: told.middle - reach, high: told.middle + reach };
}

function pointMark(x, y, kind, wrong, title) {
  const mark = kind === 0
    ? svg("path", { d: `M${x - 4.5} ${y + 4}L${x + 4.5} ${y + 4}L${x} ${y - 5}Z`, class: "point low" })
    : kind === 1 ? svg("circle", { cx: x, cy: y, r: 4.2, class: "point high" }) : svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8, class: "point third" });
  mark.append(svg("title", {}, title));
  return wrong ? [mark, svg("path", { d: `M${x - 7} ${y - 7}L${x + 7} ${y + 7}M${x + 7} ${y - 7}L${x - 7} ${y + 7}`, class: "wrong-mark" })] : [mark];
}

/** One map with its axes; the plane itself is an image inside the drawing. */
function boundaryMap({ boundary, values, rows, told, paint, lesson, width, caption }) {
  const { n, features: [across, up] } = boundary;
  const height = Math.min(330, width * 0.86), [left, top, right, bottom] = [52, 10, width - 10, height - 44];
  const canvas = html("canvas", { width: n, height: n });
  const pen = canvas.getContext("2d"), image = pen.createImageData(n, n);
  values.forEach((value, at) => image.data.set([...paint.colour(value), 255], 4 * ((n - 1 - Math.floor(at / n)) * n + at % n)));
  pen.putImageData(image, 0, 0);
  const x = scale(boundary.x[0], boundary.x[1], left, right), y = scale(boundary.y[0], boundary.y[1], bottom, top);
  const line = told.kind === "threshold" ? svg("path", { d: contourPath(values, n, told.middle, scale(0, n - 1, left, right), scale(0, n - 1, bottom, top)), class: "contour main" })
    : told.kind === "numbers" ? ticks(Math.min(...values), Math.max(...values), 6).map(level => svg("path", { d: contourPath(values, n, level, scale(0, n - 1, left, right), scale(0, n - 1, bottom, top)), class: "contour" })) : [];
  let wrong = 0;
  const marks = lesson.x.map((point, i) => {
    const bad = !told.right(rows[i], lesson.y[i]);
    wrong += Number(bad);
    const kind = told.kind === "numbers" ? 1 : told.of(lesson.y[i]);
    return pointMark(x(point[across]), y(point[up]), kind, bad, `row ${i + 1}: ${lesson.labels.map((name, k) => `${name} = ${numeral(lesson.y[i][k])}`).join(", ")}`);
  });
  const picture = drawing(width, height, `${caption}: ${wrong} of ${lesson.x.length} rows shown are wrong`,
    svg("image", { href: canvas.toDataURL(), x: left, y: top, width: right - left, height: bottom - top, preserveAspectRatio: "none" }), line,
    axes([left, top, right, bottom], { x, y, xTicks: ticks(...boundary.x, 5), yTicks: [], xName: lesson.features[across], yName: lesson.features[up], xWords: numeral }),
    ticks(...boundary.y, 5).map(at => svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end", class: "cellno" }, numeral(at))), marks);
  return html("figure", {}, html("figcaption", {}, caption), picture);
}

function colourBar(told, paint, lesson) {
  if (told.kind === "classes") return html("ul", { class: "legend" }, lesson.labels.map((name, i) => html("li", {}, swatch(rgb(CLASSES[i % CLASSES.length])), name)));
  const n = 60, width = 220;
  const bar = drawing(width + 60, 34, `Colours from ${numeral(paint.low)} over ${numeral(told.middle)} to ${numeral(paint.high)}`,
    Array.from({ length: n }, (_, i) => svg("rect", { x: 30 + i * width / n, y: 2, width: width / n + 0.5, height: 12, fill: rgb(paint.colour(paint.low + (paint.high - paint.low) * (i + 0.5) / n)) })),
    [paint.low, told.middle, paint.high].map((value, i) => svg("text", { x: 30 + width * i / 2, y: 28, "text-anchor": "middle", class: "cellno" }, numeral(value))));
  const legend = told.kind === "threshold"
    ? [html("li", {}, mark(0), "label low"), html("li", {}, mark(1), "label high"), html("li", {}, line(), `boundary, ${numeral(told.middle)}`), html("li", {}, cross(), "row on the wrong side")] : [];
  return html("div", { class: "bar-legend" }, bar, html("ul", { class: "legend" }, legend));
}

const swatch = colour => svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { x: 1, y: 1, width: 12, height: 12, rx: 3, fill: colour }));
const mark = kind => svg("svg", { width: 16, height: 16, "aria-hidden": "true" }, pointMark(8, 8, kind, false, ""));
const cross = () => svg("svg", { width: 18, height: 18, "aria-hidden": "true" }, svg("path", { d: "M2 2L16 16M16 2L2 16", class: "wrong-mark" }));
const line = () => svg("svg", { width: 26, height: 10, "aria-hidden": "true" }, svg("path", { d: "M1 5H25", class: "contour main" }));

/** Draws the map where there are two features or more; those with more choose two. */
export function mountBoundary(store, card, root, words, send) {
  const pick = name => html("select", { "aria-label": `Feature ${name}` });
  const [across, up] = [pick("across"), pick("up")];
  const chooser = html("div", { class: "under", hidden: true }, html("span", {}, "across"), across, html("span", {}, "up"), up, html("span", {}, "all others at their mean"));
  const maps = html("div", {});
  root.replaceChildren(maps, chooser);
  const chosen = () => {
    if (across.value === up.value) return;
    store.set({ features: [Number(across.value), Number(up.value)] });
    send(lookCommand(store.state));
  };
  across.addEventListener("change", chosen);
  up.addEventListener("change", chosen);
  let offered = "";
  // A card that is hidden is never in sight: it is shown first, with room for its maps, and then drawn.
  store.on(["opening", "width"], ({ opening }) => {
    card.hidden = !(opening?.lesson?.features.length > 1);
    const both = room(root) >= 480, width = both ? (room(root) - 14) / 2 : room(root);
    maps.style.minHeight = `${(both ? 1 : 2) * (Math.min(330, width * 0.86) + 28) + 40}px`;
  });
  store.on(["boundary", "opening", "width"], ({ boundary, opening }) => {
    if (card.hidden || !boundary) return;
    const { lesson } = opening, { y, features, labels } = lesson;
    const told = labelScale(y, boundary), paint = shades(told, boundary.now.concat(boundary.before), y);
    chooser.hidden = features.length < 3 || document.body.classList.contains("recorded");
    if (offered !== features.join()) {
      offered = features.join();
      for (const select of [across, up]) select.replaceChildren(...features.map((name, i) => html("option", { value: i }, name)));
    }
    [across.value, up.value] = boundary.features;
    const flat = Math.max(...boundary.now) - Math.min(...boundary.now) < 1e-9 ? ` Now it says **${numeral(boundary.now[0])}** everywhere.` : "";
    const what = told.kind === "numbers" ? "**" + labels[0] + "**" : told.kind === "classes" ? "which label is highest" : `on which side of **${numeral(told.middle)}** the network puts **${labels[0]}**`;
    say(words, `${told.kind === "numbers" ? "The network's " : "Shown is "}${what}, over ${features[boundary.features[0]]} and ${features[boundary.features[1]]}.${flat}`);
    const both = room(root) >= 480, width = both ? Math.floor((room(root) - 14) / 2) : room(root);
    const common = { boundary, told, paint, lesson, width };
    maps.replaceChildren(html("div", { class: both ? "pair" : "pair stacked" },
      boundaryMap({ ...common, values: boundary.before, rows: boundary.rows_before, caption: "before training" }),
      boundaryMap({ ...common, values: boundary.now, rows: boundary.rows, caption: `at step ${count(boundary.step)}` })), colourBar(told, paint, lesson));
    root.dataset.threshold = told.kind === "threshold" ? String(told.middle) : "";
    root.dataset.wrong = String(lesson.y.filter((row, i) => !told.right(boundary.rows[i], row)).length);
  }, root);
}
