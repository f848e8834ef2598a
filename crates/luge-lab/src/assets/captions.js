// What the page says in words. Every sentence is a function of the numbers that it speaks of, and of nothing else.

import { count, numeral, rough, shortName } from "./draw.js";

const successorOf = around => around.edges.find(edge => edge.part === "successor");

/** Why the step goes where it goes. */
export function edgeWords(around, moment, opening) {
  const goes = successorOf(around), { landscape, lesson } = opening;
  const rivals = around.edges.filter(edge => edge.part === "rival").length;
  const here = shortName(around.name), there = shortName(goes?.name);
  if (around.stopped) {
    const ways = around.n_falling ? `${count(around.n_falling)} of ${count(around.n_edges)} ways would still lead down` : "every way leads up";
    return moment.phase === "halted" ? `At **${here}** the machine has halted: ${ways}.` : `At **${here}** training has ended (${moment.end?.how ?? "stopped"}): ${ways}.`;
  }
  if (!goes) return `The next vertex is **${here}** again: only tapes and heads move.`;
  if (landscape === "plain") return `No simplex here: a bowl whose lowest point is the next configuration, **${there}**.`;
  const barrier = Math.max(...goes.curve) > around.loss + 1e-9 * Math.abs(around.loss);
  let text = `From **${here}** the loss falls steepest towards **${there}** (slope ${numeral(goes.slope)}). A step looks at the slope alone and its length is fixed: it lands on the other vertex${barrier ? ", over whatever barrier lies between" : ""}.`;
  if (rivals) text += ` ${rivals === 1 ? "Its rival has" : `Its ${rivals} rivals have`} the same state, but other symbols than will be read.`;
  const deep = around.edges.filter(edge => edge.part === "halting" && edge.end < Math.min(around.loss, goes.end));
  if (deep.length) text += ` Halting in **${shortName(deep[0].name)}** would be lower, but the way there ${deep[0].slope < 0 ? "falls less steeply" : "does not begin downhill"} (slope ${numeral(deep[0].slope)}): training does not see it.`;
  return lesson ? `${text} Drawn is ℓ, the machine's part of the loss.` : text;
}

/** The losses that are drawn along the edge from here to the second corner. */
export function surfaceEdge({ n, shares: [low, high], values }) {
  const row = Math.round(-low / (high - low) * (n - 1));
  const share = i => low + (high - low) * i / (n - 1);
  return Array.from({ length: n }, (_, i) => i).filter(i => share(i) > -1e-9 && share(i) < 1 + 1e-9).map(i => values[row * n + i]);
}

/** How high the drawn ridge between here and there rises above the ball; 0 if there is none. */
export function ridgeHeight(surface) {
  const edge = surfaceEdge(surface), top = Math.max(...edge.slice(1, -1));
  return top > Math.max(edge[0], edge.at(-1)) + 1e-9 * Math.abs(top) ? top - edge[0] : 0;
}

/** What the surface shows. */
export function surfaceWords(surface) {
  const [here, there, rival] = surface.corners.map(name => shortName(name));
  if (!surface.triangle) return `A bowl whose lowest point is **${there}**; at the next step it lies elsewhere. No barriers, and no simplex: weights move freely, here between **${here}**, **${there}** and **${rival}**.`;
  const [first, second] = surfaceEdge(surface), last = surface.ends[1], ridge = ridgeHeight(surface);
  const begins = second < first ? "falls" : second > first ? "rises" : "is level";
  const ends = last < first ? `${numeral(first - last)} below it` : last > first ? `${numeral(last - first)} above it` : "as high as it";
  const way = `The loss ${begins} from the yellow ball towards **${there}**${ridge ? `, crosses a ridge ${numeral(ridge)} above the ball` : ""} and ends ${ends}.`;
  return `The loss over the triangle of **${here}**, ${surface.moves ? "its successor" : "its lowest neighbour"} **${there}** and the rival **${rival}**. ${way}${ridge && surface.moves ? " The step's length carries it over." : ""}`;
}

/** Where a loss lies, held to the bounds of the construction. */
export function lossPlace(moment, bounds) {
  if (moment.phase === "labels") return "the labels are not read yet";
  if (moment.phase === "halted") return moment.loss <= bounds.halted_high ? "halted: at or below the bound for a machine that has halted" : moment.loss <= bounds.stop ? "below the level at which training stops" : "above the level at which training stops";
  if (moment.loss > bounds.running_high) return "above the band of a running machine";
  return moment.loss < bounds.running_low ? "below the band of a running machine" : "inside the band of a running machine";
}

/** The loss at hand, and how much of the run the curve holds. */
export function lossWords(moment, overview, opening) {
  const sampled = overview.seen < overview.steps ? ` So far the curve holds ${count(overview.seen)} of ${count(overview.steps + 1)} losses.` : overview.width > 1 ? " The curve holds the lowest and highest of every step." : "";
  return `Loss **${numeral(moment.loss)}**, ${lossPlace(moment, opening.bounds)}.${sampled}`;
}

/** The strongest gradient on a cell of a moment: its tape, its cell and the derivative. */
export function strongestPull(moment) {
  const all = moment.tapes.flatMap((tape, i) => tape.pull.flat().map(([cell, slope]) => ({ tape: i, cell, slope, under: cell === tape.head })));
  return all.reduce((best, one) => (best && Math.abs(best.slope) >= Math.abs(one.slope) ? best : one), null);
}

const headsMove = moment => moment.tapes.some(tape => tape.head_pull.some(list => list.length));

/** What the cells are. */
export function tapeWords(moment, opening) {
  if (opening.landscape === "internal") return `Here no cell is a weight: every vertex of the simplex stands for a **whole configuration**, state, tape and heads. These cells are read off the vertex, **${moment.vertex?.name ?? "none"}**.`;
  if (moment.phase === "halted") return "Halted: no weight moves any more.";
  if (moment.phase === "stopped") return "Training has ended: no weight moves any more.";
  if (moment.phase === "labels") return "Only z, the copy of the labels, has a gradient yet; the tapes wait.";
  const pull = strongestPull(moment), moves = headsMove(moment);
  if (pull) {
    const many = moment.tapes.length > 1 ? ` of ${opening.tapes[pull.tape].name}` : "";
    return `This step's gradient is **${numeral(pull.slope)}** on the cell ${pull.under ? "under the head" : String(pull.cell).replace("-", "−")}${many}: the step writes${moves ? ", and the head's weight moves on to the dashed triangle" : ", and no head moves"}.`;
  }
  if (moves) return "No gradient on any cell: what is written is there already. The head's weight moves to the dashed triangle.";
  return "A cell is a weight: **+1** for one symbol, **−1** for the other; the triangle is the head, a weight too.";
}

/** Where the gradient of this step goes: z, the vertex, the tapes, the heads. */
export function flowsOf(moment) {
  if (moment.lesson) return moment.lesson.flows;
  const moving = moment.phase === "running";
  return [false, moving, moving && moment.tapes.some(tape => tape.pull.some(list => list.length)), moving && headsMove(moment)];
}

/** The parts that a gradient reaches, as a list in words. */
export function reached(moment, opening) {
  const [z, s, t, h] = flowsOf(moment), inside = opening.landscape === "internal";
  const names = [z && "z", s && "s", !inside && t && "T", !inside && h && "H"].filter(Boolean);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0] ?? "nothing";
}

/** Which switches are open, and where the gradient goes. */
export function networkWords(moment, opening) {
  const parts = reached(moment, opening);
  if (!moment.lesson) {
    if (moment.phase !== "running") return `${moment.phase === "halted" ? "The machine has halted" : "Training has ended"}: no further step is made.`;
    return opening.landscape === "internal" ? "The gradient (red, dashed) flows from the loss to the **vertex alone**: there are no other weights, and every vertex is a whole configuration." : `The gradient (red, dashed) flows from the loss to **${parts}**; the step follows it.`;
  }
  const { psi, phi } = moment.lesson.nodes, [z] = moment.lesson.flows;
  if (z) return `ψ = ${numeral(psi)}, closed on z: the gradient reaches **${parts}${parts === "z" ? " alone" : ""}**, and this step copies the labels into z.`;
  if (phi > 0) return `ψ = ${numeral(psi)} has opened and φ = ${numeral(phi)} is on the carrier: the gradient flows through the landscape into **${parts}**, and runs the machine.`;
  return "φ = 0 has switched over: the network puts out **f_θ(x)**, with the θ that the machine left on its tape. Training is done.";
}

/** Where the weight of the simplex is. */
export function simplexWords(moment, opening) {
  const { vertex, next } = moment, share = vertex && Math.abs(vertex.weight - 1) > 5e-4 ? `${numeral(vertex.weight)} of the` : "The";
  const where = opening.landscape === "plain" ? "No simplex in this landscape: the weights are free" : `A point of a simplex with ${count(opening.n_vertices)} corners`;
  const goes = next ? `; this step takes it to **${shortName(next.name)}**` : moment.phase === "halted" || moment.phase === "stopped" ? ", and there it stays" : "";
  return `${where}. ${share} weight is on **${shortName(vertex?.name ?? "no vertex")}**${goes}.`;
}

/** How well outputs fit: rows on their side, or the error. */
export function fitWords(fit, rows) {
  return fit.right === null ? `error ${numeral(fit.error)}` : `${count(fit.right)} of ${count(rows)} rows right`;
}

/** A network that is not linear is described: nobody reads its weights off a list. */
function networkFound({ weights, before, after, rows }) {
  const values = weights.map(([, value]) => value), zeros = values.filter(value => value === 0).length;
  return `**${fitWords(after, rows)}**, before training ${fitWords(before, rows)}: a network with ${count(values.length)} weights between ${numeral(Math.min(...values))} and ${numeral(Math.max(...values))}${zeros ? `, ${count(zeros)} of them 0` : ""}.`;
}

/** What came out of a run, as a headline. */
export function resultWords(proof, opening) {
  const { learned, steps, halted, first_mismatch: first } = proof;
  if (learned) return learned.formula.startsWith("theta ") ? networkFound(learned) : `**${learned.formula}**`;
  if (first !== null && first !== undefined) return `**Not the machine's run:** from step ${count(first)} on the weights are no longer its configuration.`;
  return halted ? `**Halted after ${count(steps)} gradient steps**, one for each step of ${opening.name}.` : `**${count(steps)} gradient steps**, one for each step of ${opening.name}; it has not halted.`;
}

/** Steps per second in words. */
export function speedWords(speed) {
  return speed === null ? "full speed" : speed === 1 ? "1 step/s" : `${rough(speed)} steps/s`;
}
