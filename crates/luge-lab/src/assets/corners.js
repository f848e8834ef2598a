// The seven corners: a landscape whose slides and barriers can be moved.

import { latest } from "./ask.js";
import { arrowhead, axes, drawing, html, numeral, path, room, say, scale, svg, tick, ticks } from "./draw.js";
import { figureOf } from "./export.js";

/** What descent does, and where it leaves the machine's way. */
export function cornersWords({ path: way, names, derails, heights, edges }, from) {
  const leaving = edges.filter(edge => edge.from === from || edge.to === from).map(edge => ({ to: edge.from === from ? edge.to : edge.from, slope: 2 * (edge.level - heights[from]) }));
  const best = leaving.reduce((a, b) => (b.slope < a.slope ? b : a));
  const here = best.slope < 0 ? `From corner **${from + 1}** the loss falls most steeply towards corner **${best.to + 1}**, with slope ${numeral(best.slope)}.` : `From corner **${from + 1}** no edge falls: descent stays there.`;
  const run = derails === null
    ? `Gradient descent makes ${way.length - 1} steps, the machine's own, and ends in ${names.at(-1)}.`
    : `Gradient descent **derails at step ${derails}**: ${way[derails] === undefined ? `it stays at corner ${way.at(-1) + 1}` : `it goes from corner ${way[derails - 1] + 1} to corner ${way[derails] + 1}`}, and the machine would go to corner ${derails + 1}.`;
  return `${here} ${run}`;
}

function ring({ names, path: way, derails }, width) {
  const size = Math.min(width, 430), middle = size / 2, radius = middle - 62;
  const place = i => { const turn = 2 * Math.PI * i / names.length - Math.PI / 2; return [middle + radius * Math.cos(turn), middle - 8 + radius * Math.sin(turn)]; };
  const steps = way.slice(1).map((to, i) => {
    const [x1, y1] = place(way[i]), [x2, y2] = place(to), length = Math.hypot(x2 - x1, y2 - y1), wrong = derails !== null && i + 1 >= derails;
    const [ex, ey] = [x2 - (x2 - x1) / length * 16, y2 - (y2 - y1) / length * 16];
    return [svg("line", { x1, y1, x2: ex, y2: ey, class: wrong ? "arc astray" : "arc step" }), arrowhead(ex, ey, x2 - x1, y2 - y1, 10, wrong ? "arrow-astray" : "arrow-go")];
  });
  const corners = names.map((name, i) => {
    const [x, y] = place(i), visited = way.includes(i);
    return [svg("circle", { cx: x, cy: y, r: 13, class: `vertex${visited ? " here" : ""}` }), svg("text", { x, y: y + 4.5, "text-anchor": "middle", class: "corner-number" }, String(i + 1)), svg("text", { x, y: y + (y < middle - 8 ? -20 : 30), "text-anchor": "middle", class: "vertex-name" }, name)];
  });
  return drawing(size, size - 8, `Seven corners in a ring; descent visits ${way.map(i => i + 1).join(", ")}`, svg("g", {}, steps), corners);
}

/** The loss along the edges that leave a corner; `grab(edge, element, toLevel)` makes a handle movable. */
function profiles(figure, from, width, grab) {
  const { edges, heights, names } = figure, height = 400, frame = [64, 16, width - 64, height - 46];
  const leaving = edges.filter(edge => edge.from === from || edge.to === from).map(edge => (edge.from === from ? { edge, to: edge.to, profile: edge.profile } : { edge, to: edge.from, profile: [...edge.profile].reverse() }));
  const top = Math.max(...edges.map(edge => edge.level), ...heights) * 1.04;
  const x = scale(0, 1, frame[0], frame[2]), y = scale(0, top, frame[3], frame[1]);
  const steepest = leaving.reduce((a, b) => (b.edge.level < a.edge.level ? b : a)), falls = steepest.edge.level < heights[from];
  const lines = leaving.map(one => svg("path", { d: path(one.profile.map((loss, i) => [x(i / (one.profile.length - 1)), y(loss)])), class: `edge ${one === steepest && falls ? "successor" : one.edge.legal ? "rival" : "other"}` }));
  const labels = leaving.map(one => svg("text", { x: frame[2] + 6, y: y(one.profile.at(-1)) + 4, class: "vertex-name" }, `to ${one.to + 1}`));
  // Handles of equal height stand side by side.
  const seen = new Map();
  const handles = [...leaving].sort((a, b) => a.to - b.to).map(one => {
    const same = seen.get(one.edge.level) ?? 0;
    seen.set(one.edge.level, same + 1);
    const handle = svg("circle", { cx: x(0.5) + same * 22, cy: y(one.edge.level), r: 9, class: `handle${one.edge.legal ? " slide" : ""}`, tabindex: 0, role: "slider", "aria-orientation": "vertical", "aria-label": `Height of the edge between corners ${from + 1} and ${one.to + 1}`, "aria-valuemin": 0, "aria-valuemax": +top.toFixed(2), "aria-valuenow": +one.edge.level.toFixed(2), "data-edge": `${one.edge.from}-${one.edge.to}` });
    grab(one.edge, handle, place => Math.max(0, (frame[3] - place) / (frame[3] - frame[1]) * top));
    return [handle, svg("text", { x: x(0.5) + same * 22, y: y(one.edge.level) + 4, "text-anchor": "middle", class: "handle-name", "aria-hidden": "true" }, String(one.to + 1))];
  });
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `The loss along the edges from corner ${from + 1}, ${names[from]}, to all others` },
    axes(frame, { x, y, xTicks: [0, 0.5, 1], yTicks: ticks(0, top, 5), xName: `from corner ${from + 1} to another`, yName: "loss", yWords: tick, xWords: at => ({ 0: `corner ${from + 1}`, 0.5: "half-way", 1: "" })[at] }),
    lines, labels, svg("circle", { cx: x(0), cy: y(heights[from]), r: 7, class: "ball" }), handles);
  return picture;
}

/** Draws the corners, and lets their edges be moved. */
export function mountCorners(root, words, controls, ask) {
  let levels = new Map(), figure = null, from = 1;
  const key = edge => `${edge.from}-${edge.to}`;
  const load = latest(async () => {
    figure = await ask({ name: "corners", levels: [...levels.values()] });
    show();
  });
  const set = (edge, level) => {
    levels.set(key(edge), [edge.from, edge.to, Math.round(level * 100) / 100]);
    load();
  };
  const grab = (edge, handle, toLevel) => {
    const focused = () => root.querySelector(`[data-edge="${key(edge)}"]`);
    handle.addEventListener("pointerdown", event => {
      event.preventDefault();
      handle.focus();
      const move = moved => {
        const picture = focused()?.ownerSVGElement ?? handle.ownerSVGElement, box = picture.getBoundingClientRect();
        set(edge, toLevel((moved.clientY - box.top) / box.height * picture.viewBox.baseVal.height));
      };
      const end = () => { window.removeEventListener("pointermove", move); window.removeEventListener("pointerup", end); };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", end);
    });
    handle.addEventListener("keydown", event => {
      const by = { ArrowUp: 1, ArrowDown: -1, ArrowRight: 1, ArrowLeft: -1, PageUp: 5, PageDown: -5 }[event.key];
      if (!by) return;
      event.preventDefault();
      set(edge, Math.max(0, edge.level + by * Math.max(...figure.heights) / 20));
    });
  };
  const show = () => {
    const focused = document.activeElement?.dataset?.edge, width = Math.min(room(root), 1100), half = width > 760 ? (width - 16) / 2 : width;
    say(words, cornersWords(figure, from));
    root.dataset.derails = String(figure.derails);
    root.dataset.path = figure.path.join(" ");
    root.replaceChildren(figureOf("corners", ring(figure, half), "Where gradient descent goes. Each corner: state and tape, the head in brackets."), figureOf("edges", profiles(figure, from, half, grab), "The loss along the edges, with a handle in the middle of each."));
    if (focused) root.querySelector(`[data-edge="${focused}"]`)?.focus();
  };
  controls.from.replaceChildren(...Array.from({ length: 6 }, (_, i) => html("option", { value: i }, String(i + 1))));
  controls.from.value = from;
  controls.from.addEventListener("change", () => { from = Number(controls.from.value); show(); });
  const look = corner => { from = corner; controls.from.value = corner; };
  controls.shortcut.addEventListener("click", () => { look(1); levels.set("1-4", [1, 4, 0]); load(); });
  controls.block.addEventListener("click", () => { look(2); levels.set("2-3", [2, 3, 2 * Math.max(...figure.heights)]); load(); });
  controls.reset.addEventListener("click", () => { levels = new Map(); load(); });
  return { load, show: () => { if (figure) show(); } };
}
