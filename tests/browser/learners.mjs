// Learners: the result, their variables, what the network says, one's own data.

import assert from "node:assert/strict";
import { at, choose, goTo, PROVED, text } from "./harness.mjs";

/** Drops a file on the page. */
const drop = (name, content) => `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(content)}], '${name}')); for (const kind of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })); })()`;

export const learners = {
  async "the page opens with a perceptron that learns, its boundary and its loss in the first screen"(lab) {
    const page = await lab.open("");
    assert.match(await page.value(text("facts")), /[Pp]erceptron/);
    await page.until("Number(document.querySelector('#bar').dataset.step) > 1000");
    for (const id of ["boundary", "loss", "result"]) {
      await page.until(`document.querySelector('#${id} svg, #${id} .seal')`, 60_000);
      assert.ok(await page.value(`document.getElementById('${id}').getBoundingClientRect().top < 800`), id);
    }
    // It is over within half a minute, and something is proved before.
    await page.until(`${PROVED} === 'true'`, 60_000);
    assert.match(await page.value(text("result-say")), /setosa = .*petal_length.*petal_width/);
    await page.until(`${text("phase")}.includes('halted')`, 60_000);
    assert.equal(await page.value("document.getElementById('boundary').dataset.wrong"), "0");
    for (const id of ["tapes", "loss", "simplex", "network"]) assert.ok(await page.value(`document.querySelector('#${id} svg, #${id} dl') !== null`) || id === "tapes", id);
    assert.equal(await page.value("document.querySelectorAll('[aria-label]').length > 20"), true);
  },
  async "the result says what was learned, how well it fits, and what was proved"(lab) {
    const page = await lab.open("#p=perceptron");
    await page.until(`${PROVED} === 'true'`, 60_000);
    assert.match(await page.value(text("result-say")), /setosa = 1 \+ 1.375 sepal_length \+ 5.125 sepal_width - 6.875 petal_length - 3.125 petal_width/);
    assert.match(await page.value("document.querySelector('#result .after-row').textContent"), /150 of 150 rows right.*15,529/);
    assert.match(await page.value("document.querySelector('#result .remark').textContent"), /larger than before although every row is right/);
    assert.match(await page.value("document.querySelector('#result .now-row').textContent"), /0 of 150/);
    assert.equal(await page.value("document.querySelectorAll('#result .claims .holds').length"), page.told.proof.proof.claims.length);
    assert.match(await page.value(text("result")), /every gradient step is a step of the machine/);
    assert.match(await page.value(text("result")), /426,205 iterates/);
    await page.value(goTo("200000"));
    await page.until("document.querySelector('#result .now-row').textContent.includes('200,000')");
    assert.match(await page.value("document.querySelector('#result .now-row').textContent"), /149 of 150/);
  },
  async "a learner of numbers is judged by its error"(lab) {
    const page = await lab.open("#p=least_squares_line");
    await page.until(`${PROVED} === 'true'`, 60_000);
    assert.match(await page.value("document.querySelector('#result .after-row').textContent"), /error 1\.\d+/);
    assert.equal(await page.value("document.querySelector('#result .remark')"), null);
  },
  async "the loss of the data is to be seen beside that of the machine"(lab) {
    const page = await lab.open("#p=perceptron&step=1000");
    await page.until("document.getElementById('loss').dataset.scale === 'log'");
    await page.until("document.querySelectorAll('#loss .data-loss-name').length === 2", 60_000);
    assert.deepEqual(await page.value("[...document.querySelectorAll('#loss .data-loss-name')].map(name => name.textContent)"), ["before 75", "after 15,529.1"]);
    await page.until("document.querySelectorAll('#loss svg').length >= 2");
    assert.match(await page.value(text("loss")), /gradient steps near here/);
    assert.doesNotMatch(await page.value(text("loss")), /e11/);
  },
  async "variables have their names and change as lines run, bits are shown on demand"(lab) {
    const page = await lab.open("#p=perceptron&step=1");
    await page.until(at(1));
    assert.equal(await page.value("document.getElementById('tapes-fold').open"), false);
    await page.value(goTo("426204"));
    await page.until(at(426204));
    const theta = "[...document.querySelectorAll('#variables [data-name=theta] .value')].map(value => value.textContent)";
    await page.until(`(${theta})[1] === 'theta[1] = 1.375'`);
    assert.deepEqual(await page.value(theta), ["theta[0] = 1", "theta[1] = 1.375", "theta[2] = 5.125", "theta[3] = −6.875", "theta[4] = −3.125"]);
    await page.until("document.querySelector('#variables [data-name=mistakes]').textContent === 'mistakes = false'");
    // In the middle of a run the sample at hand is named, and the line says what it reads.
    await page.value(goTo("200000"));
    await page.until("document.querySelector('#variables .sample')?.textContent.includes('sample 58 of 150')");
    await page.click("#source .row[data-line='20'] button");
    await page.value("(() => { const speed = document.getElementById('speed'); speed.value = speed.max; speed.dispatchEvent(new Event('input')); })()");
    await page.click("#play");
    await page.until(`${text("phase")}.includes('breakpoint')`);
    assert.match(await page.value("document.querySelector('#source .row.at').textContent"), /if score <= 0 .*◀ .*score = .*y = -?1/);
    await page.value("document.getElementById('tapes-fold').open = true");
    await page.until("document.querySelector('#tapes svg')");
    const few = await page.value("document.querySelectorAll('#tapes svg > g').length");
    await page.click("#idle-tapes");
    await page.until("document.querySelectorAll('#tapes svg > g').length === 13");
    assert.ok(few < 13, `${few} tapes move`);
  },
  async "the boundary lies between the labels, with axes, a scale and the rows"(lab) {
    for (const [program, end] of [["xor_search", 3068086], ["mlp_backprop", null]]) {
      const page = await lab.open(`#p=${program}`);
      await page.until("!document.getElementById('half-minute').disabled", 60_000);
      await page.click("#last");
      await page.until(`${text("phase")}.includes('halted')`, 60_000);
      if (end) await page.until(at(end));
      await page.until("document.querySelectorAll('#boundary .pair svg').length === 2 && document.querySelector('#boundary figure:nth-child(2) figcaption').textContent === `at step ${document.getElementById('step').value}`");
      assert.equal(await page.value("document.getElementById('boundary').dataset.threshold"), "0.5");
      assert.equal(await page.value("document.getElementById('boundary').dataset.wrong"), "0", program);
      // Two rows on each side of the line, and the map agrees: each point lies on its own colour.
      assert.ok(await page.value("document.querySelector('#boundary figure:nth-child(2) .contour.main').getAttribute('d').length > 20"), "a line");
      assert.deepEqual(await page.value("['low', 'high'].map(kind => document.querySelectorAll(`#boundary figure:nth-child(2) .point.${kind}`).length)"), [2, 2]);
      assert.deepEqual(await page.value("[...document.querySelectorAll('#boundary figure:nth-child(2) .axis-name')].map(name => name.textContent)"), ["a", "b"]);
    }
  },
  async "of many features two are chosen for the map, and it moves while the learner plays"(lab) {
    const page = await lab.open("#p=perceptron&step=1");
    await page.until("document.querySelectorAll('#boundary .pair svg').length === 2");
    await page.value("(() => { const [across] = document.querySelectorAll('#boundary select'); across.value = '0'; across.dispatchEvent(new Event('change')); })()");
    await page.until("document.querySelector('#boundary .axis-name').textContent === 'sepal_length'");
    const line = "document.querySelector('#boundary figure:nth-child(2) .contour.main')?.getAttribute('d')";
    const before = await page.value(line);
    await page.value("document.getElementById('boundary-card').scrollIntoView()");
    await page.until("!document.getElementById('half-minute').disabled");
    await page.value("document.getElementById('half-minute').click()");
    await page.until(`${line} !== ${JSON.stringify(before)}`);
    await page.value("document.getElementById('play').click()");
  },
  async "a Sled learner shows its current line and its share of the steps"(lab) {
    const page = await lab.open("#p=xor_search&step=300000");
    await page.until(at(300000));
    await page.until("document.querySelector('#source .row.at')");
    await page.until("document.querySelectorAll('#source .spent text').length > 5", 60_000);
    await page.until("document.querySelector('#edges svg')");
  },
  async "a broken Sled program is shown with its line"(lab) {
    const page = await lab.open("#p=perceptron");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    await page.value("(() => { const program = document.getElementById('program'); program.value = program.value.replace('for sample in data', 'for sample in dada'); })()");
    await page.click("#run");
    await page.until("document.querySelector('#findings li[data-line]')");
    const line = await page.value("document.getElementById('program').value.split('\\n').findIndex(line => line.includes('dada')) + 1");
    assert.equal(await page.value("document.querySelector('#findings li[data-line]').dataset.line"), String(line));
  },
  async "one's own begins with a small learner and a table, and runs"(lab) {
    const page = await lab.open("#p=perceptron&step=1");
    await page.click("#choose");
    await page.until("document.getElementById('chooser').open");
    assert.match(await page.value("document.getElementById('program').value"), /learner mine/);
    assert.match(await page.value("document.getElementById('csv').value"), /^hours,score/);
    await page.click("#run");
    await page.until(`!document.getElementById('chooser').open && ${PROVED} === 'true'`, 60_000);
    assert.match(await page.value(text("result-say")), /^score = .* hours$/);
    // The address holds program and data.
    await page.until("location.hash.includes('job=')");
    const again = await lab.openUrl(await page.value("location.href"));
    await again.until(`${PROVED} === 'true'`, 60_000);
    assert.equal(await again.value(text("result-say")), await page.value(text("result-say")));
  },
  async "a network that is not linear is described, and its weights are folded away"(lab) {
    const page = await lab.open("#p=mlp_backprop&step=1");
    await page.until(`${PROVED} === 'true'`, 60_000);
    const { weights, after, rows } = page.told.proof.proof.learned, values = weights.map(([, value]) => value);
    const words = await page.value(text("result-say"));
    assert.ok(words.includes(`${after.right} of ${rows} rows right`) && words.includes(`${values.length} weights`), words);
    assert.ok(words.includes(String(+Math.max(...values).toFixed(4))), words);
    assert.equal(await page.value("document.querySelector('#result .weights').closest('details').open"), false);
  },
  async "files are dropped, and rows are held out"(lab) {
    const page = await lab.open("#p=sgd_linear");
    const rows = Array.from({ length: 20 }, (_, i) => `${(i % 5) / 4},${(i % 4) / 4},${(i % 5) / 4 - (i % 4) / 4}`);
    await page.value(drop("mine.csv", `a,b,y\n${rows.join("\n")}\n`));
    await page.until("document.getElementById('chooser').open");
    assert.match(await page.value("document.getElementById('csv').value"), /^a,b,y/);
    assert.match(await page.value("document.getElementById('program').value"), /learner/);
    await page.value("document.getElementById('target').value = 'y'");
    await page.value(choose("split", "20"));
    await page.click("#run");
    await page.until("!document.getElementById('chooser').open");
    await page.until(`${text("facts")}.includes('16 samples')`);
    await page.until(`${PROVED} === 'true'`, 60_000);
    assert.match(await page.value("document.querySelector('#result .held-out').textContent"), /4 rows it has not seen/);
  },
  async "the number format and the carrier are chosen in the bar"(lab) {
    const page = await lab.open("#p=mean");
    await page.until(`${PROVED} === 'true'`);
    await page.value(choose("set-format", "fix:4.2"));
    await page.until(`${text("facts")}.includes('fix:4.2')`);
    await page.value(choose("set-carrier", "orthogonal"));
    await page.until(`${text("network")}.includes('orthogonal')`);
    assert.equal(await page.value("document.getElementById('set-noise').closest('label').hidden"), true);
  },
};
