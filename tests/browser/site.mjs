// The static site: the same page with its engines inside, from any folder of a web host that only knows files.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { MEDIA } from "./chromium.mjs";
import { at, PROVED, SHOWN, text } from "./harness.mjs";

/** A web host with the site in a folder of its own. */
async function host(folder) {
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url, "http://host").pathname.replace("/some/folder/", "/"), inside = asked.url.startsWith("/some/folder/");
    const file = join(folder, path === "/" ? "index.html" : path);
    const body = inside && existsSync(file) ? readFileSync(file) : null;
    answer.writeHead(body === null ? 404 : 200, { "content-type": MEDIA[file.split(".").pop()] ?? "text/plain" });
    answer.end(body);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/some/folder/`, close: () => new Promise(done => { server.close(done); server.closeAllConnections(); }) };
}

const onSite = (folder, test) => async lab => {
  const site = await host(folder);
  try {
    await test(lab, site, async (hash, options) => {
      const page = await lab.openUrl(site.address + hash, options);
      await page.until(SHOWN, 60_000);
      return page;
    });
  } finally {
    await site.close();
  }
};

const digest = page => page.value("document.getElementById('path').textContent");

export const site = folder => Object.fromEntries(Object.entries({
  async "the perceptron trains and certifies in the page, on the path of the command line"(lab, { address }) {
    const started = performance.now(), page = await lab.openUrl(`${address}#p=perceptron`);
    await page.until(`${PROVED} === 'true'`, 120_000);
    const took = performance.now() - started;
    const told = JSON.parse(execFileSync(process.env.LUGE_BIN ?? "target/debug/luge", ["train", "perceptron", "--json"], { maxBuffer: 1 << 28 }));
    assert.equal(await digest(page), told.path);
    assert.match(await page.value(text("result-say")), /setosa = 1 \+ 1\.375 sepal_length/);
    const size = names => names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0), files = readdirSync(folder);
    console.log(`    certified ${(took / 1000).toFixed(1)} s after the page was asked for; ${Math.round(size(files) / 1000)} kB gzipped, ${Math.round(size(["luge.wasm"]) / 1000)} kB of them engines`);
  },
  async "a machine's run is the command line's, and plays and seeks"(lab, _, open) {
    const page = await open("#p=bb4&step=34");
    await page.until(at(34));
    await page.until(`${PROVED} === 'true'`);
    const told = JSON.parse(execFileSync(process.env.LUGE_BIN ?? "target/debug/luge", ["trace", "bb4", "--json"]));
    assert.equal(await digest(page), told.path);
    await page.click("#forth");
    await page.until(at(35));
    await page.click("#play");
    await page.until("Number(document.querySelector('#bar').dataset.step) > 37");
    await page.click("#last");
    await page.until(`${text("phase")}.includes('halted')`);
  },
  async "a link carries one's own program and data"(lab, _, open) {
    const page = await open("#p=perceptron&step=1");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    await page.value("(() => { const csv = document.getElementById('csv'); csv.value = csv.value.trim() + '\\n' + csv.value.trim().split('\\n').at(-1) + '\\n'; })()");
    await page.click("#run");
    await page.until("!document.getElementById('chooser').open");
    await page.until(`${PROVED} === 'true' && location.hash.includes('job=')`);
    const [hash, found, path] = [await page.value("location.hash"), await page.value(text("result-say")), await digest(page)];
    const other = await open(hash);
    await other.until(`${PROVED} === 'true'`);
    assert.deepEqual([await other.value(text("result-say")), await digest(other)], [found, path]);
  },
  async "what was visited once needs no network"(lab, site, open) {
    const page = await open("#p=bb2");
    await page.value("navigator.serviceWorker.ready.then(() => undefined)");
    await page.until("navigator.serviceWorker.controller");
    await site.close();
    await page.ask("Page.reload");
    await page.until(SHOWN, 60_000);
    await page.until(`${PROVED} === 'true'`);
  },
}).map(([name, test]) => [`site: ${name}`, onSite(folder, test)]));
