// The loss as a surface over the plane of here, the successor and the best rival: contour lines, and a surface that turns.

import { surfaceWords } from "./captions.js";
import { contourPath } from "./contour.js";
import { arrowhead, count, drawing, html, path, room, say, shortName, svg, tick, ticks } from "./draw.js";
import { saveButtons } from "./export.js";
import { lookCommand } from "./state.js";

const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** The colour of a height between 0 and 1. */
function heightColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (RAMP.length - 1), i = Math.min(RAMP.length - 2, Math.floor(at));
  return `rgb(${RAMP[i].map((part, k) => Math.round(part + (RAMP[i + 1][k] - part) * (at - i))).join()})`;
}

/** Where shares of the second and the third corner lie in the plane: a triangle of equal sides, or a square. */
function ground({ triangle, shares: [low, high] }) {
  const height = Math.sqrt(3) / 2;
  return triangle ? (u, v) => [u + v / 2, v * height] : (u, v) => [(u - low) / (high - low), (v - low) / (high - low) * 0.9];
}

function heights(surface) {
  const known = surface.values.filter(value => value !== null);
  const low = Math.min(...known), high = Math.max(...known);
  return { low, high, share: value => (high > low ? (value - low) / (high - low) : 0.5) };
}

/** Calls `draw` for the quarters of the grid that lie in the plane, with the shares and values of their corners. */
function eachPatch(surface, draw) {
  const { n, values, shares: [low, high] } = surface;
  const share = i => low + (high - low) * i / (n - 1);
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < n; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([a, b]) => [share(a), share(b), values[b * n + a]]).filter(corner => corner[2] !== null);
      if (corners.length > 2) draw(corners);
    }
  }
}

function contourPicture(surface, width) {
  const margin = 40, height = Math.round((width - 2 * margin) * 0.9 + 84);
  const plane = ground(surface), { low, high, share } = heights(surface);
  const at = (u, v) => { const [x, y] = plane(u, v); return [margin + x * (width - 2 * margin), height - 40 - y * (width - 2 * margin)]; };
  const patches = [];
  eachPatch(surface, corners => {
    const colour = heightColour(share(corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length));
    // A patch is drawn up to its neighbours, or the paper would shine through between them.
    patches.push(svg("path", { d: path(corners.map(([u, v]) => at(u, v))) + "Z", fill: colour, stroke: colour, "stroke-width": 0.8, "stroke-linejoin": "round" }));
  });
  const { n, shares: [from, to] } = surface, scaled = i => from + (to - from) * i / (n - 1);
  // A contour needs places across and up at once, so the grid's own are drawn and then taken to the plane.
  const lines = ticks(low, high, 14).map(level => {
    const d = contourPath(surface.values.map(value => value ?? NaN), n, level, i => i, j => j);
    const bent = d.replace(/([\d.]+) ([\d.]+)/g, (_, i, j) => at(scaled(Number(i)), scaled(Number(j))).map(part => part.toFixed(1)).join(" "));
    return svg("path", { d: bent, class: "contour level-line" });
  });
  const corners = [at(0, 0), at(1, 0), at(0, 1)];
  const names = surface.corners.map((name, i) => {
    const [x, y] = corners[i], up = i === 2 && surface.triangle;
    return svg("text", { x: i === 1 ? Math.min(x, width - 4) : Math.max(x, 4), y: up ? y - 14 : y + 24, "text-anchor": i === 1 ? "end" : i === 0 ? "start" : "middle", class: `vertex-name ${["here", "next", "name-rival"][i]}` }, shortName(name, 22));
  });
  const [a, b] = corners, middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 - 34];
  const jump = surface.moves ? [svg("path", { d: `M${a[0]} ${a[1]}Q${middle[0]} ${middle[1]} ${b[0]} ${b[1]}`, class: "jump" }), arrowhead(b[0], b[1], b[0] - middle[0], b[1] - middle[1], 13, "jump-head")] : [];
  return drawing(width, height, `Contours of the loss from ${tick(low)} to ${tick(high)} over ${surface.corners.join(", ")}`, patches, lines, jump,
    corners.map(([x, y], i) => svg("circle", { cx: x, cy: y, r: i ? 5 : 8, class: ["ball", "vertex next", "vertex rival"][i] })), names);
}

function surfacePicture(surface, width, { turn, tilt }) {
  const height = Math.round(width * 0.84), plane = ground(surface), { low, high, share } = heights(surface);
  const [cos, sin, cosT, sinT] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  const [mx, my] = surface.triangle ? [0.5, 0.29] : [0.5, 0.45];
  const size = width * 0.66;
  const at = (u, v, value) => {
    const [gx, gy] = plane(u, v), x = gx - mx, y = gy - my, z = (share(value) - 0.5) * 0.62;
    const [rx, ry] = [x * cos - y * sin, x * sin + y * cos];
    return [width / 2 + rx * size, height * 0.52 - (z * cosT + ry * sinT) * size, ry * cosT - z * sinT];
  };
  const patches = [];
  eachPatch(surface, corners => {
    const points = corners.map(([u, v, value]) => at(u, v, value));
    patches.push({ points, depth: points.reduce((sum, point) => sum + point[2], 0) / points.length, colour: heightColour(share(corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length)) });
  });
  patches.sort((a, b) => b.depth - a.depth);
  const [here, there, rival] = [at(0, 0, surface.ends[0]), at(1, 0, surface.ends[1]), at(0, 1, surface.ends[2])];
  const top = Math.min(here[1], there[1]) - height * 0.16;
  const jump = surface.moves ? [svg("path", { d: `M${here[0]} ${here[1]}Q${(here[0] + there[0]) / 2} ${top} ${there[0]} ${there[1]}`, class: "jump" }), arrowhead(there[0], there[1], there[0] - (here[0] + there[0]) / 2, there[1] - top, 13, "jump-head")] : [];
  const names = [here, there, rival].map(([x, y], i) => {
    const name = shortName(surface.corners[i], 18), half = name.length * 3.8 + 4;
    return svg("text", { x: Math.min(Math.max(x, half), width - half), y: Math.min(y + 24, height - 6), "text-anchor": "middle", class: `vertex-name outlined ${["here", "next", "name-rival"][i]}` }, name);
  });
  return drawing(width, height, `The loss from ${tick(low)} to ${tick(high)} as a surface, turned by ${Math.round(turn * 57.3)} degrees`,
    patches.map(({ points, colour }) => svg("path", { d: path(points) + "Z", fill: colour, class: "patch lined" })), jump,
    [here, there, rival].map(([x, y], i) => svg("circle", { cx: x, cy: y, r: i ? 5 : 8, class: ["ball", "vertex next", "vertex rival"][i] })), names);
}

function heightBar(surface) {
  const { low, high } = heights(surface), n = 40, width = 240;
  return drawing(width + 60, 34, `Colours from ${tick(low)} to ${tick(high)}`, Array.from({ length: n }, (_, i) => svg("rect", { x: 30 + i * width / n, y: 2, width: width / n + 0.5, height: 12, fill: heightColour((i + 0.5) / n) })),
    [low, (low + high) / 2, high].map((value, i) => svg("text", { x: 30 + width * i / 2, y: 29, "text-anchor": "middle", class: "cellno" }, tick(value))));
}

/** Draws the surface when it is asked for; a drag or the arrow keys turn it. */
export function mountSurface(store, root, words, send) {
  const flat = html("div", { class: "flat" });
  const solid = html("div", { class: "solid", tabindex: "0", role: "application", "aria-label": "The loss as a surface: drag, or press the arrow keys, to turn it" });
  const key = html("div", {});
  let turn = -0.6, tilt = 0.85, drag = null;
  const name = () => `luge-${store.state.opening?.landscape}-step-${store.state.surface?.step}`;
  const tools = html("div", { class: "under" }, html("span", {}, "Contours:"), saveButtons(() => flat.querySelector("svg"), () => `${name()}-contours`), html("span", {}, "Surface:"), saveButtons(() => solid.querySelector("svg"), name));
  const pair = html("div", { class: "pair" }, html("figure", {}, flat), html("figure", {}, solid));
  root.replaceChildren(pair, key, tools);
  const width = () => Math.min(560, room(root) >= 620 ? Math.floor((room(root) - 14) / 2) : room(root));
  const turned = () => { const { surface } = store.state; if (surface) solid.replaceChildren(surfacePicture(surface, width(), { turn, tilt })); };
  const turnBy = (dx, dy) => { turn += dx; tilt = Math.min(1.5, Math.max(0.15, tilt + dy)); turned(); };
  solid.addEventListener("pointerdown", event => { drag = [event.clientX, event.clientY]; solid.setPointerCapture(event.pointerId); });
  solid.addEventListener("pointermove", event => {
    if (!drag) return;
    turnBy((event.clientX - drag[0]) * 0.01, (drag[1] - event.clientY) * -0.008);
    drag = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) solid.addEventListener(end, () => { drag = null; });
  solid.addEventListener("keydown", event => {
    const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    turnBy(...by);
  });
  const details = root.closest("details");
  const ask = () => {
    store.set({ surfaceOpen: !details || details.open });
    send(lookCommand(store.state));
  };
  details?.addEventListener("toggle", ask);
  store.on(["surface", "moment", "width", "opening"], ({ surface, moment, opening }) => {
    if (!opening || !moment) return;
    const late = Boolean(surface) && surface.step !== moment.step;
    root.classList.toggle("stale", late);
    if (late) return;
    for (const part of [tools, key]) part.hidden = !surface;
    if (!surface) {
      say(words, surface === null ? "At this step there is no surface to draw: the labels come first, or the landscape is too large." : "The loss as hills and valleys, between this vertex, its successor and the best rival: as contour lines, and as a surface that turns.");
      flat.replaceChildren();
      solid.replaceChildren();
      return;
    }
    say(words, surfaceWords(surface));
    const drawn = `${opening.name} ${opening.landscape} ${surface.step} ${width()}`;
    if (root.dataset.drawn === drawn) return;
    root.dataset.drawn = drawn;
    pair.classList.toggle("stacked", room(root) < 620);
    flat.replaceChildren(contourPicture(surface, width()));
    turned();
    key.replaceChildren(heightBar(surface), html("p", { class: "none tight" }, `Step ${count(surface.step)}. Low is dark, high is bright.`));
  }, root);
  store.on(["opening"], () => { root.dataset.drawn = ""; });
}
