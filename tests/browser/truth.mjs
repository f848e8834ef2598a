// Every sentence and every drawn gradient is held to the numbers that the engine sent.

import assert from "node:assert/strict";
import { at, choose, edgesAt, goTo, PROVED, text } from "./harness.mjs";

/** The words in bold of a caption. */
const bold = id => `[...document.querySelectorAll('#${id} b')].map(part => part.textContent)`;
/** Opens a place of the lab, chooses settings, and waits for a step with everything around it. */
async function settle(lab, hash, step, settings = {}) {
  const page = await lab.open(hash);
  await page.until(PROVED, 60_000);
  for (const [name, value] of Object.entries(settings)) {
    const before = page.told.opened;
    await page.value(choose(`set-${name}`, value));
    await page.until(`document.getElementById('set-${name}').value === '${value}'`);
    while (page.told.opened === before) await new Promise(resolve => setTimeout(resolve, 20));
  }
  await page.until(PROVED, 60_000);
  if (step === "end") await page.click("#last");
  else await page.value(goTo(String(step)));
  await page.until(step === "end" ? "document.getElementById('forth').disabled" : at(step));
  await page.until(`document.querySelector('#edges .none') || ${edgesAt(await page.value("document.querySelector('#bar').dataset.step"))}`);
  return { page, moment: page.told.moment.moment, opening: page.told.opened.opening, around: page.told.around?.around, proof: page.told.proof.proof };
}

const MACHINES = [["#p=bb4", 34, {}], ["#p=bb4", 34, { landscape: "plain" }], ["#p=bb4", 34, { landscape: "relu" }], ["#p=bb4", "end", {}], ["#p=bb4", "end", { noise: "0.05" }], ["#p=bb4", 20, { noise: "0.05" }], ["#p=bb4", "end", { landscape: "plain", noise: "0.05" }], ["#p=bb4", 5, { precision: "bf16" }]];
const LEARNERS = [["#p=mean", 0, {}], ["#p=mean", 1, {}], ["#p=mean", 43, {}], ["#p=mean", "end", {}], ["#p=perceptron", 0, {}], ["#p=perceptron", 300000, {}], ["#p=keep_label", 3, {}]];

/** Holds for every one of these runs and steps. */
const everywhere = (runs, check) => async lab => {
  for (const [hash, step, settings] of runs) {
    const seen = await settle(lab, hash, step, settings);
    await check(seen, `${hash} at ${step} ${JSON.stringify(settings)}`);
    await seen.page.close();
    lab.pages.splice(lab.pages.indexOf(seen.page), 1);
  }
};

export const truth = {
  "the gradient is drawn and named where it flows, and nowhere else": everywhere([...LEARNERS, ...MACHINES.slice(0, 4)], async ({ page, moment, opening }, where) => {
    const pulls = list => moment.tapes.some(tape => tape[list].some(track => track.length));
    const running = moment.phase === "running";
    const [z, s, t, h] = moment.lesson?.flows ?? [false, running, running && pulls("pull"), running && pulls("head_pull")];
    if (moment.step === 0 && moment.lesson) assert.deepEqual([z, s, t, h], [true, false, false, false], where);
    const machine = s || t || h;
    // Learners: from the loss through the switches to z, or through carrier and landscape; machines: a wire for each part.
    const expected = moment.lesson ? (z ? 2 : machine ? 5 : 0) : opening.landscape === "internal" ? 2 * s : [s, s, t, h].filter(Boolean).length;
    assert.equal(await page.value("document.querySelectorAll('#network .flow').length"), expected, where);
    const names = (await page.value(bold("network-say")))[0] ?? "";
    if (!(z || machine)) return;
    const inside = opening.landscape === "internal";
    if (inside && !moment.lesson) assert.match(names, /vertex alone/, where);
    else assert.deepEqual(names.replace(" alone", "").split(/, | and /), [z && "z", s && "s", !inside && t && "T", !inside && h && "H"].filter(Boolean), where);
    assert.equal(await page.value(`${text("network")}.includes('layers') || ${text("facts")}.includes('layers')`), false, "layers are counted in the certificate alone");
  }),
  "cells show the derivatives that the engine found, and hidden units none": everywhere([...LEARNERS.slice(0, 4), ...MACHINES.slice(0, 4)], async ({ page, moment, opening }, where) => {
    await page.value("document.getElementById('tapes-fold').open = true");
    moment.tapes.forEach((tape, i) => { if (opening.tapes[i].read_only) assert.ok(tape.pull.every(track => !track.length), `${where}: ${opening.tapes[i].name} is no weight`); });
    const slopes = moment.tapes.flatMap(tape => tape.pull.flat().map(([, slope]) => slope));
    const words = await page.value(text("tapes-say"));
    if (!slopes.length) { assert.doesNotMatch(words, /gradient is/, where); return; }
    const strongest = slopes.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
    const said = Number((await page.value(bold("tapes-say")))[0].replace("−", "-").replaceAll(",", ""));
    assert.ok(Math.abs(said - strongest) <= 0.01 * Math.abs(strongest), `${where}: ${said}, ${strongest}`);
  }),
  "around a vertex the ball is at the loss, and the words count what falls": everywhere(MACHINES, async ({ page, moment, opening, around }, where) => {
    if (opening.precision === "f64") assert.ok(Math.abs(around.loss - moment.loss) <= 1e-9 * Math.abs(moment.loss), `${where}: ${around.loss}, ${moment.loss}`);
    const words = await page.value(text("edges-say"));
    assert.equal(/every way leads up/.test(words), around.stopped && around.n_falling === 0, `${where}: ${words}`);
    if (/has halted/.test(words)) assert.ok(opening.states[moment.state].halting, where);
    const slope = around.edges.find(edge => edge.part === "successor")?.slope;
    const said = /\(slope (−?[\d.,]+)\)/.exec(words)?.[1];
    if (said && opening.landscape !== "plain") assert.ok(Math.abs(Number(said.replace("−", "-").replaceAll(",", "")) - slope) <= 0.01 * Math.abs(slope), `${where}: ${said}, ${slope}`);
    const label = await page.value("document.querySelector('#edges svg')?.getAttribute('aria-label') ?? ''");
    assert.ok(label.includes(`${around.n_falling} fall, ${around.n_rising} rise`), `${where}: ${label}`);
  }),
  "the loss is said to be inside its band only where it is": everywhere([...MACHINES, ...LEARNERS], async ({ page, moment, opening: { bounds } }, where) => {
    const words = await page.value(text("loss-say"));
    const inside = moment.loss >= bounds.running_low && moment.loss <= bounds.running_high && !["halted", "labels"].includes(moment.phase);
    assert.equal(/inside the band/.test(words), inside, `${where}: ${words}, ${moment.loss}`);
    if (/at or below the bound for a machine that has halted/.test(words)) assert.ok(moment.loss <= bounds.halted_high, where);
  }),
  "a run is called certified only above claims that hold or do not matter": everywhere(MACHINES, async ({ page, proof }, where) => {
    assert.equal(await page.value("document.querySelectorAll('#result .claims .fails').length"), proof.claims.filter(claim => claim.decides && !claim.holds).length, where);
    assert.equal(await page.value("document.querySelector('#result .seal').classList.contains('holds')"), proof.certified, where);
    if (proof.certified) assert.ok(proof.claims.every(claim => claim.holds || !claim.decides), where);
    const first = proof.first_mismatch, words = await page.value(text("result-say"));
    assert.equal(/Not the machine's run/.test(words), first !== null, where);
    if (first === null) assert.ok(words.includes(proof.steps.toLocaleString("en")), `${where}: ${words}`);
  }),
  "the facts, the simplex, the program, the variables and space and time name the engine's numbers": everywhere([...MACHINES.slice(0, 4), ...LEARNERS.slice(2, 6)], async ({ page, moment, opening }, where) => {
    const words = async id => page.value(text(id)), number = value => value.toLocaleString("en").replace("-", "−");
    const facts = await words("facts");
    for (const part of [`${opening.name}:`, `landscape ${opening.landscape}`, `${number(opening.n_vertices)} vertices`, `${number(opening.n_units)} units`, `engine ${opening.engine}`, opening.precision]) assert.ok(facts.includes(part), `${where}: ${facts}, ${part}`);
    const state = name => name.split(" ")[0], [vertex, next] = (await page.value(bold("simplex-say"))).map(state);
    assert.deepEqual([vertex, next], [state(moment.vertex.name), moment.next ? state(moment.next.name) : undefined], where);
    if (opening.landscape !== "plain") assert.ok((await words("simplex-say")).includes(`${number(opening.n_vertices)} corners`), where);
    const { first, last, steps } = page.told.picture.picture;
    assert.ok((await words("spacetime-say")).startsWith(`Cells ${number(first)} to ${number(last)}, steps ${number(steps[0])} to ${number(steps.at(-1))}`), `${where}: ${await words("spacetime-say")}`);
    if (!opening.variables.length) return;
    assert.deepEqual(await page.value(bold("variables-say")), moment.line ? [String(moment.line)] : [], where);
    const { rows } = page.told.boundary.boundary, { y } = opening.lesson;
    assert.equal(await page.value("Number(document.getElementById('boundary').dataset.wrong)"), rows.filter((row, i) => !(Number(row) * Number(y[i]) > 0)).length, where);
  }),
  async "a ridge is spoken of only where one is drawn"(lab) {
    for (const landscape of ["compact", "relu", "internal"]) {
      for (const step of [0, 34, 60]) {
        const { page } = await settle(lab, "#p=bb4", step, landscape === "compact" ? {} : { landscape });
        await page.value("document.getElementById('surface-fold').open = true");
        await page.until("document.querySelectorAll('#surface svg').length === 3");
        const { n, values, ends } = page.told.surface.surface, edge = values.slice(0, n);
        const ridge = Math.max(...edge.slice(1, -1)) > Math.max(edge[0], edge.at(-1)) + 1e-9 * Math.abs(edge[0]);
        const words = await page.value(text("surface-say"));
        assert.equal(/ridge/.test(words), ridge, `${landscape} at ${step}: ${words}`);
        assert.equal(/The loss falls from/.test(words), edge[1] < edge[0], `${landscape} at ${step}: ${words}`);
        assert.equal(/ below it\./.test(words), ends[1] < ends[0], `${landscape} at ${step}: ${words}`);
      }
    }
  },
  async "before training and step 0 are one network, and look the same"(lab) {
    const page = await lab.open("#p=two_features&step=0");
    await page.until("document.querySelectorAll('#boundary .pair svg').length === 2");
    const part = n => `(() => { const svg = document.querySelectorAll('#boundary .pair svg')[${n}]; return [svg.querySelector('image').getAttribute('href'), svg.querySelectorAll('.wrong-mark').length, svg.querySelectorAll('.point').length]; })()`;
    assert.deepEqual(await page.value(part(0)), await page.value(part(1)));
  },
  async "another program takes the place of the old one at once, and only the last choice is made"(lab) {
    const page = await lab.open("#p=bb4");
    await page.until(`${PROVED} === 'true'`);
    const opened = page.counts.opened;
    for (const program of ["xor_search", "mlp_backprop", "decision_tree"]) await page.value(choose("shipped", program));
    await page.value("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    assert.equal(await page.value("document.querySelector('#result .seal')"), null, "nothing is certified yet");
    assert.match(await page.value(text("preparing")), /Preparing.*[Dd]ecision tree/);
    await page.value(choose("shipped", "mean"));
    const took = await page.until(`${text("facts")}.includes('mean of the labels')`);
    console.log(`    the last of four choices after ${Math.round(took)} ms`);
    assert.ok(page.counts.opened - opened <= 2, "choices that are no longer wanted are not prepared");
    assert.equal(await page.value("document.getElementById('preparing').hidden"), true);
  },
  async "the label of the speed is the speed"(lab) {
    const page = await lab.open("#p=perceptron&step=1");
    await page.until(PROVED, 60_000);
    // By itself a run takes half a minute at most.
    assert.equal(await page.value("document.querySelector('.speed output').textContent"), "14 thousand steps/s");
    await page.value(goTo("300000"));
    await page.until(at(300000));
    await page.click("#half-minute");
    await page.until("document.querySelector('.speed output').textContent === '4,207 steps/s'");
    await page.click("#play");
    await page.value("(() => { const speed = document.getElementById('speed'); speed.value = '2'; speed.dispatchEvent(new Event('input')); })()");
    await page.until("document.querySelector('.speed output').textContent === '4 steps/s'");
  },
  async "a broken link says what is wrong with it"(lab) {
    for (const [hash, why] of [["#p=nonsense", "there is no program nonsense"], ["#job=%25%25", "its program cannot be read"], ["#p=bb4&step=abc", "step is no number"], ["#p=bb4&colour=red", "colour, which means nothing here"]]) {
      const page = await lab.open(hash);
      await page.until("!document.getElementById('notice').hidden");
      const said = await page.value(text("notice"));
      assert.ok(said.startsWith("This link is broken") && said.includes(why), said);
    }
  },
};
