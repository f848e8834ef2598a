// Reports: the page with a recorded run inside, from disk or from any web host.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { at, goTo, PROVED, SHOWN, text } from "./harness.mjs";
import { luge } from "./server.mjs";

/** A web host that knows nothing but the file. */
async function host(file) {
  const server = createServer((asked, answer) => {
    const found = asked.url === "/" || asked.url === "/report.html";
    answer.writeHead(found ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
    answer.end(found ? readFileSync(file) : "");
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/report.html`, close: () => server.close() };
}

export const reports = {
  async "a report opens from disk"(lab) {
    const page = await lab.openUrl(lab.report("mean", "mean").url);
    await page.until(SHOWN);
    await page.until(at(0));
    await page.until("document.querySelector('#edges svg') || document.querySelector('#edges .none')");
    await page.click("#forth");
    await page.until(at(1));
    await page.click("#last");
    await page.until(`${text("phase")}.includes('halted')`);
    assert.equal(await page.value(`${PROVED}`), "true");
    // What cannot be done there is not offered.
    for (const id of ["choose", "tour", "stops", "settings", "offer", "copy"]) assert.equal(await page.value(`document.getElementById('${id}')`), null, id);
    assert.equal(await page.value("document.querySelectorAll('#source button').length"), 0);
  },
  async "a report on a web host seeks, plays and zooms"(lab) {
    const { address, close } = await host(lab.report("mean", "mean").file);
    try {
      const page = await lab.openUrl(address);
      await page.until(SHOWN);
      await page.value(goTo("40"));
      await page.until("Math.abs(Number(document.querySelector('#bar').dataset.step) - 40) < 10");
      const there = await page.value("Number(document.querySelector('#bar').dataset.step)");
      await page.click("#play");
      await page.until(`Number(document.querySelector('#bar').dataset.step) > ${there}`);
      await page.click("#play");
      const rows = await page.value("Number(document.getElementById('spacetime').dataset.rows)");
      await page.drag("#spacetime .stage", [0.5, 0.2], [0.8, 0.5]);
      await page.until(`${text("spacetime-say")}.includes(', a part.') && Number(document.getElementById('spacetime').dataset.rows) < ${rows}`);
      await page.value("[...document.querySelectorAll('#spacetime button')].find(button => button.textContent === 'Whole run').click()");
      await page.until(`Number(document.getElementById('spacetime').dataset.rows) === ${rows}`);
      await page.value("[...document.querySelectorAll('#spacetime button')].find(button => button.textContent === 'Zoom in').click()");
      await page.until(`Number(document.getElementById('spacetime').dataset.rows) < ${rows}`);
    } finally {
      close();
    }
  },
  async "the report of a model has its program and its result"(lab) {
    const model = join(lab.folder, "model.safetensors");
    luge("train", "sgd_linear", "--out", model, "--force");
    const page = await lab.openUrl(lab.report("model", model, "--data", "crates/luge/learners/sgd_linear.csv").url);
    await page.until(SHOWN);
    // Its moments lie apart, and the arrows say how far.
    const apart = Number(/, ([\d,]+) steps on/.exec(await page.value("document.getElementById('forth').title"))[1].replaceAll(",", ""));
    await page.click("#forth");
    await page.until("document.querySelector('#bar').dataset.step !== '0'");
    assert.ok(Math.abs(await page.value("Number(document.querySelector('#bar').dataset.step)") - apart) <= 1 && apart > 1, String(apart));
    assert.match(await page.value("document.querySelector('.foot').textContent"), /This report holds \d+ of [\d,]+ steps/);
    assert.match(await page.value(text("source")), /learner sgd_linear/);
    assert.equal(await page.value(`${PROVED}`), "true");
    assert.match(await page.value(text("result-say")), /^y = /);
    await page.click("#last");
    await page.until("document.querySelectorAll('#variables [data-name=theta] .value').length > 1");
  },
};
