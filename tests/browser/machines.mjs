// Machines by themselves: moving about, the loss around a vertex, landscapes, noise.

import assert from "node:assert/strict";
import { at, choose, edgesAt, goTo, PROVED, text } from "./harness.mjs";

const TAPES = "document.querySelector('#tapes svg')";

export const machines = {
  async "play goes on, pause stays"(lab) {
    const page = await lab.open("#p=bb4&speed=5");
    await page.click("#play");
    await page.until("Number(document.querySelector('#bar').dataset.step) > 5");
    await page.click("#play");
    await page.until(`${text("play")}.includes('Play')`);
    const there = await page.value("document.querySelector('#bar').dataset.step");
    await new Promise(resolve => setTimeout(resolve, 400));
    assert.equal(await page.value("document.querySelector('#bar').dataset.step"), there);
  },
  async "steps go forth and back, by button and by key"(lab) {
    const page = await lab.open("#p=bb4&step=20");
    await page.until(at(20));
    await page.until(TAPES);
    const before = await page.value(`${TAPES}.outerHTML`);
    await page.click("#forth");
    await page.until(at(21));
    await page.until(edgesAt(21));
    assert.notEqual(await page.value(`${TAPES}.outerHTML`), before);
    await page.click("#back");
    await page.until(at(20));
    await page.until(`${TAPES}.outerHTML === ${JSON.stringify(before)}`);
    await page.value("document.activeElement.blur()");
    await page.key("ArrowLeft", "ArrowLeft", 37);
    await page.until(at(19));
    await page.key("End", "End", 35);
    await page.until(at(107));
    assert.match(await page.value(text("phase")), /halted/);
  },
  async "step 40,000,000 of the five-state busy beaver comes at once"(lab) {
    const page = await lab.open("#p=bb5");
    await page.value(goTo("40,000,000"));
    const took = await page.until(`${at(40000000)} && ${edgesAt(40000000)}`);
    console.log(`    in ${Math.round(took)} ms`);
    assert.match(await page.value(`${TAPES}.getAttribute('aria-label')`), /head on cell -6560/);
    // Long axes have words, and whole numbers their groups.
    assert.match(await page.value(text("loss")), /million/);
    assert.match(await page.value(text("of")), /47,176,870/);
  },
  async "a run is made in half a minute, whatever its length"(lab) {
    const page = await lab.open("#p=bb5");
    await page.until("!document.getElementById('half-minute').disabled");
    await page.click("#half-minute");
    await page.until("Number(document.querySelector('#bar').dataset.step) > 1000000");
    await page.click("#play");
  },
  async "a broken machine is shown with its line"(lab) {
    const page = await lab.open("#p=bb4");
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
  async "a link restores the view, settings and all"(lab) {
    const page = await lab.open("#p=bb4");
    await page.value(choose("set-landscape", "plain"));
    await page.until(`${text("facts")}.includes('landscape plain')`);
    await page.value(goTo("33"));
    await page.until(at(33));
    await page.until("location.hash.includes('step=33')");
    const other = await lab.openUrl(await page.value("location.href"));
    await other.until(at(33));
    assert.match(await other.value(text("facts")), /landscape plain/);
    assert.equal(await other.value("document.getElementById('shipped').value"), "bb4");
    await other.until(`${TAPES}.getAttribute('aria-label') === ${JSON.stringify(await page.value(`${TAPES}.getAttribute('aria-label')`))}`);
  },
  async "breakpoints stop at a state and at a loss, and say whether they are set"(lab) {
    const page = await lab.open("#p=bb4&speed=13");
    const button = "#source .rules tbody tr:nth-child(4) button";
    assert.equal(await page.value(`document.querySelector('${button}').getAttribute('aria-pressed')`), "false");
    await page.click(button);
    await page.until(`document.querySelector('${button}').getAttribute('aria-pressed') === 'true'`);
    await page.click("#play");
    await page.until(`${text("phase")}.includes('breakpoint on the state')`);
    assert.equal(await page.value("document.querySelector('#source .rules th[scope=row].at').textContent"), "D");
    await page.click(button);
    await page.value("(() => { document.getElementById('stops').open = true; const level = document.getElementById('stop-loss'); level.value = '7000'; level.dispatchEvent(new Event('change')); })()");
    await page.click("#play");
    await page.until(`${text("phase")}.includes('breakpoint on the loss')`);
    await page.until(at(107));
  },
  async "the space-time picture zooms in and out"(lab) {
    const page = await lab.open("#p=bb5&step=47176870");
    await page.until(`${text("spacetime-say")}.includes('47,176,870')`);
    await page.drag("#spacetime .stage", [0.4, 0.3], [0.7, 0.5]);
    await page.until(`${text("spacetime-say")}.includes(', a part.')`);
    await page.value("[...document.querySelectorAll('#spacetime button')].find(button => button.textContent === 'Whole run').click()");
    await page.until(`!${text("spacetime-say")}.includes(', a part.')`);
  },
  async "the loss around a vertex begins as its slope says, and says why the depths are not reached"(lab) {
    for (const landscape of ["compact", "relu", "internal", "plain"]) {
      const page = await lab.open("#p=bb4&step=34");
      if (landscape !== "compact") await page.value(choose("set-landscape", landscape));
      await page.until(`${text("facts")}.includes('landscape ${landscape}') && ${at(34)} && ${edgesAt(34)}`);
      // The first piece of the blue curve goes where the tangent goes: down.
      const down = "(() => { const [first, second] = [...document.querySelector('#edges .edge.successor').getAttribute('d').matchAll(/([-\\d.]+) ([-\\d.]+)/g)].map(match => Number(match[2])); return second >= first; })()";
      assert.equal(await page.value(down), true, landscape);
      assert.ok(await page.value("document.querySelector('#edges .tangent') !== null"), `${landscape}: a tangent`);
      if (landscape === "compact") {
        assert.match(await page.value(text("edges-say")), /its length is fixed/);
        assert.match(await page.value(text("edges-say")), /Halting in Z would be lower/);
        assert.equal(await page.value("[...document.querySelectorAll('#edges .name-halting')].some(name => name.textContent.startsWith('Z'))"), true);
      }
      // Names beside the edges keep their distance.
      const heights = await page.value("[...document.querySelectorAll('#edges .vertex-name')].map(name => Number(name.getAttribute('y'))).sort((a, b) => a - b)");
      heights.slice(1).forEach((height, i) => assert.ok(height - heights[i] >= 13.9, `${landscape}: ${heights}`));
    }
  },
  async "landscape internal has words and a network of its own"(lab) {
    const page = await lab.open("#p=bb2");
    await page.value(choose("set-landscape", "internal"));
    await page.until(`${text("tapes-say")}.includes('whole configuration')`);
    assert.match(await page.value(text("network")), /tape and heads are inside/);
    assert.doesNotMatch(await page.value(text("network")), /T: tapes/);
    assert.match(await page.value(text("network-say")), /vertex alone/);
    assert.match(await page.value(text("tapes")), /in the vertex/);
  },
  async "a rule that stays in its state is drawn as a loop"(lab) {
    const page = await lab.open("#p=bb4&step=1");
    await page.until("document.querySelectorAll('#simplex .arc').length > 3");
    const loops = await page.value("[...document.querySelectorAll('#simplex .arc')].filter(arc => arc.getAttribute('d').includes('C')).map(arc => arc.getBBox()).map(box => Math.min(box.width, box.height))");
    assert.ok(loops.length > 0 && loops.every(size => size > 5), String(loops));
  },
  async "names around the simplex do not lie on each other"(lab) {
    const page = await lab.open("#p=bb4&step=34");
    await page.value(choose("set-landscape", "relu"));
    await page.until(`${text("facts")}.includes('landscape relu') && document.querySelectorAll('#simplex .vertex-name').length === 27`);
    const touching = "(() => { const boxes = [...document.querySelectorAll('#simplex .vertex-name')].map(name => [name.textContent, name.getBoundingClientRect()]); return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 4 && q.top < p.bottom - 4).map(([b]) => `${a} and ${b}`)); })()";
    assert.deepEqual(await page.value(touching), []);
  },
  async "the loss is a surface that turns and can be saved"(lab) {
    const page = await lab.open("#p=bb4&step=34");
    await page.value("document.getElementById('surface-fold').open = true");
    await page.until("document.querySelectorAll('#surface svg').length === 3");
    const label = "document.querySelector('#surface .solid svg').getAttribute('aria-label')";
    const before = await page.value(label);
    await page.drag("#surface .solid", [0.4, 0.5], [0.7, 0.5]);
    assert.notEqual(await page.value(label), before);
    // The ball's height is that of the loss, and the corners are here and its successor.
    assert.match(await page.value("document.querySelector('#surface .flat svg').getAttribute('aria-label')"), /over B 1, C 1, C 0/);
    const saved = await page.value("(async () => { const { saveSvg } = await import('./export.js'); let kept; const real = URL.createObjectURL; URL.createObjectURL = blob => { kept = blob; return real(blob); }; saveSvg(document.querySelector('#surface .flat svg'), 'picture'); URL.createObjectURL = real; return kept.text(); })()");
    assert.match(saved, /^<svg[^>]+xmlns/);
    assert.ok(saved.includes('fill="rgb') && saved.includes('font-size="'), "colours and fonts are inside");
    const png = await page.value("(async () => { const { savePng } = await import('./export.js'); let kept; const real = URL.createObjectURL; URL.createObjectURL = blob => { kept = blob; return real(blob); }; await savePng(document.querySelector('#surface .solid svg'), 'picture'); for (let i = 0; i < 100 && !kept; i++) await new Promise(resolve => setTimeout(resolve, 20)); URL.createObjectURL = real; return [kept.type, kept.size]; })()");
    assert.ok(png[0] === "image/png" && png[1] > 20_000, String(png));
    await page.value(choose("set-landscape", "plain"));
    await page.until(`${text("surface-say")}.includes('A bowl')`);
  },
  async "plain forgives noise that breaks compact"(lab) {
    const page = await lab.open("#p=bb4");
    await page.until(`${PROVED} === 'true'`);
    await page.value(choose("set-noise", "0.05"));
    await page.until(`${text("facts")}.includes('noise 5 %')`);
    await page.until(`${PROVED} === 'false'`);
    assert.match(await page.value(text("result-say")), /Not the machine's run: from step \d+ on/);
    await page.value(choose("set-landscape", "plain"));
    await page.until(`${text("facts")}.includes('landscape plain') && ${PROVED} === 'true'`);
    // Steps of a run with noise can be reached again.
    await page.value(goTo("60"));
    await page.until(`${at(60)} && ${edgesAt(60)}`);
    const there = await page.value(`${TAPES}.outerHTML`);
    await page.value(goTo("107"));
    await page.until(at(107));
    await page.value(goTo("60"));
    await page.until(`${at(60)} && ${TAPES}.outerHTML === ${JSON.stringify(there)}`);
  },
  async "settings that cannot be run are said, and the run before comes back"(lab) {
    const page = await lab.open("#p=bb4&step=5");
    await page.value(choose("set-precision", "bf16"));
    await page.until(`${text("facts")}.includes('bf16')`);
    await page.value(choose("set-engine", "exact"));
    await page.until("!document.getElementById('notice').hidden");
    assert.match(await page.value(text("notice")), /as before/);
    await page.until(`${text("facts")}.includes('bf16') && ${at(5)}`);
    assert.equal(await page.value("document.getElementById('chooser').open"), false);
  },
};
