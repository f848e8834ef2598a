// Small tools for drawing: elements, numbers, axes.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    // Of states that are read aloud, "false" is a value like any other.
    const spoken = name.startsWith("aria-") && typeof value === "boolean";
    if (value === undefined || value === null || (value === false && !spoken)) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true && !spoken ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** An element of the page. */
export function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A drawing of this size that says what it shows to those who do not see it. */
export function drawing(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
}

/** A number for people: grouped digits, few places. */
export function numeral(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) return value.toExponential(2).replace("-", "−");
  const text = value.toLocaleString("en", { maximumFractionDigits: size >= 1000 ? 1 : size >= 10 ? 2 : 4 });
  return text.replace("-", "−");
}

/** A whole number with grouped digits. */
export function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

/** A rough number: 1.7 billion. */
export function rough(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} billion`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} million`;
  if (value >= 1e4) return `${Math.round(value / 1e3)} thousand`;
  return count(value);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A number for an axis: of a million and more, a power of ten. */
export function tick(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < 1e6) return numeral(value);
  const power = Math.floor(Math.log10(size) + 1e-12), digits = +(value / 10 ** power).toFixed(2);
  const raised = [...String(power)].map(digit => RAISED[digit]).join("");
  return (digits === 1 ? `10${raised}` : `${digits}·10${raised}`).replace("-", "−");
}

/** A number of steps for an axis. */
export function stepTick(value) {
  return value >= 1e6 ? `${+(value / 1e6).toFixed(2)} million` : count(value);
}

/** What a vertex is called where there is little room: `17.13 ··000·` for `17.13 * * 0 0 0 *`. */
export function shortName(name, most = 24) {
  const [state, ...symbols] = (name ?? "").split(" ");
  const joined = symbols.every(symbol => [...symbol].length === 1) ? symbols.join("").replaceAll("*", "·") : symbols.join(" ");
  const text = joined ? `${state} ${joined}` : state;
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

/** Lines, numbers and names of two axes around a frame `[left, top, right, bottom]`. */
export function axes([left, top, right, bottom], { x, y, xTicks = [], yTicks = [], xName = "", yName = "", xWords = tick, yWords = tick }) {
  const group = svg("g", { class: "axis" });
  for (const at of yTicks) group.append(svg("line", { x1: left, x2: right, y1: y(at), y2: y(at) }), svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, yWords(at)));
  let last = -Infinity;
  for (const at of xTicks) {
    group.append(svg("line", { x1: x(at), x2: x(at), y1: bottom, y2: bottom + 4 }));
    const words = xWords(at), half = words.length * 3.2;
    if (x(at) - half < last) continue;
    last = x(at) + half + 6;
    group.append(svg("text", { x: x(at), y: bottom + 17, "text-anchor": "middle" }, words));
  }
  group.append(svg("path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none" }));
  if (xName) group.append(svg("text", { x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle", class: "axis-name" }, xName));
  if (yName) group.append(svg("text", { x: 0, y: 0, "text-anchor": "middle", class: "axis-name", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` }, yName));
  return group;
}

/** Words at these heights, moved apart so that none lies on another: `[{ at, … }]` gets `to`. */
export function apart(words, distance, top, bottom) {
  const sorted = [...words].sort((a, b) => a.at - b.at);
  let last = -Infinity;
  sorted.forEach((word, i) => {
    word.to = Math.max(Math.min(word.at, bottom - distance * (sorted.length - 1 - i)), last + distance, top);
    last = word.to;
  });
  return sorted;
}

/** A weight with its sign. */
export function signed(value) {
  const text = Math.abs(value) >= 100 ? Math.round(Math.abs(value)).toLocaleString("en") : String(+Math.abs(value).toFixed(3));
  return (value < 0 ? "−" : "+") + text;
}

/** About `n` round numbers between two others. */
export function ticks(low, high, n) {
  if (!(high > low)) return [low];
  const raw = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= raw);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/** A scale from numbers to places. */
export function scale(low, high, from, to) {
  const span = high - low || 1;
  return value => from + (value - low) / span * (to - from);
}

/** A point to the SVG path from others: M and L. */
export function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** The tip of an arrow that arrives at a point from a direction. */
export function arrowhead(x, y, dx, dy, size, kind) {
  const length = Math.hypot(dx, dy) || 1, ux = dx / length, uy = dy / length;
  const points = [[x, y], [x - size * ux - size * 0.55 * uy, y - size * uy + size * 0.55 * ux], [x - size * ux + size * 0.55 * uy, y - size * uy - size * 0.55 * ux]];
  return svg("path", { d: path(points) + "Z", class: kind });
}

/** The width that a drawing may take. */
export function room(node, least = 280) {
  return Math.max(least, Math.floor(node.clientWidth || 600));
}

/** Words as elements; parts in `**` are strong, parts in backticks code. */
export function marked(text) {
  return text.split(/(\*\*.+?\*\*|`.+?`)/).map(part => (part.startsWith("**") ? html("b", {}, part.slice(2, -2)) : part.startsWith("`") ? html("code", {}, part.slice(1, -1)) : part));
}

/** Says something in words. */
export function say(node, text) {
  if (node.dataset.said === text) return;
  node.dataset.said = text;
  node.replaceChildren(...marked(text));
}
