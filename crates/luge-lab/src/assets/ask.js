// Asks the engines for figures: through the server's socket, or in workers of the page itself.

/** Light or dark: as it was chosen, else as the system is. */
export function applyTheme(name) {
  const key = "luge-theme";
  let kept = null;
  try {
    if (name) localStorage.setItem(key, name);
    kept = localStorage.getItem(key);
  } catch { kept = null; }
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = name ?? kept ?? (dark ? "dark" : "light");
}

/** The theme, and the button that changes it. */
export function mountTheme(button) {
  applyTheme(null);
  button.addEventListener("click", () => applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

/** A way to the engines: the socket of the server that this page came from. */
export function openSocket(hear) {
  const socket = new WebSocket(`ws://${location.host}/socket`);
  const waiting = [];
  const send = command => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
    else if (socket.readyState === WebSocket.CONNECTING) waiting.push(command);
  };
  socket.addEventListener("open", () => waiting.splice(0).forEach(send));
  socket.addEventListener("message", event => hear(JSON.parse(event.data)));
  socket.addEventListener("close", () => hear({ kind: "failed", message: "The connection to luge has ended. Start `luge lab` again and reload the page." }));
  return send;
}

/** The way to the engines that this page has: a static site says where they are, else they are behind the server's socket. */
export async function transportOfPage() {
  const engine = document.querySelector("meta[name=luge-engine]")?.content;
  return engine ? (await import(engine)).openEngines : openSocket;
}

/** The same act, one at a time: of what is asked for meanwhile, the last is done. */
export function latest(act) {
  let busy = false, again = false;
  return async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      do { again = false; await act(); } while (again);
    } finally { busy = false; }
  };
}

/** Figures on request: `ask(figure)` gives what the engines compute, `catalogue` what they offer. */
export async function openFigures(failed) {
  const transport = await transportOfPage(), waiting = new Map();
  let ticket = 0, offer;
  const catalogue = new Promise(resolve => { offer = resolve; });
  const send = transport(told => {
    if (told.kind === "catalogue") offer(told.catalogue);
    else if (told.kind === "failed") failed(told.message);
    else if (told.kind === "figure") {
      const { resolve, reject } = waiting.get(told.ticket);
      waiting.delete(told.ticket);
      if (told.figure) resolve(told.figure);
      else reject(new Error(told.refusal));
    }
  });
  const ask = figure => new Promise((resolve, reject) => {
    ticket += 1;
    waiting.set(ticket, { resolve, reject });
    send({ do: "figure", figure, ticket });
  });
  return { ask, catalogue };
}
