// The one state that all views are drawn from.

/** A job without the word that says whether it traces or trains. */
export const jobBody = job => job.trace ?? job.train;

/** How many steps a run has, once that is known: from its end, from its proof, or from what the learner was seen to need. */
export const runLength = ({ moment, proof, opening }) => moment?.end?.step ?? proof?.steps ?? (opening?.lesson ? opening.lesson.machine_steps + 1 : null);

/** What the server is asked to draw. */
export const lookCommand = ({ radius, tape, features, surfaceOpen }) => ({ do: "look", radius, tape: tape ?? 0, features: features ?? null, surface: Boolean(surfaceOpen) });

/** A state; views are told which of its fields have changed, at most once per frame of the screen. */
export function createStore(initial) {
  const state = { ...initial };
  const listeners = [];
  let changed = new Set();
  let waiting = false;
  const shown = new WeakMap();
  const watcher = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) {
      shown.set(target, isIntersecting);
      if (isIntersecting) listeners.filter(one => one.card === target && one.late).forEach(draw);
    }
    hold();
  }, { rootMargin: "200px" });
  const held = new Map();
  let heldAt = null;

  function draw(one) {
    one.late = false;
    one.listener(state);
  }

  /** What a card says and shows takes as much room as it ever took in this run: nothing below it moves. */
  function hold() {
    const grown = [...held].map(([part, kept]) => [part, kept, part.offsetHeight]).filter(([, kept, now]) => now > kept);
    for (const [part, , now] of grown) {
      held.set(part, now);
      part.style.minHeight = `${now}px`;
    }
  }

  function release() {
    for (const part of held.keys()) {
      held.set(part, 0);
      part.style.minHeight = "";
    }
  }

  function flush() {
    waiting = false;
    const now = changed;
    changed = new Set();
    if (now.has("opening") || state.width !== heldAt) release();
    heldAt = state.width;
    for (const one of listeners) {
      if (!one.keys.some(key => now.has(key))) continue;
      // While a run plays, a card that was drawn but is out of sight is drawn when it comes into sight, or when the run rests.
      if (state.playing && one.card && shown.get(one.card) === false && held.get(one.part)) one.late = true;
      else draw(one);
    }
    if (!state.playing) listeners.filter(one => one.late).forEach(draw);
    hold();
  }

  return {
    state,
    /** Changes fields. */
    set(fields) {
      for (const [key, value] of Object.entries(fields)) {
        state[key] = value;
        changed.add(key);
      }
      if (!waiting && changed.size) {
        waiting = true;
        // Pages that are not shown draw too, only more slowly.
        if (document.hidden) setTimeout(flush, 50);
        else requestAnimationFrame(flush);
      }
    },
    /** Calls a listener whenever one of these fields has changed; `part` is what it draws into, if it can wait. */
    on(keys, listener, part = null) {
      const card = part?.closest(".card") ?? null;
      if (card) {
        watcher.observe(card);
        for (const one of [part, card.querySelector(".say")]) held.set(one, 0);
      }
      listeners.push({ keys, listener, card, part, late: false });
    },
  };
}
