// Why corners become tape weights: the run of a two-state machine whose cells are weights, and the corners it saves.

import { axes, count, drawing, html, path, room, say, scale, svg } from "./draw.js";
import { figureOf, saveButtons } from "./export.js";
import { createStore } from "./state.js";
import { mountTapes } from "./tapes.js";

/** How many corners each way needs. */
export function tapeFigureWords({ corners, inside }) {
  const [cells, needed] = inside.at(-1);
  return `With a corner for every configuration, a tape of ${cells} cells needs **${count(needed)}** corners, and every further cell about doubles that. With cells as weights, **${corners}** corners are enough for a tape of any length: a state, and the one symbol that it looks at.`;
}

function drawCounts({ corners, inside }, width) {
  const height = 300, frame = [58, 14, width - 16, height - 46], most = Math.log2(inside.at(-1)[1]) * 1.05;
  const x = scale(inside[0][0], inside.at(-1)[0], frame[0], frame[2]), y = scale(0, most, frame[3], frame[1]);
  const line = (points, kind) => svg("path", { d: path(points.map(([cells, n]) => [x(cells), y(Math.log2(n))])), class: kind });
  return drawing(width, height, `Corners needed for tapes of ${inside.map(([cells, n]) => `${cells} cells: ${n}`).join(", ")}; with cells as weights always ${corners}`,
    axes(frame, { x, y, xTicks: inside.map(([cells]) => cells), yTicks: [0, 2, 4, 6, 8, 10, 12].filter(power => power <= most), xName: "cells of the tape", yName: "corners", yWords: power => count(2 ** power) }),
    line(inside, "line-ordinary"), line(inside.map(([cells]) => [cells, corners]), "line-perceptron"),
    svg("text", { x: frame[0] + 12, y: y(most) + 22, class: "name-rival" }, "a corner for every configuration"), svg("text", { x: frame[2] - 6, y: y(Math.log2(corners)) - 8, "text-anchor": "end", class: "name-successor" }, "cells as weights"));
}

/** Draws the run step by step, and the counts. */
export function mountTapeFigure(root, words, cells, cellsWords, { back, forth, where }, ask) {
  const store = createStore({ moment: null, opening: null, width: 0 });
  let figure = null, at = 0;
  const show = () => {
    where.textContent = `step ${at} of ${figure.moments.length - 1}`;
    [back.disabled, forth.disabled] = [at === 0, at + 1 === figure.moments.length];
    store.set({ opening: figure.opening, moment: figure.moments[at], width: window.innerWidth });
    say(words, tapeFigureWords(figure));
    root.dataset.corners = `${figure.corners} ${figure.inside.at(-1)[1]}`;
    root.replaceChildren(figureOf("tape-weights", drawCounts(figure, Math.min(room(root), 620))));
  };
  mountTapes(store, cells, cellsWords);
  cells.after(html("div", { class: "under" }, saveButtons(() => cells.querySelector("svg"), () => "luge-tape")));
  back.addEventListener("click", () => { at = Math.max(0, at - 1); show(); });
  forth.addEventListener("click", () => { at = Math.min(figure.moments.length - 1, at + 1); show(); });
  return { load: async () => { figure = await ask({ name: "tapes" }); show(); }, show: () => { if (figure) show(); } };
}
