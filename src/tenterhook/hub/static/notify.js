// Notifications of new requests while the inbox is open in another tab or window. They do not contain what would run.
"use strict";
let notifying; // the part of the inbox that shows whether notifications are on
const shown = new Map(); // request id → a promise: its notification is there

function whyNot() {
  if (!window.isSecureContext) {
    return "This page cannot notify you: browsers allow that over https only. Set it up: tenterhook hub share";
  }
  if (!("Notification" in window) || !("serviceWorker" in navigator)) {
    return "This browser cannot notify you of new requests. A webhook can (People).";
  }
  if (Notification.permission === "denied") {
    return "Notifications are blocked. Allow them in the browser’s settings for this site.";
  }
  return "";
}

// The page's script calls this when its content has loaded.
function showNotifying(trouble = whyNot()) {
  notifying = document.querySelector("#notify");
  if (!notifying) return;
  const isOn = !trouble && Notification.permission === "granted";
  notifying.querySelector("p").textContent = trouble || (isOn
    ? "While this page is open in the background, your browser notifies you of new requests."
    : "Your browser can notify you of new requests while this page is open in the background.");
  notifying.querySelector("button").hidden = Boolean(trouble) || isOn;
  notifying.dataset.state = trouble ? "unavailable" : isOn ? "on" : "off";
  notifying.hidden = false;
}

async function worker() {
  await navigator.serviceWorker.register("/worker.js");
  return navigator.serviceWorker.ready;
}

// And these two for each request that arrives or ends.
function notifyOf(id, title, machine) {
  if (!notifying || whyNot() || Notification.permission !== "granted" || document.hasFocus()) return;
  const options = { body: "on " + machine, tag: id, data: { id }, icon: "/static/icon.svg", requireInteraction: true };
  const done = worker().then((ready) => ready.showNotification("Approval needed: " + title, options));
  shown.set(id, done.catch(() => showNotifying("This browser refused to notify you of a request.")));
}

async function notifyNoMore(id) {
  if (!shown.has(id)) return;
  await shown.get(id);
  shown.delete(id);
  const ready = await navigator.serviceWorker.ready;
  for (const each of await ready.getNotifications({ tag: id })) each.close();
}

document.addEventListener("click", async (event) => {
  if (!event.target.matches("#notify button")) return;
  await Notification.requestPermission();
  showNotifying();
  document.querySelector("#said").textContent = notifying.querySelector("p").textContent;
});
navigator.serviceWorker?.addEventListener("message", (event) => {
  const card = document.getElementById("r-" + event.data.show);
  if (card) card.focus();
  else location.assign("/requests/" + encodeURIComponent(event.data.show));
});
navigator.permissions?.query({ name: "notifications" }).then((status) => {
  status.onchange = () => showNotifying();
}).catch(() => {});
