// The static site: the same page with its engines inside, from any folder of a web host that only knows files.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { MEDIA } from "./chromium.mjs";
import { at, choose, PROVED, SHOWN, text } from "./harness.mjs";
import { axeComplaints, WIDTHS } from "./looks.mjs";
import { luge } from "./server.mjs";

const FRAME = "<!doctype html><html lang=en><link rel=icon href=data:,><title>A page with a frame</title><iframe title=lab src=some/folder/#p=bb2 width=1200 height=900></iframe>";

/** A web host with the site in a folder of its own, and a page beside it that embeds it. */
async function host(folder) {
  const server = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url, "http://host"), inside = pathname.startsWith("/some/folder/");
    const path = pathname.replace("/some/folder/", "/"), file = join(folder, path === "/" ? "index.html" : path);
    const body = pathname === "/frame" ? FRAME : inside && existsSync(file) ? readFileSync(file) : null;
    answer.writeHead(body === null ? 404 : 200, { "content-type": MEDIA[pathname === "/frame" ? "html" : file.split(".").pop()] ?? "text/plain" });
    answer.end(body);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const root = `http://127.0.0.1:${server.address().port}/`;
  return { root, address: `${root}some/folder/`, close: () => new Promise(done => { server.close(done); server.closeAllConnections(); }) };
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

/** The pages of the site, and when each shows everything. */
const PAGES = { "#p=bb4&step=34": `${SHOWN} && ${PROVED} === 'true'`, "explain.html": "document.querySelectorAll('main svg[role=img]').length >= 7", "stream.html#p=parity&draw=parity:bits=8,hidden=4": "!document.getElementById('recording').hidden" };

const traced = (...options) => JSON.parse(luge("trace", "bb4", "--json", ...options)).path;

const digest = page => page.value("document.getElementById('path').textContent");

export const site = folder => Object.fromEntries(Object.entries({
  async "the perceptron trains and certifies in the page, on the path of the command line"(lab, { address }) {
    const started = performance.now(), page = await lab.openUrl(`${address}#p=perceptron`);
    await page.until(`${PROVED} === 'true'`, 120_000);
    const took = performance.now() - started;
    assert.equal(await digest(page), JSON.parse(luge("train", "perceptron", "--json")).path);
    assert.match(await page.value(text("result-say")), /setosa = 1 \+ 1\.375 sepal_length/);
    const size = names => names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0), files = readdirSync(folder);
    console.log(`    certified ${(took / 1000).toFixed(1)} s after the page was asked for; ${Math.round(size(files) / 1000)} kB gzipped, ${Math.round(size(["luge.wasm"]) / 1000)} kB of them engines`);
  },
  async "a machine's run is the command line's, and plays and seeks"(lab, _, open) {
    const page = await open("#p=bb4&step=34");
    await page.until(at(34));
    await page.until(`${PROVED} === 'true'`);
    assert.equal(await digest(page), traced());
    await page.click("#forth");
    await page.until(at(35));
    await page.click("#play");
    await page.until("Number(document.querySelector('#bar').dataset.step) > 37");
    await page.click("#last");
    await page.until(`${text("phase")}.includes('halted')`);
  },
  async "the dense engine makes the command line's runs, with noise too"(lab, _, open) {
    const page = await open("#p=bb4");
    for (const [setting, value, holds, ...options] of [["landscape", "internal", true, "--landscape", "internal"], ["noise", "0.05", false, "--landscape", "internal", "--noise", "0.05"], ["landscape", "plain", true, "--landscape", "plain", "--noise", "0.05"]]) {
      await page.until(PROVED, 60_000);
      await page.value(choose(`set-${setting}`, value));
      await page.until(`document.getElementById('preparing').hidden && ${text("facts")}.includes('${value === "0.05" ? "noise 5 %" : `landscape ${value}`}') && ${PROVED} === '${holds}'`, 60_000);
      assert.match(await page.value(text("facts")), /engine dense/);
      assert.equal(await digest(page), traced(...options), options.join(" "));
    }
  },
  async "the explanation's figures are computed in the page"(lab, { address }) {
    const page = await lab.openUrl(`${address}explain.html`);
    await page.until("document.querySelectorAll('#corners svg').length === 2", 60_000);
    await page.click("#corners-shortcut");
    await page.until("document.getElementById('corners').dataset.derails === '2'");
    for (const part of ["tapes", "tape-counts", "labels", "lines", "ordinary"]) await page.until(`document.querySelector('#${part} svg')`, 60_000);
    const [learner, other] = (await page.value("document.getElementById('ordinary').dataset.right")).split(" ").map(Number);
    assert.ok(learner === 512 && other < 0.7 * learner, `${learner} ${other}`);
  },
  async "another page can embed it"(lab, { root }) {
    const page = await lab.openUrl(`${root}frame`);
    await page.until("frames[0].document.getElementById('result')?.dataset.proved === 'true'", 60_000);
    assert.equal(await page.value("frames[0].document.getElementById('path').textContent"), JSON.parse(luge("trace", "bb2", "--json")).path);
  },
  async "every page of it reads well on every screen, light and dark"(lab, { address }) {
    for (const [i, [width, height, phone]] of WIDTHS.entries()) {
      for (const [j, [place, shown]] of Object.entries(PAGES).entries()) {
        const page = await lab.openUrl(address + place, { width, height, phone, dark: (i + j) % 2 === 1 });
        await page.until(shown, 60_000);
        assert.ok(await page.value("document.documentElement.scrollWidth <= window.innerWidth"), `${place} at ${width}: nothing sticks out`);
        assert.deepEqual(await axeComplaints(page), [], `${place} at ${width}`);
      }
    }
  },
  async "a link carries one's own program and data"(lab, _, open) {
    const page = await open("#p=perceptron&step=1");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    await page.value("document.getElementById('split').value = '30'");
    await page.value("(() => { const csv = document.getElementById('csv'); csv.value = csv.value.trim() + '\\n' + csv.value.trim().split('\\n').at(-1) + '\\n'; })()");
    await page.click("#run");
    await page.until("!document.getElementById('chooser').open");
    await page.until(`${PROVED} === 'true' && location.hash.includes('job=')`);
    const [hash, found, path] = [await page.value("location.hash"), await page.value(text("result-say")), await digest(page)];
    const other = await open(hash);
    await other.until(`${PROVED} === 'true'`);
    assert.deepEqual([await other.value(text("result-say")), await digest(other)], [found, path]);
    assert.match(await other.value(text("result")), /rows it has not seen/, "and the rows held out");
  },
  async "what was visited once needs no network"(lab, site, open) {
    const page = await open("#p=bb2");
    await page.value("navigator.serviceWorker.ready.then(() => undefined)");
    await page.until("navigator.serviceWorker.controller");
    await site.close();
    await page.ask("Page.reload");
    await page.until(SHOWN, 60_000);
    await page.until(`${PROVED} === 'true'`);
    await page.go(`${site.address}explain.html`);
    await page.until("document.querySelectorAll('#corners svg').length === 2", 60_000);
  },
}).map(([name, test]) => [`site: ${name}`, onSite(folder, test)]));
