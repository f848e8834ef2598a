// Keeps the site for the next visit, which then needs no network. The build fills in the version and the files.

const OWN = `luge ${registration.scope} `, KEPT = `${OWN}VERSION`, FILES = ["FILES"];

addEventListener("install", event => {
  const keep = async () => (await caches.open(KEPT)).addAll(["./", ...FILES].map(file => new Request(file, { cache: "reload" })));
  event.waitUntil(keep().then(() => self.skipWaiting()));
});
addEventListener("activate", event => {
  const clear = async () => { for (const name of await caches.keys()) if (name.startsWith(OWN) && name !== KEPT) await caches.delete(name); };
  event.waitUntil(clear().then(() => self.clients.claim()));
});
addEventListener("fetch", event => {
  event.respondWith(caches.open(KEPT).then(cache => cache.match(event.request, { ignoreSearch: true })).then(found => found ?? fetch(event.request)));
});
