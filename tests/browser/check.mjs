// The page in a real browser: what a user does, and that the console stays silent.
//
// node tests/browser/check.mjs REPORT.html; LUGE_BIN names the program, LUGE_CHROMIUM the browser.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { Browser } from "./chromium.mjs";
import { startLab } from "./server.mjs";

const SHOWN = "document.querySelector('#tapes svg') && document.querySelector('#loss svg') && document.querySelector('#spacetime').dataset.rows";
const at = step => `document.querySelector('#bar').dataset.step === '${step}'`;
const text = id => `document.getElementById('${id}').textContent`;

const lab = await startLab();
const browser = await Browser.start();
const pages = [];
const open = async (hash, options) => {
  const page = await browser.open(lab.address + hash, options);
  pages.push(page);
  await page.until(SHOWN);
  return page;
};

const tests = {
  async "the page loads with a learner and draws every view"() {
    const page = await open("");
    await page.until("document.querySelector('#edges svg') || document.querySelector('#edges .none')");
    for (const id of ["tapes", "loss", "simplex", "network"]) assert.ok(await page.value(`document.querySelector('#${id} svg') !== null`), id);
    assert.match(await page.value(text("facts")), /mean of the labels/);
    assert.match(await page.value(text("phase")), /reading labels/);
    assert.equal(await page.value("document.querySelectorAll('[aria-label]').length > 20"), true);
  },
  async "play goes on, pause stays"() {
    const page = await open("#p=bb4&speed=5");
    await page.click("#play");
    await page.until("Number(document.querySelector('#bar').dataset.step) > 5");
    await page.click("#play");
    await page.until(`${text("play")}.includes('Play')`);
    const there = await page.value("document.querySelector('#bar').dataset.step");
    await new Promise(resolve => setTimeout(resolve, 400));
    assert.equal(await page.value("document.querySelector('#bar').dataset.step"), there);
  },
  async "steps go forth and back, by button and by key"() {
    const page = await open("#p=bb4&step=20");
    await page.until(at(20));
    const before = await page.value("document.querySelector('#tapes svg').outerHTML");
    await page.click("#forth");
    await page.until(at(21));
    await page.until("document.querySelector('#edges').dataset.step === '21'");
    assert.notEqual(await page.value("document.querySelector('#tapes svg').outerHTML"), before);
    await page.click("#back");
    await page.until(at(20));
    await page.until(`document.querySelector('#tapes svg').outerHTML === ${JSON.stringify(before)}`);
    await page.value("document.activeElement.blur()");
    await page.key("ArrowLeft", "ArrowLeft", 37);
    await page.until(at(19));
    await page.key("End", "End", 35);
    await page.until(at(107));
    assert.match(await page.value(text("phase")), /halted/);
  },
  async "step 40,000,000 of the five-state busy beaver comes at once"() {
    const page = await open("#p=bb5");
    await page.value("(() => { const step = document.getElementById('step'); step.value = '40,000,000'; document.querySelector('form.goto').requestSubmit(); })()");
    const took = await page.until(`${at(40000000)} && document.querySelector('#edges').dataset.step === '40000000'`, 10_000);
    console.log(`    in ${Math.round(took)} ms`);
    assert.ok(took < 2000, `${took} ms`);
    assert.match(await page.value("document.querySelector('#tapes svg').getAttribute('aria-label')"), /head on cell -6560/);
  },
  async "a broken machine is shown with its line"() {
    const page = await open("#p=bb4");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    await page.value("document.getElementById('program').select()");
    await page.type("machine \"broken\"\ntape t: 0 1 blank 0\nstart: a\na:\n  0 -> 1, R, a\n  7 -> 1, R, a\n");
    await page.click("#run");
    await page.until("document.querySelector('#findings li[data-line]')");
    assert.equal(await page.value("document.querySelector('#findings li[data-line]').dataset.line"), "6");
    assert.match(await page.value(text("findings")), /line 6:3/);
    assert.equal(await page.value("document.querySelector('.gutter .bad').textContent"), "6");
    // Mended, it runs.
    await page.value("document.getElementById('program').select()");
    await page.type("machine \"mended\"\ntape t: 0 1 blank 0\nstart: a\na:\n  0 -> 1, R, a\n  1 -> 1, S, b\nb: accept\n");
    await page.click("#run");
    await page.until("!document.getElementById('chooser').open");
    await page.until(`${text("facts")}.includes('mended')`);
  },
  async "a broken Sled program is shown with its line, too"() {
    const page = await open("#p=perceptron");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    await page.value("(() => { const program = document.getElementById('program'); program.value = program.value.replace('for sample in data', 'for sample in dada'); })()");
    await page.click("#run");
    await page.until("document.querySelector('#findings li[data-line]')");
    const line = await page.value("document.getElementById('program').value.split('\\n').findIndex(line => line.includes('dada')) + 1");
    assert.equal(await page.value("document.querySelector('#findings li[data-line]').dataset.line"), String(line));
  },
  async "a Sled learner shows its current line and the decision boundary"() {
    const page = await open("#p=xor_search&step=300000");
    await page.until(at(300000));
    await page.until("document.querySelector('#source .row.at')");
    await page.until("document.querySelectorAll('#source .spent text').length > 5");
    await page.until("!document.getElementById('boundary-card').hidden && document.querySelectorAll('#boundary canvas').length === 2");
    await page.until("document.querySelector('#edges svg')");
  },
  async "a link restores the view"() {
    const page = await open("#p=bb4&landscape=plain");
    await page.click("#choose");
    await page.value("document.getElementById('option-landscape').value = 'plain'");
    await page.click("#run");
    await page.until(`${text("facts")}.includes('landscape plain')`);
    await page.until("!document.getElementById('chooser').open");
    await page.value("(() => { const step = document.getElementById('step'); step.value = '33'; document.querySelector('form.goto').requestSubmit(); })()");
    await page.until(at(33));
    await page.until("location.hash.includes('step=33')");
    const link = await page.value("location.href");
    const other = await browser.open(link);
    pages.push(other);
    await other.until(SHOWN);
    await other.until(at(33));
    assert.match(await other.value(text("facts")), /landscape plain/);
    await other.until(`document.querySelector('#tapes svg').getAttribute('aria-label') === ${JSON.stringify(await page.value("document.querySelector('#tapes svg').getAttribute('aria-label')"))}`);
  },
  async "breakpoints stop at a state and at a loss"() {
    const page = await open("#p=bb4&speed=13");
    await page.click("#source .rules tr:nth-child(5) button");
    await page.click("#play");
    await page.until(`${text("phase")}.includes('breakpoint on the state')`);
    assert.equal(await page.value("document.querySelector('#source .rules th[scope=row].at').textContent"), "D");
    await page.click("#source .rules tr:nth-child(5) button");
    await page.value("(() => { document.getElementById('stops').open = true; const level = document.getElementById('stop-loss'); level.value = '7000'; level.dispatchEvent(new Event('change')); })()");
    await page.click("#play");
    await page.until(`${text("phase")}.includes('breakpoint on the loss')`);
    await page.until(at(107));
  },
  async "the space-time picture zooms in and out"() {
    const page = await open("#p=bb5&step=47176870");
    await page.until(`${text("spacetime-say")}.includes('47,176,870')`);
    await page.drag("#spacetime .stage", [0.3, 0.3], [0.6, 0.5]);
    await page.until(`${text("spacetime-say")}.includes(', a part.')`);
    await page.value("[...document.querySelectorAll('#spacetime button')].find(button => button.textContent === 'Whole run').click()");
    await page.until(`!${text("spacetime-say")}.includes(', a part.')`);
  },
  async "the tour has five stops"() {
    const page = await open("#p=bb2");
    await page.click("#tour");
    const titles = new Set();
    for (let stop = 1; stop <= 5; stop++) {
      await page.until(`${text("stop")}.includes('${stop} of 5')`);
      titles.add(await page.value("document.querySelector('#stop h3').textContent"));
      await page.until("document.querySelectorAll('.card.lit').length === 1");
      await page.until(SHOWN);
      if (stop === 4) await page.until(at(40000000));
      await page.value("document.getElementById('tour-next').click()");
    }
    assert.equal(titles.size, 5);
    await page.until("document.getElementById('stop').hidden");
    assert.equal(await page.value("document.querySelectorAll('.card.lit').length"), 0);
  },
  async "it fits a phone, and dark is dark"() {
    const page = await open("#p=mean&step=9", { width: 390, height: 844, phone: true, dark: true });
    await page.until(at(9));
    assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out");
    assert.equal(await page.value("document.documentElement.dataset.theme"), "dark");
  },
  async "a report opens from disk"() {
    const page = await browser.open(pathToFileURL(process.argv[2]).href);
    pages.push(page);
    await page.until(SHOWN);
    await page.until(at(0));
    await page.until("document.querySelector('#edges svg') || document.querySelector('#edges .none')");
    await page.click("#forth");
    await page.until(at(1));
    await page.click("#last");
    await page.until(`${text("phase")}.includes('halted')`);
    assert.equal(await page.value("document.getElementById('choose')"), null);
  },
};

let failed = 0;
try {
  for (const [name, test] of Object.entries(tests)) {
    const first = pages.length;
    try {
      await test();
      const complaints = pages.slice(first).flatMap(page => page.complaints);
      assert.deepEqual(complaints, [], "the console complains");
      console.log(`ok  ${name}`);
    } catch (error) {
      failed++;
      console.log(`BAD ${name}\n${error.stack}`);
    }
    for (const page of pages.slice(first)) await page.close();
  }
} finally {
  await browser.close();
  lab.stop();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
