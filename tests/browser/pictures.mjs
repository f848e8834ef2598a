// The pictures of the README and of docs/lab.md, taken from the real page. With LUGE_PICTURES=docs/lab they are put there;
// without, they are taken all the same, and must have the size of those that are there.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, choose, PROVED, SHOWN } from "./harness.mjs";

const KEPT = new URL("../../docs/lab/", import.meta.url);

/** Cards one below the other, or the top of the page. */
const SHOTS = [
  { name: "first", hash: "#p=two_features&step=30000", width: 1360, height: 1000 },
  { name: "lab", hash: "#p=bb4&step=34", width: 1360, height: 1180 },
  { name: "result", hash: "#p=perceptron&step=200000", cards: ["result-card"] },
  { name: "learner", hash: "#p=perceptron&step=300073", cards: ["variables-card", "source-card"], ready: "document.querySelectorAll('#source .spent text').length > 5", before: "document.getElementById('source-card').classList.add('wide')" },
  { name: "boundary", hash: "#p=perceptron&step=200000", cards: ["boundary-card"], before: "document.getElementById('boundary-card').classList.add('wide')" },
  { name: "surface", hash: "#p=bb4&step=34", cards: ["surface-card"], before: "document.getElementById('surface-fold').open = true", ready: "document.querySelectorAll('#surface svg').length === 3" },
  { name: "noise", hash: "#p=bb4&step=34", cards: ["result-card"], before: choose("set-noise", "0.05"), ready: `${PROVED} === 'false'` },
  { name: "network", hash: "#p=mean&step=43", cards: ["network-card"] },
  { name: "stream", place: "stream.html#p=parity&draw=parity:bits=16,hidden=8", width: 1360, height: 1000, ready: "!document.getElementById('recording').hidden", before: "for (let i = 0; i < 12; i++) document.getElementById('next-take').click()" },
  { name: "explain", place: "explain.html", width: 1120, height: 1000, cards: ["corners-card"], ready: "document.querySelectorAll('#corners svg').length === 2", before: "document.getElementById('corners-shortcut').click()", seen: "document.getElementById('corners').dataset.derails === '2'" },
  { name: "ordinary", place: "explain.html", width: 1120, height: 1000, cards: ["ordinary-card"], ready: "document.querySelectorAll('#ordinary svg').length === 2" },
  { name: "dark", hash: "#p=bb5&step=40000000", width: 1360, height: 1000, dark: true },
];

/** Where cards lie on the page, with a little room around. */
const frame = cards => `(() => { const boxes = ${JSON.stringify(cards)}.map(id => document.getElementById(id).getBoundingClientRect()); const left = Math.min(...boxes.map(box => box.left)) + scrollX - 6, top = Math.min(...boxes.map(box => box.top)) + scrollY - 6; return { x: Math.floor(left), y: Math.floor(top), width: Math.ceil(Math.max(...boxes.map(box => box.right)) + scrollX + 6 - left), height: Math.ceil(Math.max(...boxes.map(box => box.bottom)) + scrollY + 6 - top) }; })()`;

const size = png => [png.readUInt32BE(16), png.readUInt32BE(20)];

async function take(lab, { name, hash, place, cards, before, ready, ...options }) {
  if (place) return takePage(lab, { name, place, cards, before, ready, ...options });
  const page = await lab.open(hash, { width: 1120, height: 1000, ...options });
  await page.value("document.getElementById('offer').hidden = true");
  await page.until(at(hash.split("step=")[1]));
  if (before) await page.value(before);
  await page.until(ready ?? `${PROVED} === 'true' || ${name === "dark"}`, 60_000);
  await page.until(`${SHOWN} && (document.querySelector('#edges').dataset.step || ${name === "noise"})`);
  await keep(page, name, cards);
}

/** A page beside the lab's own: it is ready, something is done to it, and then something is to be seen. */
async function takePage(lab, { name, place, cards, before, ready, seen, ...options }) {
  const page = await lab.openUrl(lab.lab.address + place, options);
  await page.until(ready, 90_000);
  if (before) await page.value(before);
  if (seen) await page.until(seen);
  await keep(page, name, cards);
}

async function keep(page, name, cards) {
  // Only the cards of the picture: they then stand one below the other.
  if (cards) await page.value(`document.querySelectorAll('main > .card').forEach(card => { if (!${JSON.stringify(cards)}.includes(card.id)) card.style.display = 'none'; })`);
  await new Promise(resolve => setTimeout(resolve, 1500));
  const clip = cards ? await page.value(frame(cards)) : undefined;
  const png = await page.shot(clip, Boolean(cards));
  const folder = process.env.LUGE_PICTURES;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), png);
    return;
  }
  const kept = size(readFileSync(new URL(`${name}.png`, KEPT)));
  // Fonts differ a little between machines, and with them the height of a card.
  size(png).forEach((side, i) => assert.ok(Math.abs(side - kept[i]) <= 60, `${name}.png is ${size(png)} now, ${kept} in the docs`));
}

export const pictures = Object.fromEntries(SHOTS.map(shot => [`the picture ${shot.name}.png can be taken`, lab => take(lab, shot)]));
