// The one state that all views are drawn from.

/** A job without the word that says whether it traces or trains. */
export const jobBody = job => job.trace ?? job.train;

/** A state; views are told which of its fields have changed, at most once per frame of the screen. */
export function createStore(initial) {
  const state = { ...initial };
  const listeners = [];
  let changed = new Set();
  let waiting = false;

  function flush() {
    waiting = false;
    const now = changed;
    changed = new Set();
    for (const { keys, listener } of listeners) {
      if (keys.some(key => now.has(key))) listener(state);
    }
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
    /** Calls a listener whenever one of these fields has changed. */
    on(keys, listener) {
      listeners.push({ keys, listener });
    },
  };
}
