// The explanation: figures that the engines compute while one changes them.

import { mountTheme, openFigures } from "./ask.js";
import { mountCorners } from "./corners.js";
import { mountLabels, mountLines } from "./lesson_figures.js";
import { mountOrdinary } from "./ordinary.js";
import { mountTapeFigure } from "./tape_figure.js";

const byId = id => document.getElementById(id);
mountTheme(byId("theme"));
const complain = message => { byId("notice").hidden = !message; byId("notice").textContent = message ?? ""; };
const { ask } = await openFigures(complain);
const controls = (part, names) => Object.fromEntries(names.map(name => [name, byId(`${part}-${name}`)]));
const parts = [
  mountCorners(byId("corners"), byId("corners-say"), controls("corners", ["from", "shortcut", "block", "reset"]), ask),
  mountTapeFigure(byId("tape-counts"), byId("tape-counts-say"), byId("tapes"), byId("tapes-say"), controls("tapes", ["back", "forth", "where"]), ask),
  mountLabels(byId("labels"), byId("labels-say"), byId("labels-controls"), ask),
  mountLines(byId("lines"), byId("lines-say"), controls("lines", ["scrub", "play"]), ask),
  mountOrdinary(byId("ordinary"), byId("ordinary-say"), byId("ordinary-clock"), controls("ordinary", ["scrub", "seed"]), ask),
];
let width = window.innerWidth;
window.addEventListener("resize", () => { if (width !== window.innerWidth) { width = window.innerWidth; parts.forEach(part => part.show()); } });
for (const part of parts) {
  try { await part.load(); } catch (error) { complain(error.message); }
}
