// The site's service worker: keeps all its files in the browser, so that later visits need no network.
// The build writes KEPT above: the cache's name, which changes with the files, and the files.

const FOLDER = registration.scope;
const named = new Set(KEPT.files.map((each) => new URL(each, FOLDER).href));

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(KEPT.name).then((cache) => cache.addAll([...named])));
});

addEventListener("activate", (event) => {
  const others = async () => (await caches.keys()).filter((each) => each.startsWith("lab-") && each !== KEPT.name);
  const forget = async () => Promise.all((await others()).map((each) => caches.delete(each)));
  event.waitUntil(Promise.all([forget(), clients.claim()]));
});

addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const address = `${origin}${pathname}`.replace(/\/$/, "/index.html");
  if (event.request.method !== "GET" || !named.has(address)) return;
  const answer = async () => {
    const found = await caches.match(address, { cacheName: KEPT.name });
    return found && !found.redirected ? found : fetch(event.request); // a browser refuses a redirected page
  };
  event.respondWith(answer());
});
