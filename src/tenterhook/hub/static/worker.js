// The service worker: shows the notifications of an open page, because phones do not let the page itself do so.
// It fetches, caches and answers nothing: it never sees the key of a sign-in.
"use strict";
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = "/requests/" + encodeURIComponent(event.notification.data.id);
  event.waitUntil((async () => {
    const [open] = await clients.matchAll({ type: "window" });
    if (!open) return clients.openWindow(path);
    await open.focus();
    open.postMessage({ show: event.notification.data.id });
  })());
});
