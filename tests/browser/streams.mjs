// The page of streams, in the lab and as a report: everything it says is what the engine sent.

import assert from "node:assert/strict";
import { text } from "./harness.mjs";
import { axeComplaints, WIDTHS } from "./looks.mjs";

const SMALL = "stream.html#p=parity&draw=parity:bits=8,hidden=4";
const OPEN = "!document.getElementById('recording').hidden";
const number = value => value.toLocaleString("en");

async function open(lab, place = SMALL, options = {}) {
  const page = await lab.openUrl(lab.lab.address + place, options);
  await page.until(OPEN, 60_000);
  return page;
}

export const streams = {
  async "a stream shows samples passing and taken, the memory, the loss and the result"(lab) {
    const page = await open(lab), recording = page.told.figure.figure;
    assert.ok(recording.halted && recording.answer.certified);
    assert.match(await page.value(text("found-say")), new RegExp(`Found 4 of 8 bits, the very ones that are hidden, after ${number(recording.steps)} steps and ${recording.taken} samples taken`));
    assert.equal(await page.value("document.querySelectorAll('#found .claims .holds').length"), recording.answer.claims.filter(claim => claim.holds).length);
    assert.match(await page.value(text("sample-say")), recording.takes[0].step > 0 ? /passes; the learner has not come to its first one yet/ : /takes this sample/);
    for (let taken = 1; taken <= 3; taken++) {
      await page.click("#next-take");
      const step = Number(await page.value("document.body.dataset.step")), take = recording.takes[taken - 1];
      assert.equal(step, take.step);
      assert.match(await page.value(text("sample-say")), new RegExp(`Step ${number(step)}: the learner takes this sample.*its label ${take.y[0]} `));
      await page.click("#forth");
      const moment = recording.moments.find(one => one.step === step + 1);
      assert.deepEqual(moment.memory.slice(0, 8), take.x, "what was taken is in the memory");
      if (!recording.takes.some(one => one.step === step + 1)) assert.match(await page.value(text("sample-say")), /passes; the learner is busy with what it has taken/);
      assert.match(await page.value(text("taken-say")), new RegExp(`^${taken} of the ${number(step + 1)} samples`));
      assert.match(await page.value(text("memory-say")), new RegExp(`the slot holds the label ${take.y[0] || "−?0"}`));
      assert.equal(await page.value("document.querySelectorAll('#taken rect').length"), taken * 9);
    }
    await page.value("(() => { const scrub = document.getElementById('scrub'); scrub.value = scrub.max; scrub.dispatchEvent(new Event('input')); })()");
    assert.match(await page.value(text("sample-say")), /has halted/);
    assert.match(await page.value(text("stream-loss-say")), /the loss is 0\./);
  },
  async "a stream plays, and keys move it"(lab) {
    const page = await open(lab);
    await page.key(" ", "Space", 32, " ");
    await page.until("Number(document.body.dataset.step) > 100");
    await page.key(" ", "Space", 32, " ");
    const step = await page.value("document.body.dataset.step");
    await page.key("ArrowLeft", "ArrowLeft", 37);
    await page.until(`document.body.dataset.step !== '${step}'`);
  },
  async "another learner is another stream"(lab) {
    const page = await open(lab);
    await page.value("(() => { const list = document.getElementById('learner'); list.value = 'stream_mean'; list.dispatchEvent(new Event('change')); })()");
    await page.until(`${text("facts")}.includes('stream_mean') && document.getElementById('preparing').hidden`, 60_000);
    assert.equal(await page.value("document.getElementById('found').dataset.certified"), "true");
  },
  async "a stream reads well on every screen, light and dark"(lab) {
    for (const [width, height, phone] of WIDTHS) {
      const page = await open(lab, SMALL, { width, height, phone, dark: width !== 800 });
      await page.click("#next-take");
      assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), `${width}: nothing sticks out`);
      assert.deepEqual(await axeComplaints(page), [], String(width));
    }
  },
  async "the report of a stream opens from disk"(lab) {
    const page = await lab.openUrl(lab.report("stream", "parity", "--draw", "parity:bits=8,hidden=4").url);
    await page.until(OPEN);
    await page.click("#next-take");
    assert.match(await page.value(text("sample-say")), /takes this sample/);
    assert.equal(await page.value("document.getElementById('found').dataset.certified"), "true");
    assert.equal(await page.value("document.getElementById('learner')"), null);
  },
};
