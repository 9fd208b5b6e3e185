// Fetches the page's content with the key of the sign-in, updates it from the hub's event stream, counts down, sends
// answers, handles keys.
"use strict";
const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const KEY = "tenterhook-key";
let main, kinds, skew, hasCards;
const UNSETTLED = 400; // ms after something moved, in which a click may be meant for the previous content
let moved = -UNSETTLED;

function say(text) {
  one("#said").textContent = text;
}

// -- times

function span(seconds) {
  const whole = Math.max(Math.floor(seconds), 0);
  for (const [unit, size, smaller, part] of [["d", 86400, "h", 3600], ["h", 3600, "min", 60], ["min", 60, "s", 1]]) {
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / part);
    return Math.floor(whole / size) + " " + unit + (rest ? " " + rest + " " + smaller : "");
  }
  return whole + " s";
}

function tick() {
  for (const time of all("time[data-until]")) {
    const left = Number(time.dataset.until) - (Date.now() + skew) / 1000;
    time.textContent = left > 0 ? span(left) + " left" : "expired";
    time.classList.toggle("soon", left < 30);
  }
  const result = one("#test-result");
  if (result && Number(result.dataset.until) < (Date.now() + skew) / 1000) result.remove();
}

function localTimes(root) {
  const today = new Date().toDateString();
  for (const time of all("time[datetime]", root)) {
    const at = new Date(time.dateTime);
    const day = at.toDateString() === today ? {} : { day: "numeric", month: "short" };
    const exact = "exact" in time.dataset ? { second: "2-digit" } : {};
    time.textContent = at.toLocaleString([], { hour: "2-digit", minute: "2-digit", ...exact, ...day });
    time.title = at.toLocaleString();
  }
}

// -- cards

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function cardOf(id) {
  return document.getElementById("r-" + id);
}

function place(card, mine = false) {
  const old = cardOf(card.dataset.id);
  const list = one("#open");
  if (old && old.dataset.state === card.dataset.state) return;
  if (!old && (!list || card.dataset.state !== "open")) return;
  localTimes(card);
  const title = one("h2", card).textContent;
  if (old) {
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(card);
    if (mine) card.dataset.mine = "";
    const next = mine && nextOf(card);
    if (next) touch(next);
    if (hadFocus) (next || card).focus({ preventScroll: true });
    say(title + ": " + one(".outcome", card).textContent);
    notifyNoMore(card.dataset.id);
    if (list) setTimeout(putAway, 6000, card);
    if (!mine && old.ariaBusy !== "true") moved = performance.now();
  } else {
    card.classList.add("fresh");
    const next = all(".card", list).find((each) => Number(each.dataset.opened) > Number(card.dataset.opened));
    list.insertBefore(card, next || null);
    touch(card);
    if (next) moved = performance.now();
    const machine = one(".facts dd", card).textContent;
    say("New request: " + title + " on " + machine);
    if (isListening) notifyOf(card.dataset.id, title, machine);
  }
  tick();
  count();
}

// Move an answered card below, but not while it is selected or a message is being written: the page would jump.
function putAway(card) {
  const active = document.activeElement;
  if (card.contains(active) || active.matches("[name=message]")) return setTimeout(putAway, 2000, card);
  one("#answered").prepend(card);
  moved = performance.now();
  if (!one("#more").hidden && all(".open.card").length < 5) refresh();
}

function count() {
  const waiting = all("#open .open.card").length;
  const now = one("#open .open.card");
  if (now && now !== first) touch(now);
  first = now;
  if (one("#open")) document.title = document.title.replace(/^(\(\d+\) )?/, waiting ? "(" + waiting + ") " : "");
}

// -- the sign-in: a cookie, which every server on this host receives, and a key that only pages of this origin can read

function signIn() {
  location.replace("/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
}

async function fetched(path, options = {}) {
  const reply = await fetch(path, {
    signal: AbortSignal.timeout(15000), ...options, credentials: "same-origin",
    headers: { ...options.headers, "Tenterhook-Key": localStorage.getItem(KEY) || "none" },
  });
  if (reply.status === 401) signIn();
  return reply;
}

async function sendSignIn(form) {
  const { next, ...given } = Object.fromEntries(new FormData(form));
  const trouble = one(".trouble");
  trouble.textContent = "";
  try {
    const key = localStorage.getItem(KEY);
    const reply = await fetch(form.action, {
      method: "POST", body: JSON.stringify(given),
      headers: { "Content-Type": "application/json", ...(key ? { "Tenterhook-Key": key } : {}) },
    });
    const said = await reply.json();
    if (reply.ok) {
      localStorage.setItem(KEY, said.key);
      return location.replace(next);
    }
    const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + ".";
    trouble.textContent = [said.error.message, said.error.remedy].map(sentence).join(" ");
  } catch {
    trouble.textContent = "The hub did not reply. Try again.";
  }
}

async function signOut(form) {
  const reply = await fetched(form.action, { method: "POST" });
  if (!reply.ok) return;
  localStorage.removeItem(KEY);
  location.assign("/sign-in");
}

const coming = new Set();

async function showCard(id) {
  const list = one("#open");
  if (!cardOf(id) && !list) return;
  if (!cardOf(id) && all(".open.card").length + coming.size >= Number(list.dataset.most)) {
    one("#more").hidden = false;
    return;
  }
  coming.add(id);
  try {
    const reply = await fetched("/fragments/requests/" + id + (list ? "" : "?whole=1"));
    if (reply.ok) place(parse(await reply.text()).firstElementChild);
  } finally {
    coming.delete(id);
  }
}

// -- the whole page

function pageOf(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function show(fresh) {
  document.title = fresh.title;
  document.documentElement.dataset.now = fresh.documentElement.dataset.now;
  for (const part of ["header.top", "#main", "#after"]) one(part).replaceWith(one(part, fresh));
  begin();
}

async function load() {
  try {
    const reply = await fetched(location.href);
    if (reply.status !== 401) show(pageOf(await reply.text()));
  } catch {
    one("#loading").textContent = "The hub did not reply. Trying again…";
    setTimeout(load, 2000);
  }
}

async function send(form) {
  const reply = await fetched(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (reply.redirected && new URL(reply.url).pathname !== location.pathname) return location.assign(reply.url);
  if (reply.status === 401) return;
  show(pageOf(await reply.text()));
  main.focus();
  scrollTo(0, 0);
}

async function refresh() {
  const reply = await fetched(location.href);
  if (!reply.ok) return;
  const fresh = pageOf(await reply.text());
  if (!hasCards) return swapMain(one("#main", fresh));
  const there = new Set();
  for (const card of all(".card", fresh)) {
    there.add(card.dataset.id);
    place(card);
  }
  const more = one("#more", fresh);
  if (more) one("#more").hidden = more.hidden;
  for (const card of all(".open.card")) if (!there.has(card.dataset.id)) showCard(card.dataset.id);
}

function swapMain(fresh) {
  const active = document.activeElement;
  const isWritten = (field) => field.options
    ? [...field.options].some((each) => each.selected !== each.defaultSelected && field.selectedIndex > 0)
    : field.value !== field.defaultValue;
  if (all("input, select", main).some((field) => field === active || isWritten(field))) return; // being edited
  const isOpen = all("details[id][open]").map((each) => each.id);
  const focused = main.contains(active) ? active.id || active.closest("[id]").id : "";
  main.replaceChildren(...fresh.childNodes);
  for (const id of isOpen) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  localTimes(main);
}

let pending;
function refreshSoon() {
  pending ??= setTimeout(() => { pending = undefined; refresh().catch(() => {}); }, 1000);
}

// -- connections

let connecting;
function connectionsSoon() {
  connecting ??= setTimeout(() => { connecting = undefined; showConnections().catch(() => {}); }, 500);
}

async function showConnections() {
  const reply = await fetched("/fragments/connections");
  if (reply.ok) replaceConnections(await reply.text());
}

function replaceConnections(html) {
  const part = one("#connections");
  const before = one("#test-result")?.textContent;
  const hadFocus = one("button", part) === document.activeElement;
  part.replaceChildren(parse(html));
  localTimes(part);
  if (hadFocus) one("button", part)?.focus({ preventScroll: true });
  const after = one("#test-result")?.textContent;
  if (after && after !== before) say(after.trim());
}

async function sendTest(form) {
  const button = one("button", form);
  button.disabled = true;
  try {
    const reply = await fetched(form.action, { method: "POST" });
    const html = await reply.text();
    if (!reply.ok) {
      one(".trouble", form).textContent = all(".narrow > p:not(:has(a))", parse(html)).map((p) => p.textContent).join(" ");
    } else {
      replaceConnections(html);
      const id = one("#test-request")?.dataset.open;
      if (id) await showCard(id);
      if (id) cardOf(id)?.focus();
    }
  } catch {
    one(".trouble", form).textContent = "The hub did not reply. Try again.";
  }
  button.disabled = false;
}

// -- the stream

let stream, last = "", pause = 1000, isListening = false;

function lost(text) {
  const banner = one("#lost");
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !text;
}

// An EventSource cannot send the key.
async function listen() {
  stream?.abort();
  const mine = stream = new AbortController();
  try {
    const reply = await fetched("/api/v1/stream", { signal: mine.signal, headers: last ? { "Last-Event-ID": last } : {} });
    if (reply.status === 401) return;
    if (!reply.ok) throw new Error(reply.statusText);
    connected();
    mine.isOpen = true;
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", read; !(read = await reader.read()).done;) {
      const events = (rest + read.value).split("\n\n");
      rest = events.pop();
      events.forEach(received);
    }
  } catch { /* treated like the end of the stream */ }
  mine.isOpen = false;
  if (mine.signal.aborted) return;
  lost("The connection to the hub was lost; this page may be out of date. Trying again…");
  setTimeout(() => mine === stream && listen(), pause);
  pause = Math.min(pause * 2, 10000);
}

function connected() {
  const wasLost = !one("#lost").hidden;
  if (wasLost) {
    say("Connected again.");
    for (const trouble of all(".card .trouble")) trouble.textContent = "";
  }
  pause = 1000;
  lost("");
  if (wasLost || hasCards) refresh().catch(() => {}).finally(() => { isListening = true; });
}

function received(event) {
  const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/, 2)));
  if (fields.id) last = fields.id;
  if (!kinds.includes(fields.event)) return;
  const { id, what } = JSON.parse(fields.data);
  if (one("#connections") && what !== "open") connectionsSoon();
  if (hasCards && fields.event !== "request") return;
  if (!hasCards) refreshSoon();
  else if (what === "open" || cardOf(id)) showCard(id).catch(() => {});
}

// -- answers

document.addEventListener("click", (event) => {
  const card = event.detail && event.target.closest(".answers")?.closest(".card"); // no detail: a key, not a click
  if (!card || performance.now() - moved >= UNSETTLED) return;
  event.preventDefault();
  one(".trouble", card).textContent = "The page has just changed. Check it again, then answer.";
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  const failed = () => say("The hub did not reply. Try again.");
  if (form.matches(".sign-in")) return sendSignIn(form);
  if (form.matches("#sign-out")) return signOut(form).catch(failed);
  if (form.matches("#test-request")) return sendTest(form);
  if (!form.matches(".answer")) return send(form).catch(failed);
  const card = form.closest(".card");
  if (card.ariaBusy === "true") return;
  const fields = new URLSearchParams(new FormData(form));
  if (event.submitter?.name) fields.set(event.submitter.name, event.submitter.value);
  card.ariaBusy = "true";
  try {
    const reply = await fetched(form.action, { method: "POST", body: fields });
    if (!reply.ok && reply.status !== 409) throw new Error("The hub refused the answer (" + reply.status + ").");
    const fresh = parse(await reply.text()).firstElementChild;
    if (fresh.dataset.state === "open") throw new Error("The hub did not accept the answer. Reload the page and check the request again.");
    place(fresh, true);
  } catch (error) {
    const known = error instanceof Error && error.message.startsWith("The hub");
    one(".trouble", card).textContent = known ? error.message : "The hub did not reply; your answer may not have counted. The page updates once it does.";
  }
  card.ariaBusy = null;
});

// -- keys

const UNREAD = 500; // ms in which a key may be meant for what was there before
const PAUSE = 700; // ms without a letter after which letters are keys again: what follows one without effect is text
let typed = -PAUSE; // when the last letter without effect was first pressed
let letter, text; // the last letter, and the last one without effect
const since = new WeakMap(); // when a card appeared, or became the one that keys answer
let first; // the card that keys answer if none is selected

function touch(card) {
  since.set(card, performance.now());
}

function nextOf(card) {
  const waiting = all(".open.card");
  return waiting.find((each) => !card || card.compareDocumentPosition(each) & 4) || waiting[0];
}

// The card that a key approves: the selected one, or the first if none is, or one that was answered here and is done with.
// If it cannot have been read yet, it is only selected.
function answerable(card) {
  const open = card?.dataset.state === "open" ? card : nextOf(card);
  if (!open) return;
  const what = one("pre", open);
  const { top, bottom } = what.getBoundingClientRect();
  const middle = innerHeight / 2;
  const isSeen = bottom - top > innerHeight ? top < middle && bottom > middle : top >= -1 && bottom <= innerHeight + 1;
  if (open !== card) open.focus({ preventScroll: true });
  if (isSeen && performance.now() - since.get(open) >= UNREAD && (!card || card === open || "mine" in card.dataset)) return open;
  takeForText();
  if (!isSeen) {
    what.scrollIntoView({ block: "center" });
    touch(open);
  }
  one(".trouble", open).textContent = "The page has just changed. Check it again, then answer.";
}

// Remember a letter without effect; the same one again is a person who tries again.
function takeForText() {
  const now = performance.now();
  if (letter !== text || now - typed >= 2 * PAUSE) [text, typed] = [letter, now];
}

function press(card, scope) {
  const open = answerable(card);
  if (open) one(`button[value=${scope}]`, open)?.click();
}

function step(by) {
  const cards = all(".card");
  const at = cards.indexOf(document.activeElement.closest(".card"));
  const next = cards[at < 0 ? 0 : Math.min(Math.max(at + by, 0), cards.length - 1)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  a: (card) => press(card, "once"),
  s: (card) => press(card, "session"),
  d: (card) => one("[name=message]", card?.dataset.state === "open" ? card : nextOf(card))?.focus(), // answers nothing
  "?": () => one("#keys")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  const card = event.target.closest(".card");
  if (event.key === "Escape" && card) return card.focus();
  if (event.target.matches("input, select, textarea")) return;
  const isText = performance.now() - typed < PAUSE;
  if (event.key.length === 1) {
    letter = event.key;
    if (isText || !(event.key in KEYS)) takeForText();
  }
  if (isText) return;
  if (event.key === "Enter" && event.target === card) return one("h2 a", card).click();
  if (!(event.key in KEYS) || (event.repeat && !"jk".includes(event.key)) || !one(".card, #open")) return;
  event.preventDefault();
  KEYS[event.key](card);
});

// -- the one-time link

const enter = one("#enter");
function useLink() {
  const secret = location.hash.slice(1);
  if (!secret || document.getElementById(secret)) return; // a place in this page, such as the content
  enter.elements.link.value = secret;
  history.replaceState(null, "", location.pathname);
  enter.requestSubmit();
}
if (enter) {
  useLink();
  addEventListener("hashchange", useLink); // another link that is opened in this tab does not reload the page
}

// -- begin, with the current content

function begin() {
  main = one("#main");
  kinds = (main.dataset.live || "").split(" ").filter(Boolean);
  skew = Number(document.documentElement.dataset.now) * 1000 - Date.now();
  hasCards = Boolean(one("#open, #one"));
  localTimes(document);
  tick();
  showNotifying();
  all(".card").forEach(touch);
  first = one("#open .open.card");
  if (one("#one")) one(".card").focus({ preventScroll: true });
  if (kinds.length) listen();
  else stream?.abort();
}

document.addEventListener("visibilitychange", () => {
  all(".card").forEach(touch);
  if (!kinds.length || one("#open")) return;
  stream.abort(); // a browser has few connections for all its pages
  if (document.hidden) return;
  listen();
  refreshSoon();
});
addEventListener("pagehide", () => stream?.abort());
addEventListener("pageshow", (event) => event.persisted && location.reload());
begin();
setInterval(tick, 1000);
if ("shell" in main.dataset) load();
