// The tapes: symbols, the weights that hold them, this step's gradient on them, and the heads.

import { tapeWords } from "./captions.js";
import { count, drawing, html, room, say, signed, svg } from "./draw.js";

const CELL = 38;
const NAME = 104;
const NARROW = 640;
const TRACK = 34;

/** The room for a tape's name: on narrow screens it stands above the tape. */
function nameRoom(width) {
  return width < NARROW ? 0 : NAME;
}

/** Cells on each side of a head that fit. */
export function tapeRadius(width) {
  return Math.max(2, Math.min(24, Math.floor(((width - nameRoom(width)) / CELL - 1) / 2)));
}

function tapeRow(info, tape, width, y, inVertex) {
  const radius = Math.min((tape.symbols.length - 1) / 2, tapeRadius(width));
  const skip = (tape.symbols.length - 1) / 2 - radius;
  const names = nameRoom(width), left = names + (width - names - (2 * radius + 1) * CELL) / 2;
  const place = cell => left + (cell - tape.first - skip) * CELL;
  const shown = cell => cell >= tape.first + skip && cell < tape.first + tape.symbols.length - skip;
  const group = svg("g", { transform: `translate(0 ${y})` });
  const height = inVertex ? 34 : 30 + TRACK * info.n_tracks;
  const what = inVertex ? "in the vertex" : info.read_only ? "hidden units" : "weights T", bits = info.n_tracks > 1 ? `${info.n_tracks} bits a cell` : "";
  if (names) {
    group.append(svg("text", { x: 0, y: 46, class: "tape-name" }, info.name), svg("text", { x: 0, y: 62, class: "tape-note" }, what), svg("text", { x: 0, y: 77, class: "tape-note" }, bits));
  } else group.append(svg("text", { x: 0, y: 2, class: "tape-note" }, `${info.name}: ${what}${bits ? ", " + bits : ""}`));
  for (let i = skip; i < tape.symbols.length - skip; i++) {
    const cell = tape.first + i, x = place(cell);
    const symbol = tape.symbols[i] === null ? "#" : info.symbols[tape.symbols[i]];
    const kind = `cell${cell === tape.head ? " under" : ""}${info.read_only ? " fixed" : ""}`;
    group.append(svg("rect", { x: x + 1, y: 20, width: CELL - 2, height, rx: 5, class: kind }));
    group.append(svg("text", { x: x + CELL / 2, y: 42, class: `symbol${tape.symbols[i] === 0 ? " blank" : ""}` }, symbol === " " ? "␣" : symbol));
    for (let track = 0; track < info.n_tracks && !inVertex; track++) {
      const value = tape.values[track][i], middle = 48 + TRACK * track + 10;
      const bar = Math.min(Math.abs(value), 1.6) * 8;
      group.append(
        svg("line", { x1: x + 6, x2: x + CELL - 6, y1: middle, y2: middle, class: "middle" }),
        svg("rect", { x: x + CELL / 2 - 6, y: value > 0 ? middle - bar : middle, width: 12, height: Math.max(bar, 0.5), class: value > 0 ? "weight-plus" : "weight-minus" }),
        svg("text", { x: x + CELL / 2, y: middle + 19, class: "weight" }, signed(+value.toFixed(2))),
      );
    }
    const pulled = tape.pull.some(list => list.some(([at]) => at === cell));
    if ((cell % 5 === 0 || cell === tape.head) && !pulled) group.append(svg("text", { x: x + CELL / 2, y: height + 32, class: "cellno" }, String(cell).replace("-", "−")));
  }
  for (let track = 0; track < info.n_tracks; track++) {
    for (const [cell, slope] of tape.pull[track] ?? []) {
      if (!shown(cell)) continue;
      // The weight moves against its derivative.
      const x = place(cell) + CELL - 6, middle = 48 + TRACK * track + 10, up = slope < 0;
      const tip = up ? middle - 9 : middle + 9, foot = up ? middle + 7 : middle - 7;
      group.append(
        svg("line", { x1: x, x2: x, y1: foot, y2: tip, class: "pull-arrow" }),
        svg("path", { d: `M${x - 4} ${up ? tip + 5 : tip - 5}L${x} ${tip}L${x + 4} ${up ? tip + 5 : tip - 5}Z`, class: "pull-arrow" }),
        svg("text", { x: place(cell) + CELL / 2, y: height + 32, class: "pull" }, `∂ ${signed(slope)}`),
      );
    }
  }
  group.append(...headMarks(tape, place, shown));
  return { group, height: height + (names ? 44 : 58) };
}

function headMarks(tape, place, shown) {
  const marks = [];
  const [weights, pulls] = [tape.heads[0] ?? [], tape.head_pull[0] ?? []];
  for (const [cell, weight] of weights) {
    if (!shown(cell) || Math.abs(weight) < 0.005) continue;
    const x = place(cell) + CELL / 2;
    marks.push(svg("path", { d: `M${x - 8} 5L${x + 8} 5L${x} 18Z`, class: "head", "fill-opacity": Math.min(1, Math.abs(weight)) }));
    if (Math.abs(weight - 1) > 0.0005) marks.push(svg("text", { x, y: 2, class: "head-weight" }, weight.toFixed(3)));
  }
  for (const [cell, slope] of pulls) {
    if (!shown(cell) || slope >= 0) continue;
    const x = place(cell) + CELL / 2;
    marks.push(svg("path", { d: `M${x - 8} 5L${x + 8} 5L${x} 18Z`, class: "head-next" }));
  }
  return marks;
}

/** Whether anything on a tape moves in this step. */
function isBusy(tape) {
  return tape.pull.some(list => list.length) || tape.head_pull.some(list => list.length);
}

/** Beyond this many tapes, those that rest are folded away. */
const FEW_TAPES = 3;

/** Draws the tapes into a part of the page. */
export function mountTapes(store, root, words) {
  const picture = html("div", {});
  const all = html("input", { type: "checkbox", id: "idle-tapes" });
  const fold = html("label", { class: "under", for: "idle-tapes", hidden: true }, all, html("span", {}));
  root.replaceChildren(picture, fold);
  const draw = ({ moment, opening }) => {
    if (!moment || !opening) return;
    if (!moment.tapes.length) {
      say(words, "The tape lies inside the vertex, and no vertex is chosen yet.");
      picture.replaceChildren(html("p", { class: "none" }, "No cells yet: the labels come first."));
      return;
    }
    say(words, tapeWords(moment, opening));
    // Of a learner whose values are shown as numbers, the bits are drawn when they are asked for.
    if (!root.closest("details")?.open && root.closest("details")) return;
    const many = moment.tapes.length > FEW_TAPES;
    const shown = moment.tapes.map((tape, i) => i).filter(i => !many || all.checked || isBusy(moment.tapes[i]));
    fold.hidden = !many;
    fold.lastChild.textContent = `all ${moment.tapes.length} tapes, those that rest in this step too`;
    const width = room(root), rows = [];
    let y = 14;
    for (const i of shown) {
      const row = tapeRow(opening.tapes[i], moment.tapes[i], width, y, opening.landscape === "internal");
      rows.push(row.group);
      y += row.height;
    }
    const label = `Step ${count(moment.step)}: ${moment.tapes.map((tape, i) => `${opening.tapes[i].name} ${tape.symbols.map(s => (s === null ? "#" : opening.tapes[i].symbols[s])).join("")}, head on cell ${tape.head}`).join("; ")}`;
    picture.replaceChildren(rows.length ? drawing(width, y, label, rows) : html("p", { class: "none" }, "No tape moves in this step."));
  };
  store.on(["moment", "opening", "width"], draw, root);
  all.addEventListener("change", () => draw(store.state));
  root.closest("details")?.addEventListener("toggle", () => draw(store.state));
}
