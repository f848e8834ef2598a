// The simplex: one corner per vertex, all the weight on one of them, and where this step moves it.

import { simplexWords } from "./captions.js";
import { arrowhead, drawing, html, numeral, room, say, shortName, svg } from "./draw.js";

function simplexNodes(opening) {
  if (opening.ring.length) return opening.ring.map((vertex, id) => ({ id, name: vertex.name, halting: opening.states[vertex.state]?.halting, next: vertex.next }));
  if (opening.states.length <= 90) return opening.states.map((state, id) => ({ id, name: state.name, halting: state.halting, next: [] }));
  return [];
}

/** Corners beyond which names at the top and the bottom would touch. */
const CROWD = 14;

function simplexRing(nodes, here, next, weight, width) {
  const size = Math.min(width, 420), height = Math.min(size, 330);
  const [cx, cy] = [width / 2, height / 2];
  const rx = Math.min(width / 2 - Math.min(130, width * 0.24), 190), ry = height / 2 - (nodes.length > CROWD ? 46 : 34);
  const place = i => {
    const angle = -Math.PI / 2 + 2 * Math.PI * i / nodes.length;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle), Math.cos(angle), Math.sin(angle)];
  };
  const bend = (a, b) => {
    const [x1, y1] = place(a), [x2, y2] = place(b);
    const [mx, my] = [(x1 + x2) / 2 + (cx - (x1 + x2) / 2) * 0.45, (y1 + y2) / 2 + (cy - (y1 + y2) / 2) * 0.45];
    if (a === b) {
      // A rule that stays in its state: a loop outside of the ring.
      const [, , ux, uy] = place(a), r = 13;
      return { d: `M${(x1 - uy * 5).toFixed(1)} ${(y1 + ux * 5).toFixed(1)}C${(x1 + ux * 2.4 * r - uy * r * 1.4).toFixed(1)} ${(y1 + uy * 2.4 * r + ux * r * 1.4).toFixed(1)} ${(x1 + ux * 2.4 * r + uy * r * 1.4).toFixed(1)} ${(y1 + uy * 2.4 * r - ux * r * 1.4).toFixed(1)} ${(x1 + uy * 5).toFixed(1)} ${(y1 - ux * 5).toFixed(1)}`, end: [x1, y1], from: [x1 + ux * r, y1 + uy * r] };
    }
    return { d: `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`, end: [x2, y2], from: [mx, my] };
  };
  const arcs = [];
  if (nodes.length <= 24) nodes.forEach((node, i) => node.next.forEach(to => arcs.push(svg("path", { d: bend(i, to).d, class: "arc" }))));
  if (here >= 0 && next >= 0 && next !== here) {
    const way = bend(here, next), dx = way.end[0] - way.from[0], dy = way.end[1] - way.from[1], length = Math.hypot(dx, dy) || 1;
    arcs.push(svg("path", { d: way.d, class: "arc step" }), arrowhead(way.end[0] - dx / length * 9, way.end[1] - dy / length * 9, dx, dy, 14, "arrow-go"));
  }
  const dots = nodes.map((node, i) => {
    const [x, y, ux] = place(i);
    const kind = i === here ? " here" : i === next ? " next" : "";
    const few = nodes.length <= 40 || kind;
    const above = Math.abs(ux) < (nodes.length > CROWD ? 0.5 : 0.25);
    const anchor = above ? "middle" : ux > 0 ? "start" : "end";
    // Where many names stand side by side, every other one stands a line farther out.
    const farther = above && nodes.length > CROWD && i % 2 ? 15 : 0;
    const dy = above ? (y < cy ? -12 - farther : 20 + farther) : 4;
    const text = shortName(node.name, Math.max(6, Math.floor((width / 2 - rx - 16) / 7)));
    return [
      svg("circle", { cx: x, cy: y, r: i === here ? 9 : nodes.length > 40 ? 3 : 5.5, class: `vertex${kind}${node.halting ? " halting" : ""}` }),
      few ? svg("text", { x: x + (anchor === "middle" ? 0 : ux > 0 ? 13 : -13), y: y + dy, "text-anchor": anchor, class: `vertex-name${kind}` }, text) : "",
    ];
  });
  const middle = [svg("text", { x: cx, y: cy - 2, "text-anchor": "middle", class: "symbol" }, weight === null ? "" : weight.toFixed(4)), svg("text", { x: cx, y: cy + 16, "text-anchor": "middle", class: "tape-note" }, "of the weight on one vertex")];
  return drawing(width, height, `Weight ${weight} on ${nodes[here]?.name ?? "no vertex"}`, arcs, dots, middle);
}

/** Draws the simplex. */
export function mountSimplex(store, root, words) {
  store.on(["moment", "around", "opening", "width"], ({ moment, around, opening }) => {
    if (!moment || !opening) return;
    const { vertex, next, others } = moment;
    let nodes = simplexNodes(opening), nearest = "";
    let index = view => (view ? (opening.ring.length ? view.id : view.state ?? -1) : -1);
    if (!nodes.length && around?.step === moment.step && vertex) {
      nodes = [{ id: vertex.id, name: vertex.name, next: [] }, ...around.edges.slice(0, 13).map(edge => ({ id: edge.to, name: edge.name, next: [] }))];
      index = view => (view ? nodes.findIndex(node => node.id === view.id) : -1);
      nearest = " Drawn are the corners to which the loss falls most or rises least.";
    }
    say(words, simplexWords(moment, opening) + nearest);
    if (!nodes.length) {
      root.replaceChildren(html("dl", { class: "facts-list" }, html("dt", {}, "here"), html("dd", {}, vertex?.name ?? "–"), html("dt", {}, "weight"), html("dd", {}, numeral(vertex?.weight)), html("dt", {}, "next"), html("dd", {}, next?.name ?? "–")));
      return;
    }
    const ring = simplexRing(nodes, index(vertex), index(next), vertex?.weight ?? null, room(root));
    const drift = others.length ? html("p", { class: "none" }, "Small weights elsewhere: " + others.map(other => `${other.name} ${numeral(other.weight)}`).join(", ")) : "";
    root.replaceChildren(ring, drift);
  }, root);
}
