// How the page looks and reads: every width, light and dark, for those who do not see it, and its story.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { at, PROVED, SHOWN, text } from "./harness.mjs";

const AXE = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
export const WIDTHS = [[1440, 1000, false], [800, 1000, false], [390, 844, true]];

/** What axe-core finds wrong. */
export async function axeComplaints(page) {
  await page.value(`${AXE}; undefined`);
  return page.value("axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(one => `${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`))");
}

/** Words of a drawing that stick out of it. */
const CLIPPED = "[...document.querySelectorAll('main svg[role=img] text')].filter(word => { const frame = word.ownerSVGElement.getBoundingClientRect(), box = word.getBoundingClientRect(); return frame.width && box.width && (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3); }).map(word => `${word.closest('.card')?.id}: ${word.textContent}`)";

export const looks = Object.fromEntries(WIDTHS.flatMap(([width, height, phone]) => [false, true].map(dark => [
  `at ${width} px ${dark ? "dark" : "light"} nothing sticks out, and axe-core finds nothing`,
  async lab => {
    // Tapes inside a vertex, at one width and one theme, stand for the rest of that landscape.
    for (const hash of ["#p=bb4&step=34", "#p=perceptron&step=300000", ...(width === 1440 && !dark ? ["#p=keep_label&step=3"] : [])]) {
      const page = await lab.open(hash, { width, height, phone, dark });
      await page.until(at(hash.split("step=")[1]));
      await page.until(`${PROVED} === 'true'`, 60_000);
      await page.value("document.querySelectorAll('main details').forEach(one => { one.open = true; })");
      await page.until("document.querySelector('#surface svg') || document.getElementById('surface-say').textContent.includes('no surface')");
      assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), `${hash}: nothing sticks out`);
      assert.equal(await page.value("document.documentElement.dataset.theme"), dark ? "dark" : "light");
      assert.deepEqual(await page.value(CLIPPED), [], `${hash}: no word is cut off`);
      assert.deepEqual(await axeComplaints(page), [], hash);
    }
  },
])));

const SHIFTS = "window.shifts = []; new PerformanceObserver(list => list.getEntries().forEach(one => shifts.push([one.value, one.sources.map(source => source.node?.closest?.('.card, section, header')?.id).join(' ')]))).observe({ type: 'layout-shift', buffered: true })";

Object.assign(looks, {
  async "what is below a card stays where it is, while a run plays and one scrolls"(lab) {
    for (const [hash, [width, height, phone]] of [["", WIDTHS[0]], ["", WIDTHS[2]], ["#p=bb4", WIDTHS[0]]]) {
      const page = await lab.openUrl("about:blank", { width, height, phone });
      await page.ask("Page.addScriptToEvaluateOnNewDocument", { source: SHIFTS });
      await page.go(lab.lab.address + hash);
      await page.until(SHOWN, 60_000);
      for (let seen = -1, now = 0; now !== seen; now = await page.value("shifts.length")) {
        seen = now;
        await new Promise(resolve => setTimeout(resolve, 1500));
      }
      const moved = async () => { const all = await page.value("shifts.splice(0)"); return [all.reduce((sum, [value]) => sum + value, 0), JSON.stringify(all)]; };
      const [first, parts] = await moved();
      assert.ok(first < 0.2, `${hash} at ${width}: ${parts}`);
      if (hash) await page.value("document.getElementById('play').click()");
      for (let y = 0; y < 6000; y += 300) {
        await page.value(`window.scrollTo(0, ${y})`);
        await new Promise(resolve => setTimeout(resolve, 100));
      }
      const [then, others] = await moved();
      assert.ok(then < 0.02, `${hash} at ${width}: ${others}`);
    }
  },
  async "dialogs are well told, too"(lab) {
    const page = await lab.open("#p=bb4");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    assert.deepEqual(await axeComplaints(page), []);
    await page.click("#cancel");
    await page.click("#tour");
    await page.until("!document.getElementById('stop').hidden");
    assert.deepEqual(await axeComplaints(page), []);
  },
  async "the sliders say what they stand for"(lab) {
    const page = await lab.open("#p=bb4&step=34");
    await page.until(at(34));
    assert.equal(await page.value("document.getElementById('speed').getAttribute('aria-valuetext')"), "4 steps/s");
    assert.equal(await page.value("document.getElementById('scrub').getAttribute('aria-valuetext')"), "step 34");
  },
  async "the theme is remembered"(lab) {
    const page = await lab.open("#p=bb4");
    await page.click("#theme");
    assert.equal(await page.value("document.documentElement.dataset.theme"), "dark");
    await page.ask("Page.reload");
    await page.until(SHOWN);
    assert.equal(await page.value("document.documentElement.dataset.theme"), "dark");
  },
  async "without JavaScript the page says so"(lab) {
    const page = await lab.openUrl("about:blank");
    await page.ask("Emulation.setScriptExecutionDisabled", { value: true });
    await page.go(lab.lab.address);
    const { root } = await page.ask("DOM.getDocument", { depth: -1 });
    const { outerHTML } = await page.ask("DOM.getOuterHTML", { nodeId: root.nodeId });
    assert.match(outerHTML, /<noscript>.*needs JavaScript/s);
    await page.ask("Emulation.setScriptExecutionDisabled", { value: false });
  },
  async "the page is below 300 kB"(lab) {
    const page = await lab.open("#p=bb4");
    const bytes = await page.value("(async () => { const names = performance.getEntriesByType('resource').map(one => one.name).filter(name => name.startsWith('http')); const sizes = await Promise.all([location.href.split('#')[0], ...names].map(async name => (await (await fetch(name)).arrayBuffer()).byteLength)); return sizes.reduce((a, b) => a + b, 0); })()");
    console.log(`    ${bytes} bytes`);
    assert.ok(bytes > 50_000 && bytes < 300_000, String(bytes));
  },
  async "the tour's box does not lie on what it speaks of, on any screen"(lab) {
    for (const [width, height, phone] of WIDTHS) {
      const page = await lab.open("#p=bb2", { width, height, phone });
      await page.click("#tour");
      for (let stop = 1; stop <= 7; stop++) {
        await page.until(`${text("stop")}.includes('${stop} of 7') && !document.querySelector('.card.lit').hidden && document.getElementById('preparing').hidden`, 60_000);
        if (stop === 4) await page.until("document.querySelectorAll('#surface svg').length === 3");
        if (stop === 5) await page.until("document.querySelector('#boundary svg')");
        await new Promise(resolve => setTimeout(resolve, 300));
        const [top, seen, box] = await page.value("(() => { const card = document.querySelector('.card.lit').getBoundingClientRect(), box = document.getElementById('stop').getBoundingClientRect(); return [card.top, Math.min(card.bottom, box.top) - Math.max(0, card.top), box.height]; })()");
        const room = height - box, whole = await page.value("document.querySelector('.card.lit').getBoundingClientRect().height");
        assert.ok(top >= 0 && top < room / 2, `stop ${stop} at ${width}: the card begins at ${top}`);
        assert.ok(seen >= Math.min(whole, room * 0.5) - 2, `stop ${stop} at ${width}: ${seen} of ${whole} px are to be seen`);
        assert.ok(!(await page.value(text("stop"))).includes("`"), `stop ${stop}: code is set as code`);
        if (stop < 7) await page.value("document.getElementById('tour-next').click()");
      }
    }
  },
  async "the tour is offered once, has seven stops and ends with the last"(lab) {
    const page = await lab.open("#p=bb2");
    assert.match(await page.value("document.querySelector('.story').textContent"), /weights.*loss.*step/s);
    await page.click("#offer-tour");
    const titles = new Set();
    for (let stop = 1; stop <= 7; stop++) {
      await page.until(`${text("stop")}.includes('${stop} of 7')`);
      titles.add(await page.value("document.querySelector('#stop h3').textContent"));
      await page.until("document.querySelectorAll('.card.lit').length === 1");
      await page.until("!document.querySelector('.card.lit').hidden");
      await page.until(SHOWN);
      if (stop === 1) await page.until(`${at(6)}`);
      if (stop === 4) await page.until("document.querySelectorAll('#surface svg').length === 3");
      if (stop === 5) await page.until("Number(document.querySelector('#bar').dataset.step) > 3000");
      if (stop === 6) await page.until(`${PROVED} === 'true'`, 60_000);
      assert.equal(await page.value("document.getElementById('tour-end') !== null"), stop < 7, "the last stop has one button to end it");
      await page.value("document.getElementById('tour-next').click()");
    }
    assert.equal(titles.size, 7);
    await page.until("document.getElementById('stop').hidden");
    assert.equal(await page.value("document.querySelectorAll('.card.lit').length"), 0);
    await page.ask("Page.reload");
    await page.until(SHOWN);
    assert.equal(await page.value("document.getElementById('offer').hidden"), true);
  },
});
