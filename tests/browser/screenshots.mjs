// Takes the pictures of the README and of docs/lab.md from the real page.
//
// node tests/browser/screenshots.mjs FOLDER

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./chromium.mjs";
import { startLab } from "./server.mjs";

const SHOWN = "document.querySelector('#tapes svg') && document.querySelector('#loss svg') && document.querySelector('#spacetime').dataset.rows && (document.querySelector('#edges svg') || document.querySelector('#edges .none'))";
const SHOTS = [
  { name: "lab", hash: "#p=bb4&step=34", width: 1360, height: 1210 },
  { name: "learner", hash: "#p=mean&step=43", width: 1360, height: 1000, card: "network-card" },
  { name: "xor", hash: "#p=xor_search&step=8676215", width: 1360, height: 1000, card: "boundary-card" },
  { name: "dark", hash: "#p=bb5&step=40000000", width: 1360, height: 1000, dark: true },
];

const folder = process.argv[2] ?? "docs/lab";
mkdirSync(folder, { recursive: true });
const lab = await startLab();
const browser = await Browser.start();
for (const { name, hash, card, ...size } of SHOTS) {
  const page = await browser.open(lab.address + hash, size);
  await page.until(SHOWN);
  await page.until(`document.querySelector('#bar').dataset.step === '${hash.split("step=")[1]}'`);
  await new Promise(resolve => setTimeout(resolve, 2500));
  const clip = card ? await page.value(`(() => { const box = document.getElementById('${card}').getBoundingClientRect(); return { x: box.x + scrollX - 6, y: box.y + scrollY - 6, width: box.width + 12, height: box.height + 12 }; })()`) : undefined;
  writeFileSync(join(folder, `${name}.png`), await page.shot(clip, Boolean(card)));
  if (page.complaints.length) throw new Error(page.complaints.join("\n"));
  await page.close();
}
await browser.close();
lab.stop();
