// The network of the paper's Figure 1: its switches, open or closed, and the gradient where it flows.

import { flowsOf, networkWords, reached } from "./captions.js";
import { arrowhead, count, drawing, html, numeral, room, say, shortName, svg, tick } from "./draw.js";

const NODE_PLACES = {
  x: [56, 78], z: [56, 208], tape: [188, 143], machine: [188, 308], loss_tm: [336, 308], carrier: [336, 208], theta: [336, 78], primary: [462, 78], phi: [540, 160], psi: [618, 224], y: [618, 338], loss: [702, 224],
};

function netBox(key, name, value, kind = "") {
  const [x, y] = NODE_PLACES[key];
  const width = key === "machine" ? 126 : 100;
  return [
    svg("rect", { x: x - width / 2, y: y - 21, width, height: 42, rx: 9, class: `node ${kind}` }),
    svg("text", { x, y: value ? y - 2 : y + 5, class: "node-name" }, name),
    value ? svg("text", { x, y: y + 14, class: "node-value" }, value) : "",
  ];
}

function netSwitch(key, name, value, first) {
  const [x, y] = NODE_PLACES[key];
  // The lever points at the input that passes.
  const up = value === null ? 0 : first ? 1 - value : value;
  const angle = (up * 2 - 1) * 0.55;
  return [
    svg("circle", { cx: x, cy: y, r: 26, class: "node switch" }),
    svg("line", { x1: x + 15, y1: y, x2: x + 15 - 30 * Math.cos(angle), y2: y - 30 * Math.sin(angle), class: "lever" }),
    svg("text", { x, y: y - 33, class: "node-name" }, `${name} = ${value === null ? "?" : numeral(value)}`),
  ];
}

function netWire(from, to, { on = true, stopped = false, flow = false, bend = 0, dx = 0, dy = 0 } = {}) {
  const [[x1, y1], [tx, ty]] = [NODE_PLACES[from], NODE_PLACES[to]];
  const [x2, y2] = [tx + dx, ty + dy];
  const [mx, my] = [(x1 + x2) / 2 + bend * (y2 - y1) * 0.4, (y1 + y2) / 2 - bend * (x2 - x1) * 0.4];
  const d = `M${x1} ${y1}Q${mx} ${my} ${x2} ${y2}`;
  const back = `M${x2} ${y2}Q${mx} ${my} ${x1} ${y1}`;
  const near = 0.5;
  const at = [(1 - near) ** 2 * x1 + 2 * near * (1 - near) * mx + near ** 2 * x2, (1 - near) ** 2 * y1 + 2 * near * (1 - near) * my + near ** 2 * y2];
  return [
    svg("path", { d, class: `wire${on ? "" : " off"}${stopped ? " cut" : ""}` }),
    arrowhead(at[0] + (x2 - x1) * 0.02, at[1] + (y2 - y1) * 0.02, x2 - x1, y2 - y1, 8, "wire-head"),
    flow ? [svg("path", { d: back, class: "flow" }), arrowhead(at[0], at[1], x1 - x2, y1 - y2, 12, "flow-head")] : "",
  ];
}

function lessonDiagram(state, width) {
  const { moment, opening } = state;
  const { nodes, z } = moment.lesson, inVertex = opening.landscape === "internal";
  const [zFlow, sFlow, tFlow, hFlow] = flowsOf(moment);
  const machine = sFlow || tFlow || hFlow;
  const flowing = machine || zFlow;
  const psi = nodes ? nodes.psi : null, phi = nodes ? nodes.phi : null;
  const short = list => (list ? list.slice(0, 2).map(numeral).join(" ") + (list.length > 2 ? " …" : "") : "");
  const wires = [
    netWire("x", "tape"), netWire("z", "tape", { stopped: true }), netWire("tape", "machine"),
    netWire("machine", "loss_tm", { flow: machine }), netWire("loss_tm", "carrier", { flow: machine }), netWire("z", "carrier", { stopped: true }),
    netWire("machine", "theta", { stopped: true, bend: -0.12 }), netWire("theta", "primary"), netWire("x", "primary", { bend: 0.3, dx: -10, dy: -18 }),
    netWire("primary", "phi", { on: phi === null || phi < 1, dx: -20, dy: -14 }), netWire("carrier", "phi", { on: phi === null || phi > 0, flow: machine, dx: -22, dy: 12 }),
    netWire("phi", "psi", { on: psi === null || psi < 1, flow: machine, dx: -18, dy: -18 }), netWire("z", "psi", { on: psi === null || psi > 0, flow: zFlow, dx: -24, dy: 10, bend: -0.42 }),
    netWire("psi", "loss", { flow: flowing }), netWire("y", "loss"),
  ];
  const boxes = [
    netBox("x", "x", `${opening.lesson.n_samples} × ${opening.lesson.features.length}`),
    netBox("z", "z", short(z), `weight-node${zFlow ? " live" : ""}`),
    netBox("tape", "tape", "bits of x, z"),
    netBox("machine", inVertex ? "s" : "s, T, H", shortName(moment.vertex?.name ?? "", 16), `weight-node${machine ? " live" : ""}`),
    netBox("loss_tm", "ℓ", nodes.landscape === null ? "landscape" : tick(nodes.landscape)),
    netBox("carrier", "carrier", opening.lesson.carrier.slice(0, 12)),
    netBox("theta", "θ", nodes ? short(nodes.theta) : ""),
    netBox("primary", "f_θ(x)", nodes ? short(nodes.primary) : ""),
    netSwitch("phi", "φ", phi, true), netSwitch("psi", "ψ", psi, true),
    netBox("y", "y", short(opening.lesson.y.flat())),
    netBox("loss", "loss", tick(moment.loss), flowing ? "live" : ""),
  ];
  const label = `Switch psi ${psi}, switch phi ${phi}; the gradient reaches ${reached(moment, opening)}`;
  const picture = drawing(760, 368, label, wires, boxes);
  picture.setAttribute("width", Math.min(width, 820));
  picture.removeAttribute("height");
  if (flowing) picture.classList.add("flowing");
  return picture;
}

function machineDiagram({ moment, opening }, width) {
  const [, s, t, h] = flowsOf(moment), lit = flow => (flow ? " live" : "");
  const box = (x, y, w, name, value, kind) => [svg("rect", { x: x - w / 2, y: y - 23, width: w, height: 46, rx: 9, class: `node ${kind}` }), svg("text", { x, y: y - 3, class: "node-name" }, name), svg("text", { x, y: y + 14, class: "node-value" }, value)];
  const wire = (x1, y1, x2, y2, flow) => {
    const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
    return [svg("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: "wire" }), flow ? [svg("path", { d: `M${x2} ${y2}L${x1} ${y1}`, class: "flow" }), arrowhead(mx, my, x1 - x2, y1 - y2, 12, "flow-head")] : arrowhead(mx, my, x2 - x1, y2 - y1, 9, "wire-head")];
  };
  const weights = opening.landscape === "internal"
    ? [wire(110, 120, 310, 120, s), box(100, 120, 180, "s: vertex", `${count(opening.n_vertices)} configurations`, `weight-node${lit(s)}`), svg("text", { x: 100, y: 162, class: "node-value" }, "tape and heads are inside")]
    : [wire(110, 45, 310, 120, s), wire(110, 120, 310, 120, t), wire(110, 195, 310, 120, h),
      box(100, 45, 170, "s: vertex", `${count(opening.n_vertices)} weights`, `weight-node${lit(s)}`), box(100, 120, 170, "T: tapes", "a weight per cell", `weight-node${lit(t)}`), box(100, 195, 170, "H: heads", "a weight per cell", `weight-node${lit(h)}`)];
  const label = opening.landscape === "internal" ? "The vertex is the only weight of the landscape, whose value is the loss" : "Vertex, tapes and heads are the weights of the landscape, whose value is the loss";
  const picture = drawing(620, 240, label, wire(310, 120, 530, 120, s), weights,
    box(320, 120, 180, `landscape ${opening.landscape}`, `${count(opening.n_units)} units`, ""), box(530, 120, 110, "loss", numeral(moment.loss), lit(s)));
  picture.setAttribute("width", Math.min(width, 620));
  picture.removeAttribute("height");
  if (s) picture.classList.add("flowing");
  return picture;
}

/** Draws the network. */
export function mountNetwork(store, root, words) {
  store.on(["moment", "opening", "width"], state => {
    const { moment, opening } = state;
    if (!moment || !opening) return;
    const width = room(root);
    say(words, networkWords(moment, opening));
    if (!moment.lesson || !opening.lesson) {
      root.replaceChildren(machineDiagram(state, width));
      return;
    }
    const theta = moment.lesson.nodes?.theta;
    const facts = theta ? html("dl", { class: "facts-list" }, html("dt", {}, "θ on the tape"), html("dd", {}, theta.map(numeral).join("  ")), moment.lesson.nodes.out.length ? [html("dt", {}, "F(x)"), html("dd", {}, moment.lesson.nodes.out.slice(0, 8).map(numeral).join("  "))] : "", html("dt", {}, "y"), html("dd", {}, opening.lesson.y.flat().slice(0, 8).map(numeral).join("  "))) : "";
    root.replaceChildren(lessonDiagram(state, width), facts);
  }, root);
}
