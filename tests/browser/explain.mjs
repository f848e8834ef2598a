// The explanation: its figures obey the reader, and its words the engine.

import assert from "node:assert/strict";
import { text } from "./harness.mjs";
import { axeComplaints, WIDTHS } from "./looks.mjs";

const derails = "document.getElementById('corners').dataset.derails";
const DRAWN = "document.querySelectorAll('#corners svg').length === 2";

async function open(lab, options = {}) {
  const page = await lab.openUrl(`${lab.lab.address}explain.html`, options);
  await page.until(DRAWN);
  return page;
}

export const explain = {
  async "descent obeys the seven corners, and derails where a barrier becomes a slide"(lab) {
    const page = await open(lab);
    assert.equal(await page.value(derails), "null");
    assert.match(await page.value(text("corners-say")), /makes 6 steps, the machine's own/);
    await page.click("#corners-shortcut");
    await page.until(`${derails} === '2'`);
    assert.match(await page.value(text("corners-say")), /towards corner 5.*derails at step 2: it goes from corner 2 to corner 5/);
    await page.click("#corners-reset");
    await page.until(`${derails} === 'null'`);
    await page.click("#corners-block");
    await page.until(`${derails} === '3'`);
    assert.match(await page.value(text("corners-say")), /the machine would go to corner 4/);
  },
  async "a handle is moved by the mouse and by keys"(lab) {
    const page = await open(lab);
    const handle = "document.querySelector('[data-edge=\"1-4\"]')", level = `Number(${handle}.getAttribute('aria-valuenow'))`;
    const before = await page.value(level);
    await page.value(`${handle}.focus()`);
    for (let i = 0; i < 3; i++) {
      const now = await page.value(level);
      await page.key("ArrowDown", "ArrowDown", 40);
      await page.until(`${level} < ${now}`);
    }
    assert.equal(await page.value("document.activeElement.dataset.edge"), "1-4", "the handle keeps the focus");
    const [x, y] = await page.value(`(() => { const box = ${handle}.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()`);
    await page.ask("Input.dispatchMouseEvent", { type: "mousePressed", x, y, button: "left", clickCount: 1 });
    for (const down of [60, 200, 400]) await page.ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y: y + down, button: "left" });
    await page.ask("Input.dispatchMouseEvent", { type: "mouseReleased", x, y: y + 400, button: "left", clickCount: 1 });
    await page.until(`${level} === 0 && ${derails} === '2'`);
    assert.ok(before > 0);
  },
  async "tapes made of weights step through the run, and need few corners"(lab) {
    const page = await open(lab);
    await page.until("document.querySelector('#tape-counts svg') && document.querySelector('#tapes svg')");
    const { corners, inside, moments } = page.figures.find(figure => figure.inside);
    assert.equal(await page.value("document.getElementById('tape-counts').dataset.corners"), `${corners} ${inside.at(-1)[1]}`);
    for (let step = 1; step < moments.length; step++) await page.click("#tapes-forth");
    assert.equal(await page.value(text("tapes-where")), `step ${moments.length - 1} of ${moments.length - 1}`);
    await page.until(`${text("tapes-say")}.includes('Halted')`);
  },
  async "labels come in with the first step, and are what the reader sets"(lab) {
    const page = await open(lab);
    await page.until("document.querySelector('#labels svg')");
    const sent = () => page.figures.findLast(figure => figure.after);
    for (const label of [3, 4]) {
      await page.value(`(() => { const slider = document.getElementById('label-3'); slider.value = ${label}; slider.dispatchEvent(new Event('input')); })()`);
      await page.until(`document.querySelector('#labels svg').getAttribute('aria-label').startsWith('Labels 1, 2.25, 2, ${label};')`);
      assert.match(await page.value(text("labels-say")), /on every other weight it is 0\. One step of rate 1 later z holds the labels/);
    }
    assert.ok(sent().after.every((z, i) => Math.abs(z - sent().labels[i]) < 1e-9));
  },
  async "two boundaries move in one frame, and the numbers are the engine's"(lab) {
    const page = await open(lab);
    await page.until("document.querySelector('#lines svg')");
    const { perceptron, ordinary, rows } = page.figures.find(figure => figure.perceptron);
    assert.equal(perceptron.at(-1).right, rows.length);
    await page.value("(() => { const scrub = document.getElementById('lines-scrub'); scrub.value = 30; scrub.dispatchEvent(new Event('input')); })()");
    assert.equal(await page.value("document.getElementById('lines').dataset.right"), `${perceptron[30].right} ${ordinary[30].right}`);
    assert.equal(await page.value("document.querySelectorAll('#lines .line-perceptron').length"), 1);
    await page.click("#lines-play");
    await page.until("Number(document.getElementById('lines-scrub').value) > 32");
  },
  async "an ordinary network learns the parity, and the same layers with other weights do not"(lab) {
    const page = await open(lab);
    await page.until("document.querySelectorAll('#ordinary svg').length === 2", 90_000);
    const { learner, learner_right: right, n_new: all, other, registers } = page.figures.find(figure => figure.learner);
    assert.equal(right, all);
    assert.ok(other.at(-1)[1] < 0.7 * all, String(other.at(-1)));
    assert.equal(await page.value("document.getElementById('ordinary').dataset.right"), `${right} ${other.at(-1)[1]}`);
    await page.value("(() => { const scrub = document.getElementById('ordinary-scrub'); scrub.value = 3; scrub.dispatchEvent(new Event('input')); })()");
    const changed = learner[2].registers.filter((bit, i) => bit !== learner[1].registers[i]).length;
    assert.match(await page.value(text("ordinary-clock")), new RegExp(`^Step 3: .*: ${changed} of ${registers.length} registers change`));
  },
  async "every figure is printed as SVG with everything inside, for slides"(lab) {
    const page = await open(lab);
    await page.until("document.querySelectorAll('#ordinary svg').length === 2", 90_000);
    const printed = await page.value("(async () => { const blobs = [], made = URL.createObjectURL; URL.createObjectURL = blob => { blobs.push(blob); return made(blob); }; [...document.querySelectorAll('main button')].filter(button => button.textContent === 'SVG').forEach(button => button.click()); return Promise.all(blobs.map(blob => blob.text())); })()");
    const drawn = await page.value("[...document.querySelectorAll('main .card')].map(card => card.querySelectorAll('figure svg, #tapes svg').length)");
    assert.deepEqual([printed.length, drawn], [8, [2, 2, 1, 1, 2]]);
    for (const [i, svg] of printed.entries()) {
      assert.ok(svg.startsWith("<svg") && svg.includes("<text") && !svg.includes("class="), String(i));
      const size = await page.value(`new Promise(resolve => { const image = new Image(); image.onload = () => resolve(image.naturalWidth); image.onerror = () => resolve(0); image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(${JSON.stringify(svg)}); })`);
      assert.ok(size > 200, `${i} is ${size} wide`);
    }
  },
  async "the explanation reads well on every screen, light and dark"(lab) {
    for (const [width, height, phone] of WIDTHS) {
      const page = await open(lab, { width, height, phone, dark: width === 800 });
      await page.until("document.querySelectorAll('#ordinary svg').length === 2", 90_000);
      assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), `${width}: nothing sticks out`);
      assert.deepEqual(await axeComplaints(page), [], String(width));
    }
  },
};
