// The sentences about a run on a stream: each a function of what the engine sent.

import { count, numeral } from "./draw.js";

const waits = (moment, recording) => moment.labels.every(z => Math.abs(z + recording.carrier) < recording.carrier / 2);

/** Whether this step's sample is taken, and what its label does. */
export function sampleWords(moment, took, recording) {
  if (moment.step === recording.steps && recording.halted) return `Step ${count(moment.step)}: the learner has halted. The network answers **${numeral(moment.out[0])}** to this new sample with label ${numeral(moment.y[0])}.`;
  return took
    ? `Step ${count(moment.step)}: the learner **takes** this sample. The gradient carries its label ${numeral(moment.y[0])} into the slot z.`
    : `Step ${count(moment.step)}: this sample **passes**; ${moment.taken ? "the learner is busy with what it has taken" : "the learner has not come to its first one yet"}.`;
}

/** How many were taken of how many. */
export function takenWords(moment, recording) {
  return `**${count(moment.taken)}** of the ${count(moment.step)} samples so far${moment.taken > 40 ? "; the last 40 are shown" : ""}. In the whole run ${count(recording.taken)} of ${count(recording.steps)} are taken.`;
}

/** What the slot and the memory hold. */
export function memoryWords(moment, recording) {
  const slot = waits(moment, recording) ? `z = ${numeral(moment.labels[0])}: the slot is **ready** for a label` : `z = ${numeral(moment.labels[0])}: the slot **holds** the label ${numeral(Math.round(-moment.labels[0] * 1e4) / 1e4)}`;
  return `${slot}. The memory X keeps one sample; theta is what the network answers with once the learner has halted.`;
}

/** Why the loss is what it is. */
export function lossOfStreamWords(moment, recording) {
  const out = numeral(moment.out[0]);
  return moment.loss > recording.carrier * recording.carrier / 8
    ? `The network puts out **A = ${out}** while it learns, so the loss is ½(A − y)² = ${numeral(moment.loss)}. Small marks are the samples taken.`
    : `The network puts out **${out}**, its answer; the loss is ${numeral(moment.loss)}. Small marks are the samples taken.`;
}

/** What came out. */
export function foundWords(recording) {
  if (!recording.halted) return `**Not halted** within ${count(recording.steps)} steps.`;
  const same = recording.hidden.length === recording.theta.length && recording.hidden.every((bit, i) => bit === recording.theta[i]);
  const bits = recording.theta.every(value => value === 0 || value === 1) && recording.theta.length > 2;
  const found = bits ? `${count(recording.theta.filter(Boolean).length)} of ${count(recording.theta.length)} bits` : `theta ${recording.theta.map(numeral).join(", ")}`;
  return `**Found ${found}**${same ? ", the very ones that are hidden" : ""}, after ${count(recording.steps)} steps and ${count(recording.taken)} samples taken.`;
}
