// The result on top: what was learned, how well it fits, and what was proved of the run.

import { fitWords, resultWords } from "./captions.js";
import { count, html, numeral, say } from "./draw.js";

function fitRow(name, fit, rows, kind = "") {
  return html("tr", { class: kind }, html("th", { scope: "row" }, name), html("td", {}, fitWords(fit, rows)), html("td", {}, numeral(fit.loss)));
}

function nowRow(moment, opening) {
  return fitRow(`now, step ${count(moment.step)}`, moment.lesson.fit, opening.lesson.n_samples, "now-row");
}

function fitTable({ learned, held_out: heldOut }, { moment, opening }) {
  const rows = [fitRow("before training", learned.before, learned.rows)];
  if (moment?.lesson) rows.push(nowRow(moment, opening));
  rows.push(fitRow("after training", learned.after, learned.rows, "after-row"));
  if (heldOut) rows.push(fitRow(`after, on ${count(heldOut[0])} rows it has not seen`, heldOut[2], heldOut[0], "held-out"));
  const head = html("tr", {}, html("th", { scope: "col" }, "the network"), html("th", { scope: "col" }, learned.after.right === null ? "root mean square" : "classified"), html("th", { scope: "col" }, "squared loss ½|F−y|²"));
  return html("table", { class: "fit" }, html("thead", {}, head), html("tbody", {}, rows));
}

function weightList({ weights, formula }) {
  const items = weights.slice(0, 40).map(([name, value]) => html("li", {}, html("span", { class: "weight-name" }, name), html("b", {}, numeral(value))));
  const list = html("ul", { class: "weights", "aria-label": "Weights that were learned" }, items);
  const folded = formula.startsWith("theta ") ? html("details", {}, html("summary", {}, `The ${weights.length > items.length ? `first ${items.length} of ${count(weights.length)}` : items.length} weights`), list) : list;
  return folded;
}

/** Whole numbers in a text with their digits in groups. */
function groupedDigits(words) {
  return words.replace(/(?<![\w.])\d{5,}(?![\w])/g, digits => Number(digits).toLocaleString("en"));
}

/** Every claim of a certificate, what it means and whether it holds. */
export function claimList(claims) {
  return html("ul", { class: "claims" }, claims.map(({ name, meaning, holds, decides, figures }) => html("li", { class: holds ? "holds" : decides ? "fails" : "aside", title: figures },
    html("span", { class: "tick", "aria-hidden": "true" }, holds ? "✓" : decides ? "✗" : "○"), html("span", {}, html("b", {}, `${holds ? "" : decides ? "Not so: " : "Not so here, and the proof does not need it: "}${meaning}.`), html("span", { class: "figures" }, ` ${name}: ${groupedDigits(figures)}`)))));
}

/** Draws the result. */
export function mountResult(store, root, words) {
  let drawn = NaN;
  store.on(["moment"], ({ moment, opening }) => {
    const row = root.querySelector(".now-row");
    if (!row || !moment?.lesson) return;
    // The words inside change, the row stays: this happens sixty times a second.
    [...nowRow(moment, opening).children].forEach((cell, i) => { if (row.children[i].textContent !== cell.textContent) row.children[i].textContent = cell.textContent; });
  }, root);
  let started = null;
  store.on(["proof", "opening", "moment", "preparing"], state => {
    const begun = state.moment ? state.opening : null;
    if (state.proof === drawn && begun === started) return;
    [drawn, started] = [state.proof, begun];
    const { proof, opening } = state;
    if (!opening) return;
    if (!proof) {
      say(words, proof === null ? "This run is too long to be proved while one waits: `luge train` and `luge trace` do it." : "The run is made once more and every step held to the simulator …");
      root.replaceChildren();
      root.dataset.proved = "";
      return;
    }
    say(words, resultWords(proof, opening));
    const { learned, certified, verdict, claims } = proof;
    const seal = html("p", { class: `seal ${certified ? "holds" : "fails"}` }, html("b", {}, certified ? "Certified:" : "Not certified:"), ` ${verdict.replace(/^(yes|NO): /, "")}`);
    const left = learned ? html("div", { class: "answer" }, fitTable(proof, state), learned.remark ? html("p", { class: "remark" }, learned.remark) : "", weightList(learned)) : "";
    root.replaceChildren(html("div", { class: `answers${learned ? "" : " alone"}` }, left, html("div", { class: "proof" }, seal, claimList(claims), html("p", { class: "path" }, "Digest of all vertices visited, as the terminal prints it with ", html("code", {}, "--json"), ": ", html("code", { id: "path" }, proof.path)))));
    root.dataset.proved = String(certified);
  }, root);
}
